// A fake GPU whose setters log their calls, and which refuses, reports false success or disappears on request. It is
// for tests of code that sets devices. One thread at a time.
#pragma once

#include "tests/support/fake_gpu.hpp"

#include <zeus/device_values.hpp>

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zeus::test {

struct SettableGpu final : FakeGpu, device::GpuControl {
  explicit SettableGpu(int index)
      : FakeGpu{
            {.vendor = GpuVendor::nvidia, .uuid = fmt::format("GPU-{}", index), .index = index, .name = "Tesla V100"}} {
    its_limits = {250_W, 300_W, 100_W, 300_W, 250_W};
    its_persistence = false;
    its_clocks.sm = 1380_MHz;
  }

  // Setters have the names of the log: "power", "lock", "unlock", "persistence".
  std::map<std::string, Failure> its_refusals;
  std::optional<Watts> its_enforced_at_most;
  std::optional<Watts> it_rounds_to;
  bool it_ignores = false;         // reports success but does nothing
  std::function<void()> it_hangs;  // called once, before the next setting is applied
  // NVIDIA's and AMD's drivers do not tell; a reset by AMD's frees all domains.
  bool it_tells_locks = true;
  bool its_reset_frees_all_domains = false;
  bool it_locks_memory_clocks = true;
  std::map<ClockDomain, std::optional<ClockRange>> its_locks;  // by locked_as()
  std::vector<std::string> log;

  Reading<std::optional<ClockRange>> locked_clocks(ClockDomain domain) const override {
    if (!it_tells_locks) {
      return Reason::unsupported;
    }
    const auto found = its_locks.find(device::locked_as(domain));
    return found == its_locks.end() ? std::optional<ClockRange>{} : found->second;
  }

  device::Outcome set_power_limit(Watts limit) override {
    return told("power", fmt::format("power {}", limit.value()), [&] {
      its_limits.current = it_rounds_to ? *it_rounds_to * std::floor(limit / *it_rounds_to) : limit;
      its_limits.enforced = its_enforced_at_most ? std::min(limit, *its_enforced_at_most) : limit;
    });
  }
  device::Outcome lock_clocks(ClockDomain domain, ClockRange range) override {
    if (domain == ClockDomain::memory && !it_locks_memory_clocks) {
      return Reason::unsupported;
    }
    return told("lock", fmt::format("lock {} {}-{}", to_string(domain), range.minimum.value(), range.maximum.value()),
                [&] { its_locks[device::locked_as(domain)] = range; });
  }
  device::Outcome reset_clocks(ClockDomain domain) override {
    if (domain == ClockDomain::memory && !it_locks_memory_clocks) {
      return Reason::unsupported;
    }
    return told("unlock", fmt::format("unlock {}", to_string(domain)), [&] {
      its_locks[device::locked_as(domain)] = std::nullopt;
      if (its_reset_frees_all_domains) {
        its_locks.clear();
      }
    });
  }
  [[nodiscard]] bool reset_frees_all_domains() const override { return its_reset_frees_all_domains; }
  device::Outcome set_persistence_mode(bool enabled) override {
    return told("persistence", fmt::format("persistence {}", enabled ? "on" : "off"),
                [&] { its_persistence = enabled; });
  }

 private:
  device::Outcome told(const std::string& setter, const std::string& line, const std::function<void()>& change) {
    log.push_back(line);
    if (it_hangs) {
      std::exchange(it_hangs, nullptr)();
    }
    if (const auto refusal = its_refusals.find(setter); refusal != its_refusals.end()) {
      return refusal->second;
    }
    if (!it_ignores) {
      change();
    }
    return device::done;
  }
};

inline device::DiscoveredGpu discovered(const std::shared_ptr<SettableGpu>& gpu) {
  return {gpu, gpu, gpu->identity().index};
}

}  // namespace zeus::test
