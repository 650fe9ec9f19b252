#include "command_line/command_line.hpp"

#include "base/printable.hpp"
#include "command_line/near_word.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace zeus::command_line {

namespace {

using Takes = OptionSyntax::Takes;

constexpr std::string_view dashes = "--";

std::string meant(std::string_view word, const std::vector<std::string>& known) {
  const auto near = near_word(word, known);
  return near ? fmt::format("did you mean `{}`? ", *near) : "";
}

bool looks_like_a_flag(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

class Reader {
 public:
  Reader(const CommandSyntax& command, std::span<const std::string> words) : command_{&command}, words_{words} {}

  Asked read() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (word == dashes) {
        read_rest();
      } else if (word == "--help" || word == "-h") {
        return {Asked::For::help, command_};
      } else if (word.starts_with("--help=")) {
        refuse("--help takes no value", "write --help alone");
      } else if (word == "--version" && command_->is_program()) {
        return {Asked::For::version, command_};
      } else if (looks_like_a_flag(word)) {
        check_before_the_command(word);
        read_option(word);
      } else if (word == "help" && command_->is_program()) {
        return help_on_words();
      } else if (!command_->commands.empty()) {
        return read_command(word);
      } else {
        read_argument(word);
      }
    }
    check_complete();
    return {Asked::For::run, command_};
  }

 private:
  [[noreturn]] void refuse(const std::string& message, const std::string& advice) const {
    throw Error{ErrorKind::invalid_argument, message, advice};
  }

  [[nodiscard]] std::string where_more_is(std::string_view is_there = "lists what there is") const {
    return fmt::format("`{} --help` {}", command_->path, is_there);
  }

  [[nodiscard]] std::string usage() const { return fmt::format("usage: {}; {}", usage_of(*command_), where_more_is()); }

  [[nodiscard]] const CommandSyntax* command_of(const std::string& word) const {
    if (const CommandSyntax* const command = find_command(*command_, word)) {
      return command;
    }
    if (command_->commands.empty()) {
      refuse(fmt::format("{} has no command {}", command_->path, in_quotes(word)), where_more_is());
    }
    std::vector<std::string> names;
    for (const CommandSyntax& known : command_->commands) {
      names.push_back(known.name);
    }
    refuse(fmt::format("there is no command {}", in_quotes(word)), meant(word, names) + where_more_is());
  }

  // `zeus help simulate job` is `zeus simulate job --help`.
  Asked help_on_words() {
    while (next_ < words_.size() && words_[next_] != "--help" && words_[next_] != "-h") {
      command_ = command_of(words_[next_++]);
    }
    return {Asked::For::help, command_};
  }

  Asked read_command(const std::string& word) {
    const CommandSyntax* const command = command_of(word);
    if (command->named) {
      command->named();
    }
    return Reader{*command, words_.subspan(next_)}.read();
  }

