// Random policies and requests, judged by policy.cpp and by an evaluator that was written independently of it. The
// evaluator knows the file as text and the request as words, and nothing of Rule, Principal or Verdict.

#include "base/random.hpp"
#include "daemon/policy.hpp"
#include "tests/support/population.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace zeus::daemon {
namespace {

// A rule as the file has it: each key with its words.
struct PlainRule {
  std::set<std::string> who;
  std::set<std::string> gpus;
  std::set<std::string> may;
  std::map<std::string, std::pair<int, int>> bounds;
  std::map<std::string, int> numbers;

  [[nodiscard]] std::string toml() const {
    std::string text = "[[rule]]\n";
    const auto list = [&](const char* key, const std::set<std::string>& words) {
      text += fmt::format("{} = [", key);
      for (const std::string& word : words) {
        const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
        text += is_number ? word + ", " : fmt::format("\"{}\", ", word);
      }
      text += "]\n";
    };
    list("who", who);
    list("gpus", gpus);
    list("may", may);
    for (const auto& [key, range] : bounds) {
      const char* const unit = key == "power_limit" ? "w" : "mhz";
      text += fmt::format("{} = {{minimum_{} = {}, maximum_{} = {}}}\n", key, unit, range.first, unit, range.second);
    }
    for (const auto& [key, number] : numbers) {
      text += fmt::format("{} = {}\n", key, number);
    }
    return text;
  }
};

struct PlainRequest {
  int user = -1;  // none
  std::set<int> groups;
  std::string token;  // empty: none
  std::string action;
  int gpu = 0;
  int watts = 0;               // 0: none
  std::string domain;          // empty: none
  std::pair<int, int> clocks;  // with a domain
};

bool matches_somebody(const PlainRule& rule, const PlainRequest& request) {
  if (rule.who.contains("everyone") || (request.user >= 0 && rule.who.contains(fmt::format("user:{}", request.user)))) {
    return true;
  }
  for (const int group : request.groups) {
    if (rule.who.contains(fmt::format("group:{}", group))) {
      return true;
    }
  }
  for (std::size_t length = 0; !request.token.empty() && length <= request.token.size(); ++length) {
    if (rule.who.contains("token:" + request.token.substr(0, length) + "*")) {
      return true;
    }
  }
  return !request.token.empty() && rule.who.contains("token:" + request.token);
}

bool allows(const PlainRule& rule, const PlainRequest& request) {
  if (!rule.may.contains(request.action) || !matches_somebody(rule, request)) {
    return false;
  }
  if (request.action != "read_cpu" && !rule.gpus.contains("all") && !rule.gpus.contains(std::to_string(request.gpu)) &&
      !rule.gpus.contains(fmt::format("GPU-{}", request.gpu))) {
    return false;
  }
  const auto within = [&](const std::string& key, int low, int high) {
    const auto bound = rule.bounds.find(key);
    return bound == rule.bounds.end() || (low >= bound->second.first && high <= bound->second.second);
  };
  return (request.watts == 0 || within("power_limit", request.watts, request.watts)) &&
         (request.domain.empty() || within(request.domain == "memory" ? "memory_clocks" : "graphics_clocks",
                                           request.clocks.first, request.clocks.second));
}

// The largest bound among the rules that allow; empty if one of them sets none.
std::optional<int> widest(const std::vector<PlainRule>& rules, const PlainRequest& request, const std::string& key) {
  int most = 0;
  for (const PlainRule& rule : rules) {
    if (allows(rule, request)) {
      if (!rule.numbers.contains(key)) {
        return std::nullopt;
      }
      most = std::max(most, rule.numbers.at(key));
    }
  }
  return most;
}

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : draws_{seed, 0, 0} {}

  int upto(int most) { return static_cast<int>(draws_.bits() % (static_cast<std::uint64_t>(most) + 1)); }
  bool now_and_then() { return upto(2) == 0; }
  std::set<std::string> some(const std::vector<std::string>& words) {
    std::set<std::string> chosen;
    const int count = 1 + upto(2);
    for (int i = 0; i < count; ++i) {
      chosen.insert(words[static_cast<std::size_t>(upto(static_cast<int>(words.size()) - 1))]);
    }
    return chosen;
  }
  std::pair<int, int> range() {
    const int low = 1 + upto(9);
    const int high = low + upto(9);
    return {low, high};
  }

