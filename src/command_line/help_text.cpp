#include "command_line/help_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace zeus::command_line {

namespace {

constexpr std::size_t name_column = 2;
constexpr std::size_t text_column = 30;
constexpr std::size_t columns = 100;

// Breaks the text between words and indents the further lines; `remark` stays whole where it fits on a line.
std::string wrapped(std::string_view text, std::string_view remark) {
  std::string lines;
  std::size_t column = text_column;
  const auto put = [&](std::string_view word) {
    if (column > text_column && column + 1 + word.size() > columns) {
      lines += '\n' + std::string(text_column, ' ');
      column = text_column;
    }
    lines += column > text_column ? " " : "";
    column += word.size() + (column > text_column ? 1 : 0);
    lines += word;
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    put(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!remark.empty()) {
    put(remark);
  }
  return lines;
}

std::string row(std::string_view name, std::string_view text, std::string_view remark = {}) {
  std::string line = std::string(name_column, ' ') + std::string{name};
  line += line.size() + 1 < text_column ? std::string(text_column - line.size(), ' ')
                                        : '\n' + std::string(text_column, ' ');
  return line + wrapped(text, remark) + '\n';
}

std::string title(const OptionSyntax& option) {
  std::string names = option.also.empty() ? option.name : fmt::format("{}, {}", option.name, option.also);
  switch (option.takes) {
    case OptionSyntax::Takes::nothing:
      return names;
    case OptionSyntax::Takes::perhaps_a_word:
      return fmt::format("{}[={}]", names, option.value_name);
    case OptionSyntax::Takes::a_value:
      return fmt::format("{} {}", names, option.value_name);
    case OptionSyntax::Takes::values:
      return fmt::format("{} {}{}", names, option.value_name, option.delimiter == '\0' ? "..." : "");
  }
  return names;
}

std::string row(const OptionSyntax& option) {
  return row(title(option), option.help,
             option.required               ? "[required]"
             : option.default_text.empty() ? ""
                                           : fmt::format("[default: {}]", option.default_text));
}

std::string argument_row(const OptionSyntax& argument) {
  return row(argument.name + (argument.takes == OptionSyntax::Takes::values ? "..." : ""), argument.help);
}

std::string options_of(const CommandSyntax& command) {
  std::vector<std::string> groups;
  for (const OptionSyntax& option : command.options) {
    if (!option.group.empty() && std::ranges::find(groups, option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  std::string text = "\nOptions:\n" + row("-h, --help", "Print this help");
  if (command.is_program()) {
    text += row("--version", "Print the version");
  }
  const auto put = [&](const std::string& group) {
    for (const OptionSyntax& option : command.options) {
      if (option.group == group) {
        text += row(option);
      }
    }
  };
  put("");
  for (const std::string& group : groups) {
    text += fmt::format("\n{}:\n", group);
    put(group);
  }
  return text;
}

std::string examples_of(const CommandSyntax& command) {
  std::string text;
  for (const Example& example : command.examples) {
    text += fmt::format("  {}\n      {}\n", example.command, example.what);
  }
  return text;
}

}  // namespace

std::string help_text(const CommandSyntax& command) {
  std::string text = fmt::format("{}\nUsage: {}\n", command.summary, usage_of(command));
  if (!command.arguments.empty()) {
    text += "\nArguments:\n";
    for (const OptionSyntax& argument : command.arguments) {
      text += argument_row(argument);
    }
  }
  text += options_of(command);
  if (!command.commands.empty()) {
    text += "\nCommands:\n";
    for (const CommandSyntax& one : command.commands) {
      text += row(one.name, one.summary);
    }
  }
  if (!command.examples.empty()) {
    text += "\nExamples:\n" + examples_of(command);
  }
  return text + (command.closing.empty() ? "" : "\n" + command.closing + "\n");
}

std::string first_steps(const CommandSyntax& program) {
  return fmt::format("{}\n\nTo begin:\n{}\n`{} --help` lists all commands, `{} help COMMAND` explains one.\n",
                     program.summary, examples_of(program), program.name, program.name);
}

}  // namespace zeus::command_line
