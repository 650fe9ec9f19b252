#include "cli/restore_command.hpp"

#include "base/printable.hpp"
#include "cli/lease_json.hpp"
#include "command_line/options.hpp"
#include "control/restoration.hpp"
#include "control/state_folder.hpp"
#include "device/gpu_names.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace zeus::cli {

using control::Restoration;
using Result = Restoration::Result;

namespace {

// The UUID of a GPU that is named by its number or its UUID. A UUID may name a GPU that is out of sight, if there is a
// record of a lease of it.
std::string uuid_of(const std::string& name, const device::Inventory& inventory,
                    const std::vector<std::string>& written_down) {
  if (const device::DiscoveredGpu* const one = device::find_gpu(inventory, name)) {
    return one->gpu->identity().uuid;
  }
  if (std::ranges::find(written_down, name) == written_down.end()) {
    throw Error{ErrorKind::invalid_argument, "there is no GPU " + in_quotes(name),
                "name one by its number or its whole UUID, as `zeus devices` shows them"};
  }
  return name;
}

std::string outcome_of(const Restoration& one) {
  switch (one.result) {
    case Result::restored:
      return one.claim->found.empty() ? fmt::format("nothing to put back; {} had changed nothing", to_text(*one.claim))
                                      : fmt::format("put back to {}, because {} had ended without doing so",
                                                    to_text(one.claim->found), to_text(*one.claim));
    case Result::held:
      return fmt::format("left alone; {} has a lease of it", to_text(*one.claim));
    case Result::past:
      return "nothing to put back; the machine has been restarted since";
    case Result::forgotten:
      return fmt::format("forgotten; {} had found {}", to_text(*one.claim), to_text(one.claim->found));
    case Result::failed:
      break;
  }
  return fmt::format("not put back: {}", one.why);
}

void put_restoration(records::JsonWriter& json, const Restoration& one, const device::Inventory& inventory) {
  const device::DiscoveredGpu* const gpu = device::find_gpu(inventory, one.gpu);
  json.put("index", gpu != nullptr ? gpu->number : std::nullopt,
           gpu != nullptr ? "hidden from programs by the visibility variables" : "this GPU cannot be seen from here");
  json.put("uuid", one.gpu);
  json.put("result", to_string(one.result));
  if (one.claim) {
    json.put("found", to_text(one.claim->found));
    put_holder(json, *one.claim);
  } else {
    constexpr std::string_view unreadable = "the record cannot be read";
    json.put("found", nullptr);
    put_no_holder(json, unreadable);
    json.because("found", unreadable);
  }
  json.put("message", outcome_of(one));
}

void print_restorations(const std::vector<Restoration>& all, const Context& context) {
  for (const Restoration& one : all) {
    if (one.result == Result::failed) {
      context.err << fmt::format("zeus: {}: {}\n", one.name, outcome_of(one));
    } else {
      context.out << fmt::format("{}: {}\n", one.name, outcome_of(one));
    }
  }
}

// A missing folder is no failure, since it is made when a setting is first changed. But its name may be misspelt.
std::string nothing_to_put_back(const Environment& environment) {
  const std::string chosen = environment.get("ZEUS_STATE_DIR").value_or("");
  std::error_code unknown;
  return chosen.empty() || std::filesystem::exists(chosen, unknown)
             ? "nothing to put back\n"
             : fmt::format("nothing to put back: ZEUS_STATE_DIR names {}, which does not exist\n", in_quotes(chosen));
}

}  // namespace

void RestoreCommand::declare(Options& options) {
  options.example("zeus restore", "on all GPUs");
  options.example("zeus restore --gpu 0", "on one");
  options.example("zeus restore --gpu GPU-41b2... --forget",
                  "of a GPU that was taken out, or a virtual one of a session that ended");
  options.add_option("--gpu", gpu_, "Only this GPU: its number, as `zeus devices` shows it, or its UUID")
      .value_name("GPU");
  options.add_flag("--forget", forget_,
                   "Drop the record of a GPU that is gone for good, named by --gpu, and put nothing back");
  options.add_flag("--json", json_, "Print JSON, on one line");
}

int RestoreCommand::run(Context& context) {
  const device::Inventory inventory = device::take_inventory(context.backends, context.environment);
  const std::vector<DeviceProblem> problems = control::state_folder_problems(context.environment, ::geteuid());
  std::optional<control::Ledger> ledger;
  if (const auto folder = control::find_state_folder(context.environment, ::geteuid())) {
    ledger.emplace(FileTree{*folder}, context.files);
  }
  std::optional<std::string> only;
  if (gpu_) {
    only = uuid_of(*gpu_, inventory, ledger ? ledger->gpus() : std::vector<std::string>{});
  }
  if (forget_ && (!only || device::find_gpu(inventory, *only) != nullptr)) {
    throw BadUsage{"--forget is for one GPU that cannot be seen from here",
                   "name it with --gpu by its UUID, as `zeus devices` shows it; a GPU that can be seen is put back "
                   "without --forget"};
  }
  std::vector<Restoration> all;
  if (ledger) {
    all = control::restore_abandoned(*ledger, inventory.gpus, context.clock, only);
  }
  if (forget_ && !all.empty() && all[0].result == Result::failed && all[0].claim) {
    control::forget(*ledger, all[0], context.clock);
  }
  if (ledger && !only) {
    control::clear_begun(*ledger, context.clock);
  }
  if (json_) {
    records::JsonWriter json;
    json.object([&] {
      json.put_list("gpus", all,
                    [&](const Restoration& one) { json.object([&] { put_restoration(json, one, inventory); }); });
    });
    context.out << json.take() << '\n';
  } else if (!all.empty()) {
    print_restorations(all, context);
  } else if (problems.empty()) {
    context.out << nothing_to_put_back(context.environment);
  }
  for (const DeviceProblem& problem : problems) {
    context.err << fmt::format("zeus: {}: {}; {}\n", problem.device, problem.what, problem.fix);
  }
  const bool failed = std::ranges::any_of(all, [](const Restoration& one) { return one.result == Result::failed; });
  return failed || !problems.empty() ? exit_failure : exit_ok;
}

}  // namespace zeus::cli
