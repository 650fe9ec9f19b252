// The GPUs of this process as one thing that is set: one setting for all of them, under a lease of each, put back to
// what each was found with. One thread; belongs to the session.
#pragma once

#include "control/lease.hpp"
#include "records/power_setting.hpp"
#include "train/session_parts.hpp"

#include <zeus/device_values.hpp>
#include <zeus/units.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::train {

class GpuGroup {
 public:
  using Acquire = std::function<control::Lease(std::string_view uuid, Seconds term)>;

  GpuGroup(std::vector<SessionGpu> gpus, Acquire acquire, Seconds term);

  [[nodiscard]] const std::vector<SessionGpu>& gpus() const { return gpus_; }
  [[nodiscard]] std::size_t size() const { return gpus_.size(); }
  // Leaves out those that another rank speaks for.
  void leave_out(const std::vector<std::string>& uuids);

  // What all of them allow and can do; Errors name the GPU that cannot say.
  struct Range {
    Watts lowest;
    Watts highest;
    Watts max_power;                // the highest limits, summed
    std::optional<Watts> found;     // in force now, when it is the same for all
    std::vector<Megahertz> clocks;  // to which all can be locked, from the highest down; empty when one cannot

    template <typename Fields, typename Self>
    static void describe(Fields& fields, Self& self) {
      fields("lowest", self.lowest);
      fields("highest", self.highest);
      fields("max_power", self.max_power);
      fields("found", self.found);
      fields("clocks", self.clocks);
    }
  };
  [[nodiscard]] Range range() const;
  [[nodiscard]] std::string product() const;

  // Takes the leases where they are not held yet. Errors as of the `acquire` it was made with; call release() then.
  void lease();
  // Puts the setting in force; returns the lowest limit that is enforced. Errors as of control::Lease's setters; some
  // of the GPUs may have been set then, so that another apply(), restore() or release() is to follow.
  std::optional<Watts> apply(const records::PowerSetting& setting);
  // Why what was applied last has not been left alone on one of the GPUs (control::Lease::overruled); empty mostly.
  [[nodiscard]] std::string overruled() const;
  // As found. Errors as of control::Lease::restore().
  void restore();
  // Errors as of control::Lease::renew().
  void renew();
  // As found, and no lease any more. What fails is logged.
  void release() noexcept;
  [[nodiscard]] bool leased() const { return !leases_.empty(); }

  // For how long each one's power limit has held its clocks down so far; nothing where it does not count that.
  [[nodiscard]] std::vector<std::optional<Seconds>> capped() const;

 private:
  std::vector<SessionGpu> gpus_;
  Acquire acquire_;
  Seconds term_;
  std::vector<control::Lease> leases_;
  bool clocks_locked_ = false;
  bool changed_ = false;
};

}  // namespace zeus::train
