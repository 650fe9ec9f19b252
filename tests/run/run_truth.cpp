// Plays generated scripts whose every figure is known, and prints Zeus's statements beside the true values.
//
//   run_truth [--scripts N] [--first SEED] [--changes] [--metric-only] [--dialects] [--each]
//
//   --changes       each script chooses limits only, and changes once
//   --metric-only   the user gives no expression but the metric's
//   --dialects      each script is played in every dialect: the same training with different output
//   --each          the statements about each script after each recurrence
//   --processes ZEUS   in real time, of scripts whose runs take 5 to 20 s (alone: whose epochs take 25 to 60 s): that
//                      program and the script are processes
//
//   --alone         commands without a job, each played twice
//   --loop          loops with zeus::Job in place of commands under `zeus run`
//
// Exit code 1 if a script does not cost what its law says, an exception was thrown, or a floor (truth_table.hpp) is
// violated.

#include "tests/run/alone_table.hpp"
#include "tests/run/process_player.hpp"
#include "tests/run/scripted_program.hpp"
#include "tests/run/truth_player.hpp"
#include "tests/run/truth_table.hpp"

#include "base/log.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

namespace zeus::truth {
namespace {

constexpr double most_error_of_law = 1e-4;
constexpr Seconds least_in_real_time{5};
constexpr Seconds most_in_real_time{20};
// All epochs of a command alone, which compares all limits within one run.
constexpr Seconds least_alone{25};
constexpr Seconds most_alone{60};
// Of processes, which mostly wait.
constexpr std::size_t beside_one_another = 5;

struct Asked {
  std::uint64_t scripts = 180;
  std::uint64_t first = 1;
  Population population;
  bool dialects = false;
  bool each = false;
  Front front = Front::command;
  std::string zeus;  // the program, where scripts are processes
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
    } else if (argument == "--alone") {
      asked.population.alone = true;
    } else if (argument == "--dialects") {
      asked.dialects = true;
    } else if (argument == "--loop") {
      asked.front = Front::loop;
    } else if (argument == "--each") {
      asked.each = true;
    } else if (argument == "--processes" && i + 1 < count) {
      asked.zeus = std::filesystem::absolute(arguments[++i]).string();
    } else {
      fmt::print(stderr, "unknown argument {}\n", argument);
      std::exit(2);
    }
  }
  return asked;
}

bool suits_real_time(const Script& script, const Population& population) {
  if (population.alone) {
    const Arm& arm = script.arms[script.usual];
    const Seconds takes = of_epoch(script, arm, script.gpu.limits.max).time * arm.epochs;
    return least_alone <= takes && takes <= most_alone;
  }
  const Seconds takes = expected_default(script).time;
  return least_in_real_time <= takes && takes <= most_in_real_time;
}

std::vector<Script> scripts_of(const Asked& asked) {
  std::vector<Script> scripts;
  std::uint64_t written = 0;
  for (std::uint64_t seed = asked.first; written < asked.scripts; ++seed) {
    const Script script = write_script(seed, asked.population);
    if (!asked.zeus.empty() && !suits_real_time(script, asked.population)) {
      continue;
    }
    ++written;
    scripts.push_back(script);
    for (std::size_t dialect = 1; asked.dialects && dialect < dialect_names.size(); ++dialect) {
      scripts.push_back(scripts.back());
      scripts.back().dialect =
          static_cast<Dialect>((static_cast<std::size_t>(scripts.back().dialect) + 1) % dialect_names.size());
    }
  }
  return scripts;
}

void print_each(const Asked& asked, const Played& played) {
  if (asked.each) {
    fmt::print("{}", text_of(played));
    std::fflush(stdout);
  }
}

