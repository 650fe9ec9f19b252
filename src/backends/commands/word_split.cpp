#include "backends/commands/word_split.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace zeus::backends::commands {

namespace {

constexpr std::string_view blanks = " \t\n";
constexpr std::string_view escaped_in_double_quotes = "$`\"\\";

class Splitter {
 public:
  explicit Splitter(std::string_view line) : line_{line} {}

  SplitLine split() {
    while (next_ < line_.size() && fault_.empty()) {
      const char c = line_[next_++];
      if (blanks.find(c) != std::string_view::npos) {
        end_word();
      } else if (c == '#' && !word_) {
        next_ = std::min(line_.find('\n', next_), line_.size());
      } else if (c == '\'') {
        single_quotes();
      } else if (c == '"') {
        double_quotes();
      } else if (c == '\\') {
        escape();
      } else if (c == '\0') {
        fault_ = "it contains a zero byte";
      } else {
        word() += c;
      }
    }
    end_word();
    return fault_.empty() ? SplitLine{std::move(words_), {}} : SplitLine{{}, fault_};
  }

 private:
  std::string& word() { return word_ ? *word_ : word_.emplace(); }

  void end_word() {
    if (word_) {
      words_.push_back(std::move(*word_));
      word_.reset();
    }
  }

  void single_quotes() {
    const std::size_t end = line_.find('\'', next_);
    if (end == std::string_view::npos) {
      fault_ = "a single quote is not closed";
      return;
    }
    take(line_.substr(next_, end - next_));
    next_ = end + 1;
  }

  void double_quotes() {
    (void)word();
    while (next_ < line_.size()) {
      const char c = line_[next_++];
      if (c == '"') {
        return;
      }
      if (c == '\\' && next_ < line_.size() && line_[next_] == '\n') {
        ++next_;
      } else if (c == '\\' && next_ < line_.size() &&
                 escaped_in_double_quotes.find(line_[next_]) != std::string_view::npos) {
        word() += line_[next_++];
      } else {
        take({&c, 1});
      }
    }
    fault_ = "a double quote is not closed";
  }

  void escape() {
    if (next_ == line_.size()) {
      fault_ = "it ends with a backslash";
    } else if (line_[next_] == '\n') {
      ++next_;
    } else {
      take(line_.substr(next_++, 1));
    }
  }

  void take(std::string_view text) {
    word() += text;
    if (text.find('\0') != std::string_view::npos) {
      fault_ = "it contains a zero byte";
    }
  }

  std::string_view line_;
  std::size_t next_ = 0;
  std::optional<std::string> word_;  // the one that has begun, perhaps still empty
  std::vector<std::string> words_;
  std::string_view fault_;
};

}  // namespace

SplitLine split_words(std::string_view line) {
  return Splitter{line}.split();
}

}  // namespace zeus::backends::commands
