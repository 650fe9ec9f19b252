#include "command_line/completions.hpp"

#include "base/shell_word.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace zeus::command_line {

namespace {

using Takes = OptionSyntax::Takes;

bool takes_values(const OptionSyntax& option) {
  return option.takes == Takes::a_value || option.takes == Takes::values;
}

bool runs_a_command(const CommandSyntax& command) {
  return command.after_dashes != nullptr || (!command.arguments.empty() && command.arguments.back().of_a_command);
}

std::vector<std::string> spellings_of(const OptionSyntax& option) {
  return option.also.empty() ? std::vector{option.name} : std::vector{option.name, option.also};
}

// Visits the command and all inner commands, outer ones first.
void for_each_command(const CommandSyntax& command, const std::function<void(const CommandSyntax&)>& visit) {
  visit(command);
  for (const CommandSyntax& inner : command.commands) {
    for_each_command(inner, visit);
  }
}

std::string flags_of(const CommandSyntax& command) {
  std::string flags = "--help";
  for (const OptionSyntax& option : command.options) {
    for (const std::string& name : spellings_of(option)) {
      flags += ' ' + name;
    }
  }
  return flags + (command.is_program() ? " --version" : "");
}

// -- bash

// The words that may stand where no flag does.
std::string free_words(const CommandSyntax& command) {
  std::vector<std::string> words;
  for (const CommandSyntax& inner : command.commands) {
    words.push_back(inner.name);
  }
  for (const OptionSyntax& argument : command.arguments) {
    words.insert(words.end(), argument.words.begin(), argument.words.end());
  }
  return fmt::format("{}", fmt::join(words, " "));
}

constexpr std::string_view bash_script = R"(# Completions of {program} for bash, made by `{program} completions bash`.
_{program}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command={program} words='' flags='' i
  COMPREPLY=()
  # Bash takes --flag=word apart.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = ]]; then
    previous=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${{COMP_WORDS[i]}} == -- ]]; then
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      elif ((COMP_CWORD == i + 1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$current")
      fi
      return
    fi
    case "$command ${{COMP_WORDS[i]}}" in
{commands}    esac
  done
  case "$command $previous" in
{values}  esac
  case $command in
{words}  esac
  if [[ $current == -* ]]; then
    words=$flags
  fi
  if [[ $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}}
complete -o default -F _{program} {program}
)";

std::string bash_completions(const CommandSyntax& program) {
  std::string commands;
  std::string values;
  std::string words;
  for_each_command(program, [&](const CommandSyntax& command) {
    if (&command != &program) {
      commands += fmt::format("      '{}') command='{}' ;;\n", command.path, command.path);
    }
    words += fmt::format("    '{}') flags='{}' words='{}' ;;\n", command.path, flags_of(command), free_words(command));
    for (const OptionSyntax& option : command.options) {
      for (const std::string& name : spellings_of(option)) {
        if (!option.words.empty()) {
          values += fmt::format("    '{} {}') mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$current\"); return ;;\n",
                                command.path, name, fmt::join(option.words, " "));
        } else if (takes_values(option)) {
          // Readline itself completes the names of files.
          values += fmt::format("    '{} {}') {}return ;;\n", command.path, name,
                                option.is_path ? "" : "compopt +o default; ");
        }
      }
    }
  });
  return fmt::format(fmt::runtime(bash_script), fmt::arg("program", program.name), fmt::arg("commands", commands),
                     fmt::arg("values", values), fmt::arg("words", words));
}

// -- zsh

std::string zsh_function(const CommandSyntax& command) {
  std::string name = "_" + command.path;
  std::ranges::replace(name, ' ', '_');
  return name;
}

// Escapes a string that will stand in brackets or between colons.
std::string zsh_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

std::string zsh_value(const OptionSyntax& option) {
  const std::string action =
      option.words.empty() ? (option.is_path ? "_files" : "") : fmt::format("({})", fmt::join(option.words, " "));
  return fmt::format(":{}:{}", zsh_text(option.value_name), action);
}

std::string zsh_argument(const OptionSyntax& argument) {
  return fmt::format("{}{}", argument.required ? ":" : "::", zsh_text(argument.name)) +
         (argument.words.empty() ? ": " : fmt::format(":({})", fmt::join(argument.words, " ")));
}

std::string zsh_arguments(const CommandSyntax& command) {
  std::string text = "    '(-h --help)'{-h,--help}'[Print this help]' \\\n";
  for (const OptionSyntax& option : command.options) {
    std::string rest = option.takes == Takes::perhaps_a_word ? "=-" : takes_values(option) ? "=" : "";
    rest += fmt::format("[{}]", zsh_text(option.help));
    if (option.takes == Takes::perhaps_a_word) {
      rest += ":" + zsh_value(option);
    } else if (takes_values(option)) {
      rest += zsh_value(option);
    }
    // An option with two names is completed under one of them.
    const std::string other = option.also.empty() ? "" : fmt::format("({} {})", option.name, option.also);
    for (const std::string& name : spellings_of(option)) {
      const std::string spec = fmt::format("{}{}{}", option.takes == Takes::values ? "*" : other, name, rest);
      text += fmt::format("    {} \\\n", shell_quoted(spec));
    }
  }
  return text;
}

std::string zsh_command(const CommandSyntax& command) {
  std::string text = fmt::format("{}() {{\n", zsh_function(command));
  if (command.commands.empty()) {
    text += "  _arguments -S \\\n" + zsh_arguments(command);
    for (const OptionSyntax& argument : command.arguments) {
      if (argument.takes != Takes::values) {
        text += fmt::format("    {} \\\n", shell_quoted(zsh_argument(argument)));
      }
    }
    return text + (runs_a_command(command) ? "    '*:: :_normal'\n}\n\n" : "    && return\n}\n\n");
  }
  std::string names;
  std::string cases;
  for (const CommandSyntax& inner : command.commands) {
    names += fmt::format("      {}\n", shell_quoted(inner.name + ":" + zsh_text(inner.summary)));
    cases += fmt::format("      {}) {} ;;\n", inner.name, zsh_function(inner));
  }
  text += "  local curcontext=$curcontext state line\n  typeset -A opt_args\n  _arguments -C \\\n" +
          zsh_arguments(command) + "    '1: :->command' '*:: :->rest'\n";
  text += fmt::format(
      "  case $state in\n  command)\n    local -a commands=(\n{}    )\n    _describe -t commands command commands\n    "
      ";;\n  rest)\n    case $line[1] in\n{}    esac\n    ;;\n  esac\n}}\n\n",
      names, cases);
  return text;
}

std::string zsh_completions(const CommandSyntax& program) {
  const std::string& name = program.name;
  std::string text = fmt::format("#compdef {0}\n# Completions of {0} for zsh, made by `{0} completions zsh`.\n", name);
  for_each_command(program, [&](const CommandSyntax& command) { text += zsh_command(command); });
  // As a file in fpath it is the function's body; read with `source` or `eval`, it only declares.
  return text +
         fmt::format("if [[ $funcstack[1] == _{0} ]]; then\n  _{0} \"$@\"\nelse\n  compdef _{0} {0}\nfi\n", name);
}

// -- fish

constexpr std::string_view fish_script = R"(# Completions of {program} for fish, made by `{program} completions fish`.
function __{program}_command
  set -l command {program}
  for word in (commandline -opc)[2..-1]
    if test "$word" = --
      echo own
      return
    end
    if contains -- "$command $word" {known}
      set command "$command $word"
    end
  end
  echo $command
end

# The words that can follow in the user's own command, after two dashes.
function __{program}_own_command
  set -l words (commandline -opc)
  set -l dashes (contains -i -- -- $words)
  complete -C (string join ' ' -- (string escape -- $words[(math $dashes + 1)..-1]) (commandline -ct))
end

complete -c {program} -f
complete -c {program} -n 'test (__{program}_command) = own' -a '(__{program}_own_command)'
)";