  void read_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const OptionSyntax* const option = find_option(*command_, name);
    if (option == nullptr) {
      refuse_flag(name);
    }
    const std::optional<std::string> attached =
        equals == std::string::npos ? std::nullopt : std::optional{word.substr(equals + 1)};
    const bool again = !given_.insert_or_assign(option, name).second;
    if (attached && attached->empty()) {
      refuse_empty(*option);
    }
    if (option->takes == Takes::nothing || option->takes == Takes::perhaps_a_word) {
      take(*option, attached.value_or(""));
      return;
    }
    if (again && option->takes == Takes::a_value) {
      refuse(fmt::format("{} is given twice", name), fmt::format("give it once; {}", where_more_is()));
    }
    take_all(*option, attached ? *attached : value_for(*option));
    while (option->takes == Takes::values && !attached && next_ < words_.size() && !looks_like_a_flag(words_[next_])) {
      take_all(*option, words_[next_++]);
    }
  }

  // A command that was begun without two dashes may have flags of the same names as ours.
  void check_before_the_command(const std::string& word) const {
    const std::string name = word.substr(0, word.find('='));
    if (in_a_command_ && find_option(*command_, name) != nullptr) {
      refuse(fmt::format("{} follows the command", in_quotes(name)),
             fmt::format("flags of your own command come after two dashes, and those of Zeus before them: {}",
                         usage_of(*command_)));
    }
  }

  [[noreturn]] void refuse_flag(const std::string& name) const {
    std::vector<std::string> names = {"--help"};
    for (const OptionSyntax& known : command_->options) {
      names.push_back(known.name);
      if (!known.also.empty()) {
        names.push_back(known.also);
      }
    }
    const bool in_a_command = !command_->arguments.empty() && command_->arguments.back().takes == Takes::values &&
                              given_.contains(&command_->arguments.back());
    refuse(fmt::format("there is no flag {}", in_quotes(name)),
           meant(name, names) +
               (in_a_command ? fmt::format("flags of your own command come after two dashes: {}", usage_of(*command_))
                             : where_more_is()));
  }

  // The name by which the user called an option, if it has two.
  [[nodiscard]] const std::string& called(const OptionSyntax& option) const {
    const auto given = given_.find(&option);
    return given != given_.end() ? given->second : option.name;
  }

  std::string value_for(const OptionSyntax& option) {
    const bool is_there = next_ < words_.size() && words_[next_] != dashes && words_[next_] != "--help" &&
                          find_option(*command_, words_[next_]) == nullptr;
    if (!is_there) {
      const std::string& name = called(option);
      refuse(fmt::format("{} has no value", name),
             fmt::format("write {} {}; {}", name, option.value_name, where_more_is()));
    }
    return words_[next_++];
  }

  [[noreturn]] void refuse_empty(const OptionSyntax& option) const {
    refuse(fmt::format("{} is empty", called(option)),
           fmt::format("give a value{}; {}", option.required ? "" : ", or leave it out", where_more_is()));
  }

  void read_argument(const std::string& word) {
    if (arguments_ == command_->arguments.size() &&
        (command_->arguments.empty() || command_->arguments.back().takes != Takes::values)) {
      refuse(fmt::format("{} is one argument too many", in_quotes(word)), usage());
    }
    const OptionSyntax& argument = command_->arguments[std::min(arguments_, command_->arguments.size() - 1)];
    arguments_ = std::min(arguments_ + 1, command_->arguments.size());
    given_.emplace(&argument, argument.name);
    in_a_command_ = in_a_command_ || (argument.of_a_command && !word.starts_with('@'));  // `@NAME` is a job
    if (word.empty() && !argument.may_be_empty) {
      refuse_empty(argument);
    }
    take(argument, word);
  }

  // Takes the words after the two dashes.
  void read_rest() {
    if (command_->after_dashes != nullptr) {
      command_->after_dashes->assign(words_.begin() + static_cast<std::ptrdiff_t>(next_), words_.end());
      next_ = words_.size();
    }
    while (next_ < words_.size()) {
      read_argument(words_[next_++]);
    }
  }

  void take_all(const OptionSyntax& option, std::string_view word) const {
    if (option.delimiter == '\0') {
      if (word.empty()) {
        refuse_empty(option);
      }
      take(option, word);
      return;
    }
    while (true) {
      const std::size_t end = word.find(option.delimiter);
      const std::string_view one = word.substr(0, end);
      if (one.empty()) {
        refuse_empty(option);
      }
      take(option, one);
      if (end == std::string_view::npos) {
        return;
      }
      word.remove_prefix(end + 1);
    }
  }

  void take(const OptionSyntax& option, std::string_view word) const {
    const bool bare = option.takes == Takes::perhaps_a_word && word.empty();
    if (!option.words.empty() && !bare && std::ranges::find(option.words, word) == option.words.end()) {
      refuse(fmt::format("{}: {} is not one of {}", called(option), in_quotes(word), fmt::join(option.words, ", ")),
             meant(word, option.words) + where_more_is());
    }
    std::string why;
    try {
      option.take(word);
      return;
    } catch (const Error& error) {
      why = error.what();
    }
    refuse(fmt::format("{}: {}", called(option), why), where_more_is());
  }

  void check_complete() const {
    if (!command_->commands.empty()) {
      refuse(fmt::format("{} needs a command", command_->path), where_more_is());
    }
    for (const OptionSyntax& option : command_->options) {
      const bool is_given = given_.contains(&option);
      if (option.required && !is_given) {
        refuse(fmt::format("{} {} is missing", option.name, option.value_name), usage());
      }
      if (option.goes_with != nullptr && is_given && !given_.contains(option.goes_with)) {
        refuse(fmt::format("{} needs {}", called(option), option.goes_with->name),
               "give both, or neither; " + where_more_is());
      }
      if (option.excludes != nullptr && is_given && given_.contains(option.excludes)) {
        refuse(fmt::format("{} and {} exclude one another", called(option), called(*option.excludes)),
               "give one of them; " + where_more_is());
      }
    }
    for (const OptionSyntax& argument : command_->arguments) {
      if (argument.required && !given_.contains(&argument)) {
        refuse(fmt::format("{} is missing", argument.name), usage());
      }
    }
  }

  const CommandSyntax* command_;
  std::span<const std::string> words_;
  std::size_t next_ = 0;
  std::size_t arguments_ = 0;                         // how many of the declared ones have been met
  bool in_a_command_ = false;                         // a word of the user's own command has been met
  std::map<const OptionSyntax*, std::string> given_;  // with the name that was used
};

}  // namespace

Asked read_command_line(const CommandSyntax& program, std::span<const std::string> words) {
  return Reader{program, words}.read();
}

}  // namespace zeus::command_line
