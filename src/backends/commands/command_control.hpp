// Settings of a GPU by commands in place of its driver: an operation that has commands in the file of overrides runs
// them, every other goes to the driver. What the commands say is not believed: whoever sets reads back, as always.
//
// Any thread, as any GpuControl, and several GPUs at once; a call takes as long as its commands may (longest()), so it
// belongs on a thread that may wait. What went wrong goes to the log, whole; the outcome says only that it did.
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

// What a command gets of an environment: PATH, or the system's usual one, and LANG=C.UTF-8, so that what it prints, and
// what error_pattern looks for, is the same wherever the program was started.
Environment command_environment(const Environment& environment);

class CommandControl final : public device::GpuControl {
 public:
  // `driver` may be null: what has no commands is unsupported then. `gpu_id` is what {gpu_id} stands for.
  CommandControl(std::shared_ptr<const OverridePlan> plan, std::shared_ptr<device::GpuControl> driver, int gpu_id,
                 Environment environment);

  [[nodiscard]] device::Outcome set_power_limit(Watts limit) override;
  [[nodiscard]] device::Outcome lock_clocks(ClockDomain domain, ClockRange range) override;
  [[nodiscard]] device::Outcome reset_clocks(ClockDomain domain) override;
  [[nodiscard]] device::Outcome reset_all_clocks() override;
  [[nodiscard]] bool resets_all_clocks_at_once() const override;
  [[nodiscard]] device::Outcome set_persistence_mode(bool enabled) override;

  // Of the commands of an operation, the most that they may take.
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

// Puts commands before the driver of each GPU; {gpu_id} is its position. To be done with what take_inventory() has
// found before anything is leased or put back, so that both go the same way. An empty plan changes nothing.
void set_by_commands(std::span<device::DiscoveredGpu> gpus, const std::shared_ptr<const OverridePlan>& plan,
                     const Environment& environment);

}  // namespace zeus::backends::commands