std::vector<Played> play_on_virtual_clock(const Asked& asked, std::string& broken) {
  std::vector<Played> all;
  for (const Script& script : scripts_of(asked)) {
    if (const double error = error_of_law(script); error > most_error_of_law) {
      broken += fmt::format("script {} does not cost what its law says: {:.3f} % off\n", script.seed, 100.0 * error);
    }
    all.push_back(play(script, asked.front));
    print_each(asked, all.back());
  }
  return all;
}

// Several at a time.
template <typename Result>
std::vector<Result> in_real_time(const Asked& asked, Result (*play_one)(const Script&, const ProcessPlay&)) {
  const test::TemporaryFolder folder;
  const ProcessPlay with{
      .zeus = asked.zeus, .trainer = std::filesystem::canonical("/proc/self/exe"), .folder = folder.path()};
  const std::vector<Script> scripts = scripts_of(asked);
  std::vector<Result> all(scripts.size());
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> players;
    for (std::size_t player = 0; player < beside_one_another; ++player) {
      players.emplace_back([&] {
        for (std::size_t number = next++; number < scripts.size(); number = next++) {
          all[number] = play_one(scripts[number], with);
        }
      });
    }
  }
  return all;
}

std::vector<Played> play_in_real_time(const Asked& asked) {
  std::vector<Played> all = in_real_time(asked, play_as_processes);
  for (const Played& played : all) {
    print_each(asked, played);
  }
  return all;
}

// Each script twice, with other draws.
int run_alone(const Asked& asked) {
  const log::ScopedSink quiet{[](log::Level, std::string_view) {}};
  std::vector<std::array<PlayedAlone, 2>> all;
  if (!asked.zeus.empty()) {
    all = in_real_time(asked, play_alone_as_processes);
  } else {
    for (const Script& script : scripts_of(asked)) {
      all.push_back({play_alone(script, 1), play_alone(script, 2)});
    }
  }
  for (const std::array<PlayedAlone, 2>& pair : all) {
    for (const PlayedAlone& one : pair) {
      fmt::print("{}", asked.each ? text_of(one) : "");
    }
  }
  const AloneTable table = table_of_alone(all);
  fmt::print("{}\n{:.1f} s of CPU\n", table.text, static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  fmt::print(stderr, "{}", table.broken);
  return table.broken.empty() ? 0 : 1;
}

int run(const Asked& asked) {
  const log::ScopedSink quiet{[](log::Level, std::string_view) {}};
  std::string broken;
  const std::vector<Played> all = asked.zeus.empty() ? play_on_virtual_clock(asked, broken) : play_in_real_time(asked);
  fmt::print("{}{}{}", table_of(all), asked.population.changes ? changes_of(all) : "",
             asked.zeus.empty() ? "" : lateness_of(all));
  fmt::print("\n{:.1f} s of CPU\n", static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
  broken += failures_of(all);
  const bool usual =
      !asked.population.changes && !asked.population.metric_only && !asked.dialects && asked.zeus.empty();
  broken += usual ? broken_floors(all) : "";
  broken += asked.zeus.empty() ? "" : broken_floors_of_processes(all);
  broken += asked.population.metric_only ? broken_floors_of_footing(all) : "";
  fmt::print(stderr, "{}", broken);
  return broken.empty() ? 0 : 1;
}

// As a script of that seed: --train SEED FILE [BATCH_SIZE], or --train-alone SEED FILE.
int train(int count, char** arguments) {
  const bool alone = std::string_view{arguments[1]} == "--train-alone";
  const Script script = write_script(std::strtoull(arguments[2], nullptr, 10), {.alone = alone});
  return train_in_real_time(script, arguments[3], count > 4 ? arguments[4] : "");
}

}  // namespace
}  // namespace zeus::truth

int main(int count, char** arguments) {
  if (count > 3 && std::string_view{arguments[1]}.starts_with("--train")) {
    return zeus::truth::train(count, arguments);
  }
  const zeus::truth::Asked asked = zeus::truth::asked_by(count, arguments);
  return asked.population.alone ? zeus::truth::run_alone(asked) : zeus::truth::run(asked);
}
