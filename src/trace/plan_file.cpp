#include "trace/plan_file.hpp"

#include "base/printable.hpp"
#include "trace/bounds.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

namespace zeus::trace {

namespace {

constexpr std::size_t longest_instruction = 100;

// Reads a literal. Its depth is fixed, so no text makes this recurse.
class LiteralReader {
 public:
  LiteralReader(const std::string& name, std::string_view text) : name_{name}, rest_{text} {}

  records::PlannedRanks read() {
    records::PlannedRanks ranks;
    read_sequence("a list for each rank", [&] {
      std::vector<records::PlannedInstruction>& instructions = ranks.emplace_back();
      read_sequence("a list of (instruction, MHz)", [&] { instructions.push_back(read_instruction()); });
      if (instructions.empty()) {
        refuse("an instruction");
      }
    });
    skip_blanks();
    if (!rest_.empty()) {
      refuse("the end of the file");
    }
    if (ranks.empty()) {
      refuse("a rank");
    }
    return ranks;
  }

 private:
  [[noreturn]] void refuse(std::string_view expected) const {
    const std::string found =
        rest_.empty() ? "the end" : in_quotes(rest_.substr(0, std::min(rest_.find('\n'), longest_quote)));
    throw Error{ErrorKind::corrupt_data,
                fmt::format("{}, line {}: expected {}, found {}", name_, line_, expected, found),
                "name a file that `zeus pipeline --at T --json` wrote, or a list of lists of ('forward', MHz)"};
  }

  void take(std::size_t letters) {
    line_ +=
        static_cast<std::size_t>(std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(letters), '\n'));
    rest_.remove_prefix(letters);
  }

  // Blanks, line ends and comments.
  void skip_blanks() {
    while (!rest_.empty()) {
      if (rest_.front() == '#') {
        take(std::min(rest_.find('\n'), rest_.size()));
      } else if (std::string_view{" \t\r\n\f"}.find(rest_.front()) != std::string_view::npos) {
        take(1);
      } else {
        return;
      }
    }
  }

  bool found(char letter) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != letter) {
      return false;
    }
    take(1);
    return true;
  }

  // A list or a tuple; a comma may follow the last member.
  template <typename Each>
  void read_sequence(std::string_view what, const Each& each) {
    const bool is_list = found('[');
    if (!is_list && !found('(')) {
      refuse(what);
    }
    const char end = is_list ? ']' : ')';
    while (!found(end)) {
      each();
      if (!found(',')) {
        if (!found(end)) {
          refuse(fmt::format("',' or '{}'", end));
        }
        return;
      }
    }
  }

  records::PlannedInstruction read_instruction() {
    records::PlannedInstruction instruction{};
    std::size_t place = 0;
    read_sequence("('instruction', MHz)", [&] {
      if (place == 0) {
        instruction.name = read_name();
      } else if (place == 1) {
        instruction.frequency = read_frequency();
      } else {
        refuse("a pair of an instruction and its clock");
      }
      ++place;
    });
    if (place != 2) {
      refuse("a pair of an instruction and its clock");
    }
    return instruction;
  }

  std::string read_name() {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos || end == 1 || end > longest_instruction) {
      refuse("the name of an instruction, in quotes");
    }
    const std::string_view name = rest_.substr(1, end - 1);
    if (std::ranges::any_of(name, [](char letter) { return letter < ' ' || letter > '~' || letter == '\\'; })) {
      refuse("the name of an instruction, in plain letters");
    }
    take(end + 1);
    return std::string{name};
  }

  Megahertz read_frequency() {
    skip_blanks();
    std::uint32_t megahertz = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), megahertz);
    const auto digits = static_cast<std::size_t>(end - rest_.data());
    const bool goes_on =
        digits < rest_.size() && std::string_view{",)]# \t\r\n"}.find(rest_[digits]) == std::string_view::npos;
    if (error != std::errc{} || goes_on || megahertz > highest_frequency) {
      refuse("a clock in whole MHz; 0 leaves it as it is");
    }
    take(digits);
    return Megahertz{static_cast<double>(megahertz)};
  }

  const std::string& name_;
  std::string_view rest_;
  std::size_t line_ = 1;
};

records::PlannedRanks ranks_in_json(const std::string& name, std::string_view text) {
  std::string why;
  std::string advice;
  try {
    records::PipelinePlan plan = records::pipeline_plan_from_json(text);
    const auto empty = std::ranges::find_if(plan.frequencies, [](const auto& rank) { return rank.empty(); });
    if (empty == plan.frequencies.end()) {
      return std::move(plan.frequencies);
    }
    why = fmt::format("it plans nothing for rank {}", empty - plan.frequencies.begin());
  } catch (const Error& error) {
    why = error.message();
    advice = error.advice();
  }
  throw Error{ErrorKind::corrupt_data, fmt::format("{}: {}", name, why), advice};
}

}  // namespace

records::PlannedRanks parse_plan_file(const std::string& name, std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && text[first] == '{';
  return is_json ? ranks_in_json(name, text) : LiteralReader{name, text}.read();
}

}  // namespace zeus::trace
