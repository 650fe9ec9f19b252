// Plays generated scripts whose every figure is known, and prints what Zeus says of them beside the truth.
//
//   run_truth [--scripts N] [--first SEED] [--changes] [--metric-only] [--dialects] [--each]
//
//   --changes       each script chooses limits only, and changes once
//   --metric-only   the user gives no expression but the metric's
//   --dialects      each script is played in every dialect: the same training, told differently
//   --each          what was said of each script after each recurrence
//
// Exit code 1 where a script does not cost what its law says, or a floor (truth_table.hpp) is not held.

#include "tests/run/truth_player.hpp"
#include "tests/run/truth_table.hpp"

#include "base/log.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace zeus::truth {
namespace {

constexpr double most_error_of_law = 1e-4;

struct Asked {
  std::uint64_t scripts = 180;
  std::uint64_t first = 1;
  Population population;
  bool dialects = false;
  bool each = false;
};

Asked asked_by(int count, char** arguments) {
  Asked asked;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const auto number = [&] { return i + 1 < count ? std::strtoull(arguments[++i], nullptr, 10) : 0; };
    if (argument == "--scripts") {
      asked.scripts = number();
    } else if (argument == "--first") {
      asked.first = number();
    } else if (argument == "--changes") {
      asked.population.changes = true;
    } else if (argument == "--metric-only") {
      asked.population.metric_only = true;
    } else if (argument == "--dialects") {
      asked.dialects = true;
    } else if (argument == "--each") {
      asked.each = true;
    } else {
      fmt::print(stderr, "unknown argument {}\n", argument);
      std::exit(2);
    }
  }
  return asked;
}

std::vector<Script> scripts_of(const Asked& asked) {
  std::vector<Script> scripts;
  for (std::uint64_t seed = asked.first; seed < asked.first + asked.scripts; ++seed) {
    scripts.push_back(write_script(seed, asked.population));
    for (std::size_t dialect = 1; asked.dialects && dialect < dialect_names.size(); ++dialect) {
      scripts.push_back(scripts.back());
      scripts.back().dialect =
          static_cast<Dialect>((static_cast<std::size_t>(scripts.back().dialect) + 1) % dialect_names.size());
    }
  }
  return scripts;
}

int run(const Asked& asked) {
  const log::ScopedSink quiet{[](log::Level, std::string_view) {}};
  const test::TemporaryFolder folder;
  std::vector<Played> all;
  std::string broken;
  for (const Script& script : scripts_of(asked)) {
    if (const double error = error_of_law(script); error > most_error_of_law) {
      broken += fmt::format("script {} does not cost what its law says: {:.3f} % off\n", script.seed, 100.0 * error);
    }
    all.push_back(play(script, folder));
    if (asked.each) {
      fmt::print("{}", text_of(all.back()));
      std::fflush(stdout);
    }
  }
  fmt::print("{}{}", table_of(all), asked.population.changes ? changes_of(all) : "");
  fmt::print("\n{:.1f} s of CPU\n", static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  const bool usual = !asked.population.changes && !asked.population.metric_only && !asked.dialects;
  broken += usual ? broken_floors(all) : "";
  fmt::print(stderr, "{}", broken);
  return broken.empty() ? 0 : 1;
}

}  // namespace
}  // namespace zeus::truth

int main(int count, char** arguments) {
  return zeus::truth::run(zeus::truth::asked_by(count, arguments));
}
