#include "command_line/command_syntax.hpp"

#include <algorithm>

namespace zeus::command_line {

const OptionSyntax* find_option(const CommandSyntax& command, std::string_view name) {
  const auto found = std::ranges::find_if(command.options, [name](const OptionSyntax& option) {
    return option.name == name || (!option.also.empty() && option.also == name);
  });
  return found != command.options.end() ? &*found : nullptr;
}

const CommandSyntax* find_command(const CommandSyntax& among, std::string_view name) {
  const auto found = std::ranges::find(among.commands, name, &CommandSyntax::name);
  return found != among.commands.end() ? &*found : nullptr;
}

std::string usage_of(const CommandSyntax& command) {
  std::string usage = command.path + " [OPTIONS]";
  bool takes_a_command = command.after_dashes != nullptr;
  bool command_required = takes_a_command;
  for (const OptionSyntax& argument : command.arguments) {
    if (argument.of_a_command) {
      takes_a_command = true;
      command_required = argument.required;
      continue;
    }
    const std::string name = argument.name + (argument.takes == OptionSyntax::Takes::values ? "..." : "");
    usage += argument.required ? " " + name : " [" + name + "]";
  }
  if (takes_a_command) {
    usage += command_required ? " -- CMD..." : " [-- CMD...]";
  }
  return usage + (command.commands.empty() ? "" : " COMMAND");
}

}  // namespace zeus::command_line
