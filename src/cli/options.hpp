// The flags and arguments that commands declare, and the reading of a command line. The library that does it, CLI11,
// takes seconds to compile and stays behind this. Main thread only. Variables belong to the command that declares them:
// they are set when the command line is read.
#pragma once

#include "cli/command.hpp"

#include <initializer_list>
#include <iosfwd>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace zeus::cli {

// One option, as it is being declared. Cheap to copy; valid while its Options is.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_{&option} {}

  Option& required();
  // What the help calls the value.
  Option& type_name(std::string_view name);
  // Several values, with this between them.
  Option& delimiter(char between);
  // The help shows the variable's present value as the default.
  Option& capture_default_str();
  // Only these; the help does not list them.
  Option& among(std::initializer_list<std::string> values);
  template <typename Number>
  Option& range(Number lowest, Number highest);
  // Neither without the other.
  Option& goes_with(Option& other);
  Option& excludes(Option& other);

 private:
  CLI::Option* option_;
};

// Where a command declares: "--name" is an option, "NAME" an argument.
class Options {
 public:
  explicit Options(CLI::App& app) : app_{&app} {}

  // For the types that options.cpp lists.
  template <typename Value>
  Option add_option(const std::string& name, Value& variable, const std::string& help);
  void add_flag(const std::string& name, bool& variable, const std::string& help);
  // Nothing where it is not given.
  void add_flag(const std::string& name, std::optional<bool>& variable, const std::string& help);
  // A flag that may carry a word: "--flag{word}" stands for --flag=word.
  void add_flag(const std::string& name, std::string& variable, const std::string& help);
  // What follows two dashes is taken word by word, whatever it looks like. The dashes themselves are not.
  void after_dashes(std::vector<std::string>& words) { after_dashes_ = &words; }
  // Where the command of this name wants what follows two dashes; nothing where it has asked for none.
  [[nodiscard]] std::vector<std::string>* after_dashes_of(const std::string& command) const;
  // One of the commands has to follow; `chosen` then points to it.
  void add_commands(const Commands& commands, Command*& chosen);
  // Ends the help.
  void footer(const std::string& lines);

 private:
  CLI::App* app_;
  std::vector<std::string>* after_dashes_ = nullptr;
  std::map<std::string, std::vector<std::string>*> after_dashes_of_commands_;
};

// What the program says of itself; `closing` ends its help.
struct ProgramText {
  std::string name;
  std::string version;
  std::string description;
  std::string closing;
};

// The command that the arguments name, its variables set. None when help or the version was asked for, which is on
// `out` then. Bad usage is an Error.
Command* read_command_line(const ProgramText& program, const Commands& commands, std::span<const std::string> arguments,
                           std::ostream& out);

}  // namespace zeus::cli
