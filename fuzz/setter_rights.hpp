// Who may set what, in letters and strings: the evaluator of setters_fuzz.cpp, which shares no type with the daemon.
// Pure functions; any thread.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::fuzz {

inline unsigned mask_of(char letter) {
  return static_cast<unsigned>(static_cast<unsigned char>(letter) - '0') & 63U;
}

// A rule as five letters, and as the daemon gets it.
struct PlainRule {
  std::array<unsigned, 5> masks{};

  explicit PlainRule(std::string_view letters) {
    for (std::size_t i = 0; i < std::min(letters.size(), masks.size()); ++i) {
      masks.at(i) = mask_of(letters[i]);
    }
  }
  static constexpr std::array<std::string_view, 6> people{"everyone", "user:1",    "user:2",
                                                          "group:7",  "token:ann", "token:b*"};
  static constexpr std::array<std::string_view, 4> cards{"\"all\"", "0", "1", "\"GPU-0\""};
  static constexpr std::array<std::string_view, 4> actions{"set_power_limit", "lock_clocks", "set_persistence", "read"};

  template <std::size_t Count>
  static std::string listed(unsigned mask, const std::array<std::string_view, Count>& words, std::string_view quote) {
    std::string text;
    for (std::size_t i = 0; i < Count; ++i) {
      if ((mask >> i & 1U) != 0) {
        text += fmt::format("{}{}{},", quote, words.at(i), quote);
      }
    }
    return text;
  }
  [[nodiscard]] std::string toml() const {
    std::string text = fmt::format("[[rule]]\nwho = [{}]\ngpus = [{}]\nmay = [{}]\n", listed(masks[0], people, "\""),
                                   listed(masks[1], cards, ""), listed(masks[2], actions, "\""));
    if ((masks[3] & 1U) != 0) {
      text += "power_limit = {minimum_w = 150, maximum_w = 200}\n";
    }
    if ((masks[3] & 2U) != 0) {
      text += "graphics_clocks = {minimum_mhz = 300, maximum_mhz = 900}\n";
    }
    if ((masks[3] & 4U) != 0) {
      text += "memory_clocks = {minimum_mhz = 800, maximum_mhz = 900}\n";
    }
    if ((masks[4] & 1U) != 0) {
      text += "longest_lease_s = 30\n";
    }
    if ((masks[4] & 2U) != 0) {
      text += "changes_per_second = 2\n";
    }
    return text;
  }
};

// The sender of a request, as the evaluator sees it.
struct Sender {
  int user = -1;
  std::set<int> groups;
  std::string token;
  std::string key;  // the key of its leases; empty: it cannot hold any
};

// What a setter was asked to do, as the GPU logs it.
struct Wish {
  std::string action;
  std::vector<std::string> lines;  // the results that are allowed
  double low = 0;                  // the value that bounds apply to
  double high = 0;
  unsigned bound = 0;  // which of a rule's bounds
};

inline bool allows(const std::vector<PlainRule>& rules, const Sender& sender, int gpu, const Wish& wish) {
  constexpr std::array<std::pair<double, double>, 3> bounds{{{150, 200}, {300, 900}, {800, 900}}};
  return std::ranges::any_of(rules, [&](const PlainRule& rule) {
    const unsigned who = rule.masks[0];
    const bool is_named = (who & 1U) != 0 || ((who & 2U) != 0 && sender.user == 1) ||
                          ((who & 4U) != 0 && sender.user == 2) || ((who & 8U) != 0 && sender.groups.contains(7)) ||
                          ((who & 16U) != 0 && sender.token == "ann") ||
                          ((who & 32U) != 0 && sender.token.starts_with("b"));
    const unsigned cards = rule.masks[1];
    const bool is_on_it = (cards & 1U) != 0 || ((cards & 2U) != 0 && gpu == 0) || ((cards & 4U) != 0 && gpu == 1) ||
                          ((cards & 8U) != 0 && gpu == 0);
    const unsigned may = rule.masks[2];
    const bool may_do = ((may & 1U) != 0 && wish.action == "power") || ((may & 2U) != 0 && wish.action == "clocks") ||
                        ((may & 4U) != 0 && wish.action == "persistence");
    if (!is_named || !is_on_it || !may_do) {
      return false;
    }
    if (wish.bound == 0 || (rule.masks[3] & wish.bound) == 0) {
      return true;
    }
    const auto [least, most] = bounds.at(wish.bound == 4U ? 2 : wish.bound - 1);
    return wish.low >= least && wish.high <= most;
  });
}

// A lenient reading of a query: what the daemon refuses reaches no setter.
inline std::map<std::string, std::string> parameters_of(std::string_view query) {
  std::map<std::string, std::string> all;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    std::string text;
    for (std::size_t i = 0; i < end; ++i) {
      unsigned byte = 0;
      const char* const digits = query.data() + i + 1;
      if (query[i] == '%' && i + 2 < end && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
        text += static_cast<char>(byte);
        i += 2;
      } else {
        text += query[i] == '+' ? ' ' : query[i];
      }
    }
    const std::size_t equals = std::min(text.find('='), text.size());
    all.emplace(text.substr(0, equals), text.substr(std::min(equals + 1, text.size())));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return all;
}

inline std::set<int> numbers_in(const std::string& text) {
  std::set<int> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    all.insert(static_cast<int>(std::strtol(text.substr(at, end - at).c_str(), nullptr, 10)));
    at = end + 1;
  }
  return all;
}

inline std::optional<Wish> wish_of(const std::string& path, std::map<std::string, std::string> parameters) {
  const auto number = [&](const char* name) { return std::strtod(parameters[name].c_str(), nullptr); };
  const auto locked = [&](const std::string& domain) {
    const double low = number("min_clock_mhz");
    const double high = number("max_clock_mhz");
    return Wish{"clocks", {fmt::format("lock {} {}-{}", domain, low, high)}, low, high, domain == "memory" ? 4U : 2U};
  };
  const auto unlocked = [](const std::string& domain) {
    Wish wish{.action = "clocks", .lines = {}};
    for (const char* const one : {"graphics", "memory", "sm"}) {
      if (domain.empty() || domain == one) {
        wish.lines.push_back(fmt::format("unlock {}", one));
      }
    }
    return wish;
  };
  if (path.ends_with("/set_power_limit")) {
    const double watts = number("power_limit_mw") / 1000;
    return Wish{"power", {fmt::format("power {}", watts)}, watts, watts, 1U};
  }
  if (path.ends_with("/set_persistence_mode")) {
    return Wish{"persistence", {parameters["enabled"] == "true" ? "persistence on" : "persistence off"}};
  }
  if (path == "/gpu/set_gpu_locked_clocks") {
    return locked("graphics");
  }
  if (path == "/gpu/set_mem_locked_clocks") {
    return locked("memory");
  }
  if (path == "/v1/leases/lock_clocks") {
    return locked(parameters["domain"]);
  }
  if (path.starts_with("/gpu/reset_")) {
    return unlocked(path.starts_with("/gpu/reset_gpu")   ? "graphics"
                    : path.starts_with("/gpu/reset_mem") ? "memory"
                                                         : "");
  }
  if (path == "/v1/leases/unlock_clocks") {
    return unlocked(parameters["domain"]);
  }
  return std::nullopt;
}

}  // namespace zeus::fuzz