std::string fish_completions(const CommandSyntax& program) {
  std::string known;
  std::string rows;
  for_each_command(program, [&](const CommandSyntax& command) {
    if (&command != &program) {
      known += (known.empty() ? "" : " ") + shell_quoted(command.path);
    }
    const auto add = [&](const std::string& what, std::string_view help) {
      rows += fmt::format("complete -c {0} -n 'test (__{0}_command) = \"{1}\"' {2} -d {3}\n", program.name,
                          command.path, what, shell_quoted(help));
    };
    for (const CommandSyntax& inner : command.commands) {
      add("-a " + inner.name, inner.summary);
    }
    add("-s h -l help", "Print this help");
    for (const OptionSyntax& option : command.options) {
      std::string what = "-l " + option.name.substr(2);
      what += option.also.empty() ? "" : " -l " + option.also.substr(2);
      if (!option.words.empty()) {
        what += fmt::format(" {} -a {}", takes_values(option) ? "-x" : "-f",
                            shell_quoted(fmt::format("{}", fmt::join(option.words, " "))));
      } else if (takes_values(option)) {
        what += option.is_path ? " -r -F" : " -x";
      }
      add(what, option.help);
    }
    for (const OptionSyntax& argument : command.arguments) {
      if (!argument.words.empty()) {
        add("-a " + shell_quoted(fmt::format("{}", fmt::join(argument.words, " "))), argument.help);
      }
    }
  });
  return fmt::format(fmt::runtime(fish_script), fmt::arg("program", program.name), fmt::arg("known", known)) + rows;
}

using Writer = std::string (*)(const CommandSyntax&);
constexpr std::array<std::pair<std::string_view, Writer>, 3> writers{
    {{"bash", bash_completions}, {"zsh", zsh_completions}, {"fish", fish_completions}}};

}  // namespace

std::vector<std::string> shells_with_completions() {
  std::vector<std::string> shells;
  for (const auto& [shell, write] : writers) {
    shells.emplace_back(shell);
  }
  return shells;
}

std::string completions(const CommandSyntax& program, std::string_view shell) {
  for (const auto& [name, write] : writers) {
    if (name == shell) {
      return write(program);
    }
  }
  throw Error{ErrorKind::invalid_argument, fmt::format("there are no completions for '{}'", shell),
              fmt::format("choose one of {}", fmt::join(shells_with_completions(), ", "))};
}

}  // namespace zeus::command_line