 private:
  Random draws_;
};

PlainRule draw_rule(Draws& draws) {
  PlainRule rule;
  rule.who =
      draws.some({"everyone", "user:1", "user:2", "group:1", "group:2", "token:a", "token:ab", "token:a*", "token:*"});
  rule.gpus = draws.some({"all", "0", "1", "GPU-0", "GPU-1"});
  rule.may = draws.some({"read", "read_cpu", "set_power_limit", "lock_clocks", "set_persistence"});
  for (const char* const key : {"power_limit", "graphics_clocks", "memory_clocks"}) {
    if (draws.now_and_then()) {
      rule.bounds[key] = draws.range();
    }
  }
  for (const char* const key : {"longest_lease_s", "changes_per_second"}) {
    if (draws.now_and_then()) {
      rule.numbers[key] = 1 + draws.upto(9);
    }
  }
  return rule;
}

PlainRequest draw_request(Draws& draws) {
  PlainRequest request;
  request.user = draws.upto(3) - 1;
  if (draws.now_and_then()) {
    request.groups = {draws.upto(3), draws.upto(3)};
  }
  request.token = std::vector<std::string>{"", "a", "ab", "b"}[static_cast<std::size_t>(draws.upto(3))];
  request.action = *draws.some({"read", "read_cpu", "set_power_limit", "lock_clocks", "set_persistence"}).begin();
  request.gpu = draws.upto(2);
  if (request.action == "set_power_limit" && !draws.now_and_then()) {
    request.watts = 1 + draws.upto(19);
  }
  if (request.action == "lock_clocks" && !draws.now_and_then()) {
    request.domain = std::vector<std::string>{"graphics", "sm", "memory"}[static_cast<std::size_t>(draws.upto(2))];
    request.clocks = draws.range();
  }
  return request;
}

AskedFor asked_for(const PlainRequest& request) {
  AskedFor asked{.action = *field::named<Action>(request.action)};
  if (asked.action != Action::read_cpu) {
    asked.gpu = GpuAsked{request.gpu, fmt::format("GPU-{}", request.gpu)};
  }
  if (request.watts > 0) {
    asked.power_limit = Watts{static_cast<double>(request.watts)};
  }
  if (!request.domain.empty()) {
    asked.domain = field::named<ClockDomain>(request.domain);
    asked.clocks = ClockRange{Megahertz{static_cast<double>(request.clocks.first)},
                              Megahertz{static_cast<double>(request.clocks.second)}};
  }
  return asked;
}

TEST(RandomPolicy, AgreesWithAnIndependentEvaluator) {
  constexpr int pairs = test::drawn(10000);
  int allowed = 0;
  for (int i = 0; i < pairs; ++i) {
    Draws draws{static_cast<std::uint64_t>(i)};
    std::vector<PlainRule> rules;
    const int count = draws.upto(4);
    std::string text;
    for (int rule = 0; rule < count; ++rule) {
      rules.push_back(draw_rule(draws));
      text += rules.back().toml();
    }
    const PlainRequest request = draw_request(draws);
    Asker asker;
    if (request.user >= 0) {
      asker.user = static_cast<uid_t>(request.user);
    }
    for (const int group : request.groups) {
      asker.groups.push_back(static_cast<gid_t>(group));
    }
    if (!request.token.empty()) {
      asker.token = request.token;
    }
    const std::vector<PolicyText> files{{"policy.toml", text}};
    const Verdict verdict = decide(policy_from(files, {}), asker, asked_for(request));
    const bool expected = std::ranges::any_of(rules, [&](const PlainRule& rule) { return allows(rule, request); });
    ASSERT_EQ(verdict.allowed, expected) << text;
    if (expected) {
      ++allowed;
      const std::optional<int> longest = widest(rules, request, "longest_lease_s");
      ASSERT_EQ(verdict.longest_lease, longest ? std::optional{Seconds{static_cast<double>(*longest)}} : std::nullopt)
          << text;
      const std::optional<int> changes = widest(rules, request, "changes_per_second");
      ASSERT_EQ(verdict.changes_per_second, changes ? std::optional{static_cast<double>(*changes)} : std::nullopt)
          << text;
    }
  }
  EXPECT_GT(allowed, pairs / 20) << "both answers must occur";
}

}  // namespace
}  // namespace zeus::daemon
