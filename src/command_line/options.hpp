// Where a command declares what can be written after its name. The variables belong to the command; reading the command
// line (command_line.hpp) sets them. Main thread only.
#pragma once

#include "command_line/command.hpp"
#include "command_line/command_syntax.hpp"

#include <zeus/fields.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::command_line {

// One option or argument while it is being declared. Valid for as long as its Options.
class Option {
 public:
  Option(OptionSyntax& syntax, std::string present) : syntax_{&syntax}, present_{std::move(present)} {}

  Option& required();
  // The same option under an older name.
  Option& also(std::string_view name);
  // The name of the value in the help.
  Option& value_name(std::string_view name);
  // One word may hold several values, with this character between them.
  Option& delimiter(char between);
  // Shows a default in the help: the variable's present value, or these words.
  Option& with_default();
  Option& with_default(std::string_view words);
  // Only these values are allowed.
  Option& among(std::vector<std::string> words);
  // The bounds of a number, or of each number of a list.
  Option& rule(const field::Rule& rule);
  // An argument that takes several values takes the words of a command, unless this is called.
  Option& no_command();
  // The value names a file.
  Option& path();
  // Both must be given, or neither.
  Option& goes_with(Option& other);
  Option& excludes(Option& other);

 private:
  OptionSyntax* syntax_;
  std::string present_;  // the variable's value at the declaration
};

// "--name" is an option, "NAME" an argument. Empty values are refused, except among the words of a command.
class Options {
 public:
  explicit Options(CommandSyntax& syntax) : syntax_{&syntax} {}

  // For the types that options.cpp instantiates.
  template <typename Value>
  Option add_option(const std::string& name, Value& variable, const std::string& help);
  void add_flag(const std::string& name, bool& variable, const std::string& help);
  // The variable stays empty if the flag is not given.
  void add_flag(const std::string& name, std::optional<bool>& variable, const std::string& help);
  // A flag that may carry a value, as in --flag=word. Without one its value is `bare`.
  Option add_flag(const std::string& name, std::string& variable, const std::string& bare, const std::string& help);
  // The help's heading for everything declared after it.
  void group(const std::string& heading) { group_ = heading; }
  // Takes the words after two dashes, whatever they look like, without the dashes.
  void after_dashes(std::vector<std::string>& words) { syntax_->after_dashes = &words; }
  // One of the commands must follow; `chosen` then points to it.
  template <typename Kind>
  void add_commands(const std::vector<std::unique_ptr<Kind>>& commands, Kind*& chosen) {
    for (const auto& command : commands) {
      add_command(*command, [&chosen, named = command.get()] { chosen = named; });
    }
  }
  void example(const std::string& command, const std::string& what) { syntax_->examples.push_back({command, what}); }
  // The end of the help.
  void footer(const std::string& lines) { syntax_->closing = lines; }

 private:
  void add_command(AnyCommand& command, std::function<void()> named);
  OptionSyntax& add(const std::string& name, const std::string& help);

  CommandSyntax* syntax_;
  std::string group_;
};

}  // namespace zeus::command_line
