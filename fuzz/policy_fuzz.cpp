// Any text as a policy (a form feed begins its second file). It is refused with a place in it, or decides as an
// independently written evaluator does, which judges rule by rule.

#include "daemon/policy.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using zeus::ClockDomain;
using zeus::ClockRange;
using zeus::Megahertz;
using zeus::Seconds;
using zeus::Watts;
using zeus::daemon::Action;
using zeus::daemon::AskedFor;
using zeus::daemon::Asker;
using zeus::daemon::GpuAsked;
using zeus::daemon::NameLookup;
using zeus::daemon::Policy;
using zeus::daemon::PolicyGpu;
using zeus::daemon::PolicyText;
using zeus::daemon::Principal;
using zeus::daemon::Rule;
using zeus::daemon::Verdict;

const NameLookup& known_names() {
  static const auto number_of = [](const std::string& name) {
    return name == "ann" ? std::optional<std::uint32_t>{1000} : std::nullopt;
  };
  static const NameLookup known{.user = number_of, .group = number_of};
  return known;
}

const std::vector<Asker>& askers() {
  static const std::vector<Asker> all{{.user = 1000, .groups = {1000}, .token = {}},
                                      {.user = 0, .groups = {}, .token = {}},
                                      {.user = 2, .groups = {2, 1000}, .token = "ann"},
                                      {.user = {}, .groups = {}, .token = "ci-7"},
                                      {.user = {}, .groups = {}, .token = {}}};
  return all;
}

const std::vector<AskedFor>& possible_requests() {
  static const std::vector<AskedFor> all = [] {
    std::vector<AskedFor> made{{.action = Action::read_cpu}};
    for (const GpuAsked& gpu : {GpuAsked{0, "GPU-0"}, GpuAsked{1, "GPU-1"}}) {
      made.push_back({.action = Action::read, .gpu = gpu});
      made.push_back({.action = Action::set_persistence, .gpu = gpu});
      for (const double watts : {1.0, 100.0, 200.5, 1e9}) {
        made.push_back({.action = Action::set_power_limit, .gpu = gpu, .power_limit = Watts{watts}});
      }
      for (const ClockDomain domain : {ClockDomain::graphics, ClockDomain::sm, ClockDomain::memory}) {
        made.push_back({.action = Action::lock_clocks,
                        .gpu = gpu,
                        .domain = domain,
                        .clocks = ClockRange{Megahertz{210}, Megahertz{1410}}});
      }
    }
    return made;
  }();
  return all;
}

bool is_about(const Principal& who, const Asker& asker) {
  switch (who.kind) {
    case Principal::Kind::everyone:
      return true;
    case Principal::Kind::user:
      return asker.user.has_value() && who.id == asker.user;
    case Principal::Kind::group:
      return std::ranges::count_if(asker.groups, [&](auto group) { return who.id == group; }) > 0;
    case Principal::Kind::token:
      if (!asker.token) {
        return false;
      }
      return who.name.back() == '*'
                 ? asker.token->compare(0, who.name.size() - 1, who.name, 0, who.name.size() - 1) == 0
                 : *asker.token == who.name;
  }
  return false;
}

bool is_about(const PolicyGpu& named, const GpuAsked& gpu) {
  // Numbers may have leading zeros.
  const std::size_t digits = named.name.find_first_not_of('0');
  const std::string number = digits == std::string::npos ? "0" : named.name.substr(digits);
  return named.name == "all" || named.name == gpu.uuid || number == std::to_string(gpu.number);
}

bool allows(const Rule& rule, const Asker& asker, const AskedFor& asked) {
  const auto one_of = [](const auto& list, const auto& is) { return std::ranges::any_of(list, is); };
  if (!one_of(rule.may, [&](Action action) { return action == asked.action; }) ||
      !one_of(rule.who, [&](const Principal& who) { return is_about(who, asker); }) ||
      (asked.gpu && !one_of(rule.gpus, [&](const PolicyGpu& gpu) { return is_about(gpu, *asked.gpu); }))) {
    return false;
  }
  if (asked.power_limit && rule.power_limit) {
    return *asked.power_limit >= rule.power_limit->minimum && *asked.power_limit <= rule.power_limit->maximum;
  }
  if (asked.clocks) {
    const auto& bounds = *asked.domain == ClockDomain::memory ? rule.memory_clocks : rule.graphics_clocks;
    return !bounds || (asked.clocks->minimum >= bounds->minimum && asked.clocks->maximum <= bounds->maximum);
  }
  return true;
}

void check_verdict(const Policy& policy, const Asker& asker, const AskedFor& asked) {
  bool allowed = false;
  bool lasts_for_ever = false;
  Seconds longest{0};
  for (const Rule& rule : policy.rules) {
    if (allows(rule, asker, asked)) {
      allowed = true;
      lasts_for_ever = lasts_for_ever || !rule.longest_lease;
      longest = std::max(longest, rule.longest_lease.value_or(Seconds{0}));
    }
  }
  const Verdict verdict = zeus::daemon::decide(policy, asker, asked);
  const bool is_bounded = allowed && !lasts_for_ever;
  if (verdict.allowed != allowed || verdict.why.empty() || verdict.longest_lease.has_value() != is_bounded ||
      (is_bounded && *verdict.longest_lease != longest)) {
    std::abort();
  }
}

}  // namespace

extern "C" int fuzz_policy(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const std::size_t second = text.find('\f');
  std::vector<PolicyText> files{{"policy.toml", std::string{text.substr(0, second)}}};
  if (second != std::string_view::npos) {
    files.push_back({"policy.d/job.toml", std::string{text.substr(second + 1)}});
  }
  try {
    const Policy policy = zeus::daemon::policy_from(files, known_names());
    for (const Asker& asker : askers()) {
      for (const AskedFor& asked : possible_requests()) {
        check_verdict(policy, asker, asked);
      }
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::invalid_argument || !error.message().starts_with("policy.")) {
      std::abort();
    }
  }
  return 0;
}
