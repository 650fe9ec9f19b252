// What can be written after a program's name, as its commands have declared it (options.hpp). The command line is read
// by it; help and completions are made of it. Plain values, which must stay where they are: the commands' variables are
// set through them. Main thread only.
#pragma once

#include <zeus/fields.hpp>

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::command_line {

// A flag ("--json"), an option ("--gpus I,I") or an argument ("NAME").
struct OptionSyntax {
  enum class Takes {
    nothing,
    perhaps_a_word,  // "--observe=passive"; only after an equals sign
    a_value,
    values,  // any number of them
  };

  std::string name;
  std::string also;  // another name of it; mostly empty
  std::string help;
  std::string group;  // its heading in the help; empty: Options
  Takes takes = Takes::a_value;
  std::string value_name;
  std::string default_text;        // the default, for the help; empty: not shown
  std::vector<std::string> words;  // the allowed values; empty: any value
  bool is_path = false;
  bool required = false;
  bool may_be_empty = false;
  bool of_a_command = false;  // the values are another command and its arguments
  char delimiter = '\0';      // between several values in one word; 0: none
  field::Rule rule;           // for numbers
  // `goes_with` must be given as well; `excludes` must not.
  const OptionSyntax* goes_with = nullptr;
  const OptionSyntax* excludes = nullptr;
  // Sets the variable to a value, or adds one. Throws an invalid_argument Error for a value that it cannot take.
  std::function<void(std::string_view)> take;
};

struct Example {
  std::string command;
  std::string what;
};

struct CommandSyntax {
  std::string path;  // as a user calls it: "zeus simulate job"
  std::string name;
  std::string summary;
  std::deque<OptionSyntax> options;
  std::deque<OptionSyntax> arguments;
  std::vector<std::string>* after_dashes = nullptr;  // takes the words after the two dashes
  std::string closing;                               // the end of its help
  std::vector<Example> examples;
  std::string more;  // the end of the help of each inner command without a `closing`
  // The inner commands of a command that consists of others.
  std::deque<CommandSyntax> commands;
  // Called when the command line names this command; empty for the program itself.
  std::function<void()> named;

  [[nodiscard]] bool is_program() const { return path == name; }
};

// The option whose first or other name this is; null if there is none.
const OptionSyntax* find_option(const CommandSyntax& command, std::string_view name);
const CommandSyntax* find_command(const CommandSyntax& among, std::string_view name);

// "zeus measure [OPTIONS] -- CMD..."
std::string usage_of(const CommandSyntax& command);

}  // namespace zeus::command_line
