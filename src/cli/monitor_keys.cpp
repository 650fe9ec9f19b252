#include "cli/monitor_keys.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace zeus::cli {

namespace {

using enum MonitorKey;

// Where one sequence begins with another, the longer one comes first.
constexpr std::array<std::pair<std::string_view, MonitorKey>, 23> known_keys{{
    {"\x1b[5~", page_up},
    {"\x1b[6~", page_down},
    {"\x1b[1~", top},
    {"\x1b[4~", bottom},
    {"\x1b[7~", top},
    {"\x1b[8~", bottom},
    {"\x1b[A", up},
    {"\x1b[B", down},
    {"\x1b[H", top},
    {"\x1b[F", bottom},
    {"\x1bOA", up},
    {"\x1bOB", down},
    {"\x1bOH", top},
    {"\x1bOF", bottom},
    {"q", quit},
    {"Q", quit},
    {"k", up},
    {"j", down},
    {"b", page_up},
    {" ", page_down},
    {"g", top},
    {"G", bottom},
    {"f", page_down},
}};

}  // namespace

std::vector<MonitorKey> keys_in(std::string_view typed) {
  std::vector<MonitorKey> keys;
  while (!typed.empty()) {
    const auto key = std::ranges::find_if(known_keys, [&](const auto& one) { return typed.starts_with(one.first); });
    if (key != known_keys.end()) {
      keys.push_back(key->second);
      typed.remove_prefix(key->first.size());
    } else if (typed.starts_with("\x1b[") || typed.starts_with("\x1bO")) {
      // Some other key: skip to the letter that ends it, so that this letter is not taken for a key of ours.
      const auto end = std::ranges::find_if(typed.substr(2), [](char c) { return c >= '@' && c <= '~'; });
      typed.remove_prefix(std::min(typed.size(), static_cast<std::size_t>(end - typed.begin()) + 1));
    } else {
      typed.remove_prefix(1);
    }
  }
  return keys;
}

std::size_t scrolled(std::size_t first, MonitorKey key, std::size_t rows, std::size_t shown) {
  const std::size_t last = rows - std::min(rows, shown);
  const std::size_t page = std::max<std::size_t>(shown, 1);
  switch (key) {
    case quit:
      return first;
    case up:
      return first - std::min<std::size_t>(first, 1);
    case down:
      return std::min(last, first + 1);
    case page_up:
      return first - std::min(first, page);
    case page_down:
      return std::min(last, first + page);
    case top:
      return 0;
    case bottom:
      return last;
  }
  return first;
}

}  // namespace zeus::cli
