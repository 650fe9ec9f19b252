#include "daemon/policy_commands.hpp"

#include "command_line/options.hpp"
#include "daemon/rule_files.hpp"
#include "device/inventory.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <ostream>

namespace zeus::daemon {

namespace {

std::string sentence_of(Action action, const Verdict& verdict, const std::vector<std::string>& bounds) {
  std::string sentence = fmt::format("{:<16} {}", field::name_of(action), verdict.allowed ? "yes" : "no ");
  sentence += fmt::format("  {}", verdict.why);
  if (verdict.allowed && !bounds.empty()) {
    sentence += fmt::format(", {}", fmt::join(bounds, " or "));
  }
  if (verdict.allowed && verdict.longest_lease) {
    sentence += fmt::format(", for {:.6g} s at most", verdict.longest_lease->value());
  }
  if (verdict.allowed && verdict.changes_per_second) {
    sentence += fmt::format(", {:.6g} changes a second", *verdict.changes_per_second);
  }
  return sentence;
}

}  // namespace

void PolicyCheckCommand::declare(command_line::Options& options) {
  options.example("zeusd policy check /etc/zeusd/policy.toml", "before it is put into force");
  options.add_option("FILE", file_, "The policy; what is in policy.d beside it belongs to it").path().required();
}

int PolicyCheckCommand::run(Context& context) {
  const Policy policy = read_policy(file_, ::geteuid());
  context.out << fmt::format("{}: {} rule{}, no errors\n", file_, policy.rules.size(),
                             policy.rules.size() == 1 ? "" : "s");
  return command_line::exit_ok;
}

void PolicyExplainCommand::declare(command_line::Options& options) {
  options.example("zeusd policy explain --user ann --gpu 0", "what ann may do with GPU 0");
  command_line::Option user = options.add_option("--user", user_, "A user of this machine, by name or number");
  options.add_option("--token", token_, "The subject of a token").excludes(user);
  options.add_option("--gpu", gpu_, "A GPU, by its number").rule(field::from_zero).with_default();
  options.add_option("--policy", policy_, "The policy (default: /etc/zeusd/policy.toml, where it is there)").path();
  options.add_flag("--json", json_, "Print JSON, on one line");
}

int PolicyExplainCommand::run(Context& context) {
  const RuleFiles files{policy_, {}};
  const Rules rules = read_rules(files, ::geteuid());
  Asker asker{.user = {}, .groups = {}, .token = token_};
  if (user_) {
    asker = asker_named(*user_);
  } else if (!token_) {
    throw Error{ErrorKind::invalid_argument, "no user and no token is named",
                "name a user with --user, or a token with --token"};
  }
  device::Inventory inventory = device::take_inventory(context.gpu_backends, Environment{});
  const auto number = static_cast<std::size_t>(gpu_);
  const GpuAsked gpu{gpu_, number < inventory.gpus.size() ? inventory.gpus[number].gpu->identity().uuid : ""};
  if (!json_) {
    const std::optional<std::filesystem::path> file = policy_file(files);
    context.out << (file ? fmt::format("by {} and policy.d beside it", file->string())
                         : fmt::format("by the built-in rule, because {} does not exist", usual_policy))
                << ":\n";
  }
  records::JsonWriter json;
  json.object([&] {
    for (const auto& action : names_of(Action{})) {
      AskedFor asked{.action = action.value};
      if (action.value != Action::read_cpu) {
        asked.gpu = gpu;
      }
      const Verdict verdict = decide(rules.policy, asker, asked);
      json.put(action.name, [&] {
        json.put("allowed", verdict.allowed);
        json.put("why", verdict.why);
        json.put("longest_lease_s", verdict.longest_lease);
        json.put("changes_per_second", verdict.changes_per_second);
      });
      if (!json_) {
        context.out << sentence_of(action.value, verdict, bounds_of(rules.policy, asker, asked)) << '\n';
      }
    }
  });
  if (json_) {
    context.out << json.take() << '\n';
  }
  return command_line::exit_ok;
}

PolicyCommand::PolicyCommand() {
  commands_.push_back(std::make_unique<PolicyCheckCommand>());
  commands_.push_back(std::make_unique<PolicyExplainCommand>());
}

void PolicyCommand::declare(command_line::Options& options) {
  options.example("zeusd policy check /etc/zeusd/policy.toml", "whether it can be understood");
  options.add_commands(commands_, chosen_);
}

}  // namespace zeus::daemon
