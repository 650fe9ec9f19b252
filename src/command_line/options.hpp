// Where a command declares what can be written after its name. Variables belong to the command: they are set when the
// command line is read (command_line.hpp). Main thread only.
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

// One option or argument, as it is being declared. Valid while its Options is.
class Option {
 public:
  Option(OptionSyntax& syntax, std::string present) : syntax_{&syntax}, present_{std::move(present)} {}

  Option& required();
  // The same option under another name, which has been there for longer.
  Option& also(std::string_view name);
  // What the help calls the value.
  Option& value_name(std::string_view name);
  // Several values in one word, with this between them.
  Option& delimiter(char between);
  // What holds where it is not given, for the help: the variable's present value, or these words.
  Option& with_default();
  Option& with_default(std::string_view words);
  // Only these.
  Option& among(std::vector<std::string> words);
  // Within these bounds: a number, or each of a list.
  Option& rule(const field::Rule& rule);
  // Arguments of which there may be several are the words of a command, unless this says that they are not.
  Option& no_command();
  // The name of a file.
  Option& path();
  // Neither without the other.
  Option& goes_with(Option& other);
  Option& excludes(Option& other);

 private:
  OptionSyntax* syntax_;
  std::string present_;  // the variable's value when it was declared
};

// "--name" is an option, "NAME" an argument. A value that is given is never empty: only words of a command may be.
class Options {
 public:
  explicit Options(CommandSyntax& syntax) : syntax_{&syntax} {}

  // For the types that options.cpp lists.
  template <typename Value>
  Option add_option(const std::string& name, Value& variable, const std::string& help);
  void add_flag(const std::string& name, bool& variable, const std::string& help);
  // Nothing where it is not given.
  void add_flag(const std::string& name, std::optional<bool>& variable, const std::string& help);
  // A flag that may carry a word, as in --flag=word; without, it stands for `bare`.
  Option add_flag(const std::string& name, std::string& variable, const std::string& bare, const std::string& help);
  // The heading in the help of what is declared from here on.
  void group(const std::string& heading) { group_ = heading; }
  // What follows two dashes is taken word by word, whatever it looks like. The dashes themselves are not.
  void after_dashes(std::vector<std::string>& words) { syntax_->after_dashes = &words; }
  // One of the commands has to follow; `chosen` then points to it.
  template <typename Kind>
  void add_commands(const std::vector<std::unique_ptr<Kind>>& commands, Kind*& chosen) {
    for (const auto& command : commands) {
      add_command(*command, [&chosen, named = command.get()] { chosen = named; });
    }
  }
  void example(const std::string& command, const std::string& what) { syntax_->examples.push_back({command, what}); }
  // Ends the help.
  void footer(const std::string& lines) { syntax_->closing = lines; }

 private:
  void add_command(AnyCommand& command, std::function<void()> named);
  OptionSyntax& add(const std::string& name, const std::string& help);

  CommandSyntax* syntax_;
  std::string group_;
};

}  // namespace zeus::command_line
