#include "records/json_writer.hpp"

#include "records/json_library.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace zeus::records {

namespace {

constexpr std::size_t indent = 2;

// Most strings are; the library need not check them.
bool is_plain(std::string_view string) {
  return std::ranges::all_of(string, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

template <typename Integer>
void append_whole(std::string& text, Integer number) {
  std::array<char, 24> digits{};
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

}  // namespace

void JsonWriter::new_line() {
  if (layout_ == Layout::indented) {
    text_ += '\n';
    text_.append(indent * levels_.size(), ' ');
  }
}

void JsonWriter::begin_value() {
  if (after_key_) {
    after_key_ = false;
  } else if (!levels_.empty()) {
    if (!levels_.back().empty) {
      text_ += ',';
    }
    levels_.back().empty = false;
    new_line();
  }
}

void JsonWriter::key(std::string_view name) {
  add_string(name);
  text_ += layout_ == Layout::indented ? ": " : ":";
  after_key_ = true;
}

void JsonWriter::open(char begin) {
  begin_value();
  text_ += begin;
  levels_.push_back({.reasons = {}});
}

void JsonWriter::close(char end) {
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) {
    new_line();
  }
  text_ += end;
}

void JsonWriter::close_object() {
  const auto reasons = std::move(levels_.back().reasons);
  if (!reasons.empty()) {
    put("reason", [&] {
      for (const auto& [name, why] : reasons) {
        put(name, why);
      }
    });
  }
  close('}');
}

void JsonWriter::put_unknown(std::string_view name, std::string_view why) {
  put(name, nullptr);
  because(name, why);
}

void JsonWriter::because(std::string_view name, std::string_view why) {
  levels_.back().reasons.emplace_back(name, why);
}

void JsonWriter::add(std::string_view literal) {
  begin_value();
  text_ += literal;
}

void JsonWriter::add(double number) {
  begin_value();
  append_number(text_, number);
}

void JsonWriter::add(std::int64_t number) {
  begin_value();
  append_whole(text_, number);
}

void JsonWriter::add(std::uint64_t number) {
  begin_value();
  append_whole(text_, number);
}

void JsonWriter::add_string(std::string_view string) {
  begin_value();
  if (is_plain(string)) {
    text_ += '"';
    text_ += string;
    text_ += '"';
  } else {
    append_quoted(text_, string);
  }
}

}  // namespace zeus::records
