#include "daemon/policy.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace zeus::daemon {

namespace {

constexpr std::string_view everyone = "everyone";
constexpr std::string_view all_gpus = "all";

std::string place_in_file(const toml::TomlSpot& spot) {
  return toml::to_text(spot.file(), spot.value().place());
}

std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{number} : std::nullopt;
}

template <typename Range>
void require_order(const toml::TomlSpot& spot, const std::optional<Range>& range, std::string_view what) {
  if (range && range->maximum < range->minimum) {
    spot.refuse_as(fmt::format("the bounds of '{}' are the wrong way round", what),
                   "write the smaller one as the minimum");
  }
}

bool speaks_of(const Principal& principal, const Asker& asker) {
  switch (principal.kind) {
    case Principal::Kind::everyone:
      return true;
    case Principal::Kind::user:
      return asker.user && principal.id == *asker.user;
    case Principal::Kind::group:
      return std::ranges::any_of(asker.groups, [&](gid_t group) { return principal.id == group; });
    case Principal::Kind::token:
      break;
  }
  if (!asker.token) {
    return false;
  }
  const std::string_view name = principal.name;
  return name.ends_with('*') ? asker.token->starts_with(name.substr(0, name.size() - 1)) : *asker.token == name;
}

bool speaks_of(const PolicyGpu& named, const GpuAsked& gpu) {
  return named.name == all_gpus || named.name == gpu.uuid || number_in(named.name) == gpu.number;
}

bool covers(const Rule& rule, const Asker& asker, const AskedFor& asked) {
  return std::ranges::find(rule.may, asked.action) != rule.may.end() &&
         (!asked.gpu ||
          std::ranges::any_of(rule.gpus, [&](const PolicyGpu& named) { return speaks_of(named, *asked.gpu); })) &&
         std::ranges::any_of(rule.who, [&](const Principal& principal) { return speaks_of(principal, asker); });
}

// Why a rule that covers asker, GPU and action does not allow the request; empty if it does.
std::optional<std::string> out_of_bounds(const Rule& rule, const AskedFor& asked) {
  if (asked.power_limit && rule.power_limit &&
      (*asked.power_limit < rule.power_limit->minimum || *asked.power_limit > rule.power_limit->maximum)) {
    return fmt::format("{:.6g} W is outside the allowed range of {:.6g} to {:.6g} W", asked.power_limit->value(),
                       rule.power_limit->minimum.value(), rule.power_limit->maximum.value());
  }
  const std::optional<ClockRange>& bounds =
      asked.domain == ClockDomain::memory ? rule.memory_clocks : rule.graphics_clocks;
  if (asked.clocks && bounds && (asked.clocks->minimum < bounds->minimum || asked.clocks->maximum > bounds->maximum)) {
    return fmt::format("{} clocks from {:.6g} to {:.6g} MHz are allowed, and {:.6g} to {:.6g} MHz is beyond",
                       to_string(*asked.domain), bounds->minimum.value(), bounds->maximum.value(),
                       asked.clocks->minimum.value(), asked.clocks->maximum.value());
  }
  return std::nullopt;
}

// The larger of two bounds; empty if one side sets none.
template <typename Value>
std::optional<Value> wider(const std::optional<Value>& a, const std::optional<Value>& b) {
  return a && b ? std::optional{std::max(*a, *b)} : std::nullopt;
}

void resolve(Principal& principal, const NameLookup& names) {
  if (principal.kind != Principal::Kind::user && principal.kind != Principal::Kind::group) {
    return;
  }
  const bool user = principal.kind == Principal::Kind::user;
  principal.id = number_in(principal.name);
  if (!principal.id) {
    principal.id = (user ? names.user : names.group)(principal.name);
  }
  if (!principal.id) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("{}: there is no {} '{}' on this machine", principal.place, user ? "user" : "group",
                            principal.name),
                "write a name that `getent` finds, or a number"};
  }
}

}  // namespace

void read_toml(const toml::TomlSpot& spot, Principal& principal) {
  const std::string& text = toml::read_string(spot);
  principal.place = place_in_file(spot);
  if (text == everyone) {
    principal.kind = Principal::Kind::everyone;
    return;
  }
  const std::size_t colon = text.find(':');
  const std::string_view kind = std::string_view{text}.substr(0, colon);
  principal.name = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "user") {
    principal.kind = Principal::Kind::user;
  } else if (kind == "group") {
    principal.kind = Principal::Kind::group;
  } else if (kind == "token") {
    principal.kind = Principal::Kind::token;
  } else {
    spot.refuse("\"everyone\", \"user:NAME\", \"group:NAME\" or \"token:SUBJECT\"");
  }
  if (principal.name.empty()) {
    spot.refuse_as(fmt::format("'{}' names no user, group or token", text), "write a name or number after the colon");
  }
}

