#include "control/put_back.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string_view>
#include <vector>

namespace zeus::control {

using device::DiscoveredGpu;
using device::Outcome;

namespace {

// Drivers keep whole milliwatts.
bool agree(Watts a, Watts b) {
  return std::abs((a - b).value()) < 1e-3;
}

class Attempt {
 public:
  explicit Attempt(const DiscoveredGpu& gpu) : gpu_{gpu} {}

  void power_limit(Watts found) {
    const Reading<Watts> before = gpu_.gpu->power_limits().current;
    if (before && agree(*before, found)) {
      return;
    }
    const std::string name = fmt::format("power limit {:.6g} W", found.value());
    if (!accepted(gpu_.control->set_power_limit(found), name)) {
      return;
    }
    const Reading<Watts> after = gpu_.gpu->power_limits().current;
    if (!after || !agree(*after, found)) {
      fail(name, after ? fmt::format("the driver reports {:.6g} W after it was set", after->value())
                       : to_string(after.failure()));
    }
  }

  // Resets first: some drivers free all domains with one.
  void clocks(const std::map<ClockDomain, FoundClocks>& found) {
    for (const bool locks : {false, true}) {
      for (const auto& [domain, clocks_found] : found) {
        if (clocks_found.locked_to.has_value() == locks) {
          clocks(domain, clocks_found);
        }
      }
    }
  }

  void clocks(ClockDomain domain, const FoundClocks& found) {
    const Reading<std::optional<ClockRange>> before = gpu_.gpu->locked_clocks(domain);
    if (found.known && before && *before == found.locked_to) {
      return;
    }
    const std::string name = fmt::format("{} clocks", to_string(domain));
    const Outcome outcome =
        found.locked_to ? gpu_.control->lock_clocks(domain, *found.locked_to) : gpu_.control->reset_clocks(domain);
    if (!found.locked_to && !outcome && outcome.failure().reason == Reason::unsupported) {
      return;  // what this GPU cannot lock is free
    }
    if (!accepted(outcome, name)) {
      return;
    }
    const Reading<std::optional<ClockRange>> after = gpu_.gpu->locked_clocks(domain);
    if (after && *after != found.locked_to) {
      fail(name, "the driver reports another range after they were set");
    }
  }

  void persistence_mode(bool found) {
    const Reading<bool> before = gpu_.gpu->persistence_mode();
    if (before && *before == found) {
      return;
    }
    const std::string name = fmt::format("persistence mode {}", found ? "on" : "off");
    if (!accepted(gpu_.control->set_persistence_mode(found), name)) {
      return;
    }
    const Reading<bool> after = gpu_.gpu->persistence_mode();
    if (!after || *after != found) {
      fail(name, after ? "the driver reports another mode after it was set" : to_string(after.failure()));
    }
  }

  [[nodiscard]] std::optional<std::string> failures() const {
    return failures_.empty() ? std::nullopt : std::optional{fmt::format("{}", fmt::join(failures_, "; "))};
  }

 private:
  bool accepted(const Outcome& outcome, const std::string& name) {
    if (!outcome) {
      fail(name, to_string(outcome.failure()));
    }
    return static_cast<bool>(outcome);
  }
  void fail(const std::string& name, std::string_view why) { failures_.push_back(fmt::format("{}: {}", name, why)); }

  const DiscoveredGpu& gpu_;
  std::vector<std::string> failures_;
};

}  // namespace

std::optional<std::string> put_back(const Found& found, const DiscoveredGpu& gpu) {
  if (found.empty()) {
    return std::nullopt;
  }
  if (!gpu.control) {
    return "nothing can be set on this GPU";
  }
  Attempt attempt{gpu};
  attempt.clocks(found.clocks);
  if (found.power_limit) {
    attempt.power_limit(*found.power_limit);
  }
  // Last: without persistence mode, and without a client, the driver forgets the other settings.
  if (found.persistence_mode) {
    attempt.persistence_mode(*found.persistence_mode);
  }
  return attempt.failures();
}

}  // namespace zeus::control
