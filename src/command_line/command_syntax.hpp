// What can be written after a program's name, as its commands have declared it (options.hpp): what the command line is
// read by, and what help and completions are made of. Plain values, which stay where they are: variables of the
// commands are set through them. Main thread only.
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
    values,  // as many as there are
  };

  std::string name;
  std::string also;  // the same under another name; empty mostly
  std::string help;
  std::string group;  // the heading that help has it under; empty: Options
  Takes takes = Takes::a_value;
  std::string value_name;
  std::string default_text;        // what holds where it is not given; empty where help does not say
  std::vector<std::string> words;  // the values there are; empty where any will do
  bool is_path = false;
  bool required = false;
  bool may_be_empty = false;
  bool of_a_command = false;  // these values are another command and its arguments
  char delimiter = '\0';      // between several values in one word; none where it is 0
  field::Rule rule;           // of numbers
  // Neither without the other; not together.
  const OptionSyntax* goes_with = nullptr;
  const OptionSyntax* excludes = nullptr;
  // Sets the variable to a value, or adds one. What it cannot be is an invalid_argument Error.
  std::function<void(std::string_view)> take;
};

struct Example {
  std::string command;
  std::string what;
};

struct CommandSyntax {
  std::string path;  // as it is called: "zeus simulate job"
  std::string name;
  std::string summary;
  std::deque<OptionSyntax> options;
  std::deque<OptionSyntax> arguments;
  std::vector<std::string>* after_dashes = nullptr;  // takes what follows two dashes word by word
  std::string closing;                               // ends its help
  std::vector<Example> examples;
  std::string more;  // what ends the help of each command in it that has nothing of its own to say there
  // Of a command that consists of others.
  std::deque<CommandSyntax> commands;
  // Called when it was named on the command line; none for the program itself.
  std::function<void()> named;

  [[nodiscard]] bool is_program() const { return path == name; }
};

// The option of this name, its own or the other one; none where there is no such.
const OptionSyntax* find_option(const CommandSyntax& command, std::string_view name);
const CommandSyntax* find_command(const CommandSyntax& among, std::string_view name);

// "zeus measure [OPTIONS] -- CMD..."
std::string usage_of(const CommandSyntax& command);

}  // namespace zeus::command_line