void read_toml(const toml::TomlSpot& spot, PolicyGpu& gpu) {
  if (const auto* const word = spot.value().as<std::string>()) {
    gpu.name = *word;
    if (*word != all_gpus && !number_in(*word) && word->find('-') == std::string::npos) {
      spot.refuse("\"all\", a GPU's number or its UUID", "`zeus devices` lists both");
    }
    return;
  }
  gpu.name = std::to_string(toml::read_whole(spot, field::from_zero, 0, std::numeric_limits<int>::max()));
}

void read_toml(const toml::TomlSpot& spot, Rule& rule) {
  toml::TomlFields fields{spot};  // NOLINT(misc-const-correctness): the call of a template changes it
  Rule::describe(fields, rule);
  fields.finish();
  require_order(spot, rule.power_limit, "power_limit");
  require_order(spot, rule.graphics_clocks, "graphics_clocks");
  require_order(spot, rule.memory_clocks, "memory_clocks");
  rule.place = place_in_file(spot);
}

Policy built_in_policy() {
  Rule rule;
  rule.who = {{.kind = Principal::Kind::everyone, .name = {}, .place = {}}};
  rule.gpus = {{std::string{all_gpus}}};
  for (const auto& action : names_of(Action{})) {
    rule.may.push_back(action.value);
  }
  rule.place = "the built-in rule";
  Policy policy;
  policy.rules.push_back(std::move(rule));
  return policy;
}

Policy policy_from(std::span<const PolicyText> files, const NameLookup& names) {
  Policy policy;
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto file = toml::record_from_toml<PolicyFile>(files[i].text, files[i].file);
    if (i > 0 && (file.implicit || file.waiting)) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("{}:1:1: '{}' is allowed only in the main policy file", files[i].file,
                              file.implicit ? "implicit" : "waiting"),
                  "move it there"};
    }
    policy.implicit = file.implicit.value_or(policy.implicit);
    if (file.waiting) {
      policy.longest_wait = file.waiting->longest.value_or(policy.longest_wait);
      policy.most_waiting = file.waiting->most ? static_cast<std::size_t>(*file.waiting->most) : policy.most_waiting;
    }
    for (Rule& rule : file.rule.value_or(std::vector<Rule>{})) {
      for (Principal& principal : rule.who) {
        resolve(principal, names);
      }
      policy.rules.push_back(std::move(rule));
    }
  }
  return policy;
}

std::vector<device::WattRange> allowed_power_limits(const Policy& policy, const Asker& asker, const GpuAsked& gpu) {
  std::vector<device::WattRange> ranges;
  for (const Rule& rule : policy.rules) {
    if (covers(rule, asker, {.action = Action::set_power_limit, .gpu = gpu})) {
      if (!rule.power_limit) {
        return {};
      }
      ranges.push_back(*rule.power_limit);
    }
  }
  return ranges;
}

std::vector<std::string> bounds_of(const Policy& policy, const Asker& asker, const AskedFor& asked) {
  std::vector<std::string> bounds;
  for (const Rule& rule : policy.rules) {
    if (!covers(rule, asker, asked)) {
      continue;
    }
    std::string text;
    if (asked.action == Action::set_power_limit && rule.power_limit) {
      text = fmt::format("{:.6g} to {:.6g} W", rule.power_limit->minimum.value(), rule.power_limit->maximum.value());
    } else if (asked.action == Action::lock_clocks) {
      for (const auto& [domain, range] :
           {std::pair{"graphics", &rule.graphics_clocks}, std::pair{"memory", &rule.memory_clocks}}) {
        if (*range) {
          text += fmt::format("{}{} {:.6g} to {:.6g} MHz", text.empty() ? "" : " and ", domain,
                              (*range)->minimum.value(), (*range)->maximum.value());
        }
      }
    }
    if (text.empty()) {
      return {};
    }
    bounds.push_back(text);
  }
  return bounds;
}

Verdict decide(const Policy& policy, const Asker& asker, const AskedFor& asked) {
  Verdict verdict;
  for (const Rule& rule : policy.rules) {
    if (!covers(rule, asker, asked)) {
      continue;
    }
    if (const std::optional<std::string> bound = out_of_bounds(rule, asked)) {
      if (!verdict.allowed && verdict.why.find(*bound) == std::string::npos) {
        verdict.why += (verdict.why.empty() ? "" : "; ") + *bound;
      }
      continue;
    }
    verdict.longest_lease = verdict.allowed ? wider(verdict.longest_lease, rule.longest_lease) : rule.longest_lease;
    verdict.changes_per_second =
        verdict.allowed ? wider(verdict.changes_per_second, rule.changes_per_second) : rule.changes_per_second;
    verdict.why = verdict.allowed ? verdict.why : rule.place;
    verdict.allowed = true;
  }
  if (!verdict.allowed && verdict.why.empty()) {
    verdict.why = fmt::format("no rule of this node's policy allows {}{}", field::name_of(asked.action),
                              asked.gpu ? fmt::format(" on GPU {}", asked.gpu->number) : "");
  }
  return verdict;
}

}  // namespace zeus::daemon
