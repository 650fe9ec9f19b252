// Settings of a GPU by commands instead of its driver: an operation with commands in the file of overrides runs them,
// and every other operation goes to the driver. The commands' success is not trusted: the caller reads back, as always.
//
// Any thread, as for any GpuControl, and several GPUs at once. A call takes as long as its commands may (longest()), so
// make it on a thread that may wait. Failures are logged in full; the outcome only reports that there was one.
#pragma once

#include "backends/commands/override_plan.hpp"
#include "base/environment.hpp"
#include "device/backend.hpp"
#include "device/gpu_control.hpp"

#include <zeus/units.hpp>

#include <memory>
#include <optional>
#include <span>

namespace zeus::backends::commands {

// The environment of a command: PATH, or the system's usual one, and LANG=C.UTF-8. So its output, which error_pattern
// is matched against, is the same wherever the program was started.
Environment command_environment(const Environment& environment);

class CommandControl final : public device::GpuControl {
 public:
  // `driver` may be null: then operations without commands are unsupported. `gpu_id` replaces {gpu_id}.
  CommandControl(std::shared_ptr<const OverridePlan> plan, std::shared_ptr<device::GpuControl> driver, int gpu_id,
                 Environment environment);

  [[nodiscard]] device::Outcome set_power_limit(Watts limit) override;
  [[nodiscard]] device::Outcome lock_clocks(ClockDomain domain, ClockRange range) override;
  [[nodiscard]] device::Outcome reset_clocks(ClockDomain domain) override;
  // As the driver says, also where a command resets instead: to lock again what is still locked does no harm.
  [[nodiscard]] bool reset_frees_all_domains() const override { return driver_ && driver_->reset_frees_all_domains(); }
  [[nodiscard]] device::Outcome reset_all_clocks() override;
  [[nodiscard]] bool resets_all_clocks_at_once() const override;
  [[nodiscard]] device::Outcome set_persistence_mode(bool enabled) override;

  // The longest that the commands of any one operation may take.
  [[nodiscard]] Seconds longest() const override;

 private:
  template <typename Ask>
  device::Outcome perform(Operation operation, const PlaceValues& values, const Ask& ask_driver);
  device::Outcome run(const Override& override, Operation operation, PlaceValues values) const;

  std::shared_ptr<const OverridePlan> plan_;
  std::shared_ptr<device::GpuControl> driver_;
  int gpu_id_;
  Environment environment_;
};

// Puts commands in front of the driver of each GPU; {gpu_id} is its position. Call it on the result of take_inventory()
// before anything is leased or put back, so that both use the commands. An empty plan changes nothing.
void set_by_commands(std::span<device::DiscoveredGpu> gpus, const std::shared_ptr<const OverridePlan>& plan,
                     const Environment& environment);

}  // namespace zeus::backends::commands
