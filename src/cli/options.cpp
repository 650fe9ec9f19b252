#include "cli/options.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

namespace zeus::cli {

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::type_name(std::string_view name) {
  option_->type_name(std::string{name});
  return *this;
}

Option& Option::delimiter(char between) {
  option_->delimiter(between);
  return *this;
}

Option& Option::capture_default_str() {
  option_->capture_default_str();
  return *this;
}

Option& Option::among(std::initializer_list<std::string> values) {
  option_->check(CLI::IsMember(std::vector<std::string>{values}).description(""));
  return *this;
}

template <typename Number>
Option& Option::range(Number lowest, Number highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}

template Option& Option::range(double, double);
template Option& Option::range(std::uint64_t, std::uint64_t);

Option& Option::goes_with(Option& other) {
  option_->needs(other.option_);
  other.option_->needs(option_);
  return *this;
}

Option& Option::excludes(Option& other) {
  option_->excludes(other.option_);
  return *this;
}

template <typename Value>
Option Options::add_option(const std::string& name, Value& variable, const std::string& help) {
  return Option{*app_->add_option(name, variable, help)};
}

template Option Options::add_option(const std::string&, int&, const std::string&);
template Option Options::add_option(const std::string&, double&, const std::string&);
template Option Options::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option Options::add_option(const std::string&, std::string&, const std::string&);
template Option Options::add_option(const std::string&, std::optional<int>&, const std::string&);
template Option Options::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option Options::add_option(const std::string&, std::optional<std::uint64_t>&, const std::string&);
template Option Options::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template Option Options::add_option(const std::string&, std::vector<int>&, const std::string&);
template Option Options::add_option(const std::string&, std::optional<std::vector<int>>&, const std::string&);
template Option Options::add_option(const std::string&, std::vector<std::string>&, const std::string&);

void Options::add_flag(const std::string& name, bool& variable, const std::string& help) {
  app_->add_flag(name, variable, help);
}

void Options::add_flag(const std::string& name, std::optional<bool>& variable, const std::string& help) {
  // As --flag=false counts below 0.
  app_->add_flag_function(
      name, [&variable](std::int64_t count) { variable = count > 0; }, help);
}

void Options::add_flag(const std::string& name, std::string& variable, const std::string& help) {
  app_->add_flag(name, variable, help);
}

void Options::add_commands(const Commands& commands, Command*& chosen) {
  app_->require_subcommand(1);
  for (const auto& command : commands) {
    CLI::App* const subcommand = app_->add_subcommand(command->name(), command->summary());
    Options options{*subcommand};
    command->declare(options);
    after_dashes_of_commands_[command->name()] = options.after_dashes_;
    subcommand->callback([&chosen, &command] { chosen = command.get(); });
  }
}

std::vector<std::string>* Options::after_dashes_of(const std::string& command) const {
  const auto place = after_dashes_of_commands_.find(command);
  return place != after_dashes_of_commands_.end() ? place->second : nullptr;
}

void Options::footer(const std::string& lines) {
  app_->footer(lines);
}

Command* read_command_line(const ProgramText& program, const Commands& commands, std::span<const std::string> arguments,
                           std::ostream& out) {
  CLI::App app{program.description, program.name};
  app.footer(program.closing);
  app.set_version_flag("--version", fmt::format("{} {}", program.name, program.version));
  Command* chosen = nullptr;
  Options options{app};
  options.add_commands(commands, chosen);
  std::vector<std::string> words{arguments.begin(), arguments.end()};
  if (std::vector<std::string>* const rest = words.empty() ? nullptr : options.after_dashes_of(words.front())) {
    const auto dashes = std::ranges::find(words, "--");
    if (dashes != words.end()) {
      rest->assign(dashes + 1, words.end());
      words.erase(dashes, words.end());
    }
  }
  std::string misuse;
  try {
    app.parse(std::vector<std::string>{words.rbegin(), words.rend()});
    return chosen;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error, out, out);
      return nullptr;
    }
    misuse = error.what();
  }
  throw Error{ErrorKind::invalid_argument, misuse, fmt::format("`{} --help` lists what there is", program.name)};
}

}  // namespace zeus::cli
