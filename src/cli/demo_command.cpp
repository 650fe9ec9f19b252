#include "cli/demo_command.hpp"

#include "cli/demo_progress.hpp"
#include "cli/demo_summary.hpp"
#include "cli/output_file.hpp"
#include "command_line/options.hpp"
#include "device/inventory.hpp"
#include "report/job_report.hpp"
#include "store/open_store.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <ostream>

namespace zeus::cli {

namespace {

constexpr double most_seed = 1e9;

// In TMPDIR. It stays after the demo, so that the user can look at the job.
std::filesystem::path make_folder(const Environment& environment) {
  std::string folder = environment.get("TMPDIR").value_or("/tmp") + "/zeus-demo-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    throw Error{ErrorKind::unavailable, fmt::format("no folder can be made in {}", folder.substr(0, folder.rfind('/'))),
                "name one that can be written to in TMPDIR"};
  }
  return folder;
}

std::string introduction(const demo::TourOptions& options) {
  return fmt::format(
      "A job that recurs every night, on a virtual V100 in virtual time: a small network really learns to recognize\n"
      "shapes in images it never saw. Its author chose batch size {} at full power. Zeus looks for what costs "
      "less.\n\n",
      options.default_batch_size);
}

std::string real_gpus(Context& context) {
  const device::Inventory inventory = device::take_inventory(context.backends, context.environment);
  if (inventory.gpus.empty()) {
    return {};
  }
  return fmt::format(
      "(This machine has {} GPU{}, which the demo leaves alone: the small network trains on the CPU. `zeus run` is for "
      "{}.)\n\n",
      inventory.gpus.size(), inventory.gpus.size() == 1 ? "" : "s", inventory.gpus.size() == 1 ? "it" : "them");
}

}  // namespace

void DemoCommand::declare(Options& options) {
  options.example("zeus demo --quick", "half a minute, the report in a temporary folder");
  options.add_flag("--quick", quick_, "Fewer batch sizes and nights: under half a minute");
  options.add_option("--seed", seed_, "Seed of the images and of every random draw")
      .rule({.least = 0.0, .most = most_seed})
      .with_default()
      .value_name("S");
  options.add_option("--html", html_, "Where to write the report")
      .also("--report")
      .path()
      .with_default("in a temporary folder")
      .value_name("FILE|-");
  options.add_option("--json", json_, "Where to write the nights and the job as JSON; - is standard output")
      .path()
      .value_name("FILE|-");
  options.add_option("--default-batch-size", default_batch_size_, "What the job's author chose")
      .with_default("512")
      .value_name("B");
  options.add_option("--eta", eta_, "Weight of energy against time: 0 counts time alone, 1 energy alone")
      .rule(field::share)
      .with_default()
      .value_name("ETA");
  options.add_flag("--steady", steady_, "Keep the images as they are: no labels turn wrong over the nights");
  options.add_flag("--quiet", quiet_, "Show no progress");
}

demo::TourOptions DemoCommand::options() const {
  demo::TourOptions options{.seed = seed_, .eta = eta_};
  options.default_batch_size = default_batch_size_.value_or(options.default_batch_size);
  if (quick_) {
    options.smallest_batch_size = 32;
    options.largest_batch_size = 512;
    options.most_nights = 36;
    options.nights_beyond = 3;
  }
  if (steady_) {
    options.mislabelled = 0.0;
  }
  return options;
}

int DemoCommand::run(Context& context) {
  const demo::TourOptions asked = options();
  std::optional<OutputFile> named;
  if (!html_.empty()) {
    named.emplace(html_, context.out);
  }
  std::optional<OutputFile> json;
  if (json_) {
    json.emplace(*json_, context.out);
  }
  // With a file on standard output, nothing else may be printed there.
  const bool tells = html_ != "-" && json_ != "-";
  const std::filesystem::path folder = make_folder(context.environment);
  const std::string report = html_.empty() ? (folder / "report.html").string() : html_;
  const OutputFile page = named.value_or(OutputFile{report, context.out});
  const std::string location = (folder / "jobs.sqlite").string();
  const std::unique_ptr<store::JobStore> store = store::open_store(location, store::Access::create, context.clock);
  if (tells) {
    context.out << introduction(asked) << real_gpus(context) << std::flush;
  }
  std::optional<WorkingLine> working{std::in_place, context.err, context.clock,
                                     has_working_line(context.environment) && !quiet_};
  DemoProgress progress{*working, quiet_, asked.most_nights};
  const demo::TourResult result = [&] {
    try {
      demo::Tour tour{asked, make_gpu_, *store, FileTree{folder}, context.files};
      return tour.run([&progress](const demo::TourEvent& event) { progress.tell(event); });
    } catch (const Error&) {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
      throw;
    }
  }();
  working.reset();
  const records::CarbonIntensity carbon;
  page.write(report::job_report(result.job, demo_report_options(result, carbon)));
  if (json) {
    json->write(demo_json(result, report, location));
  }
  if (!tells) {
    return exit_ok;
  }
  context.out << (quiet_ ? "" : "\n") << demo_summary(result, carbon)
              << fmt::format(
                     "\nThe report: {}\n\nThree commands to try next:\n"
                     "  zeus jobs {} --store {}\n      all that is known of this job, and what comes next and why\n"
                     "  zeus measure -- YOUR COMMAND\n      its joules, on your own GPU and CPU\n"
                     "  zeus run --job NAME --help\n      the same as here for a training command of yours\n",
                     report, demo::tour_job, location);
  return exit_ok;
}

}  // namespace zeus::cli
