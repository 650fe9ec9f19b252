// The GPUs of this process, set as one: the same setting for all, under a lease of each. Each GPU is put back to the
// settings that it was found with. One thread; belongs to the session.
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
  // Leaves out the GPUs that another rank speaks for.
  void leave_out(const std::vector<std::string>& uuids);

  // What all of them allow and can do. Throws an Error that names a GPU that does not report it.
  struct Range {
    Watts lowest;
    Watts highest;
    Watts max_power;                // the sum of the highest limits
    std::optional<Watts> found;     // in force now; empty if they differ
    std::vector<Megahertz> clocks;  // to which all can be locked, highest first; empty if one cannot be locked
    // What a policy allows within that range, for each GPU that it bounds.
    std::vector<std::vector<device::WattRange>> allowed;

    template <typename Fields, typename Self>
    static void describe(Fields& fields, Self& self) {
      fields("lowest", self.lowest);
      fields("highest", self.highest);
      fields("max_power", self.max_power);
      fields("found", self.found);
      fields("clocks", self.clocks);
      fields("allowed", self.allowed);
    }
  };
  [[nodiscard]] Range range() const;
  // Range::allowed, as known now: a daemon that was away says later what it allows.
  [[nodiscard]] std::vector<std::vector<device::WattRange>> allowed() const;
  [[nodiscard]] std::string product() const;

  // Takes the leases that are not held yet. Throws the errors of its `acquire`; call release() then.
  void lease();
  // Sets all GPUs, and returns the lowest limit that is enforced. Throws the errors of control::Lease's setters; some
  // of the GPUs may then have been set, so call apply(), restore() or release() next.
  std::optional<Watts> apply(const records::PowerSetting& setting);
  // Whether another program has changed the last setting of a GPU, and how (control::Lease::overruled); mostly empty.
  // Throws control::LessorAway if the lessor cannot say so now.
  [[nodiscard]] std::string overruled() const;
  // The same, but for a lessor that was restarted: it has set it again by now.
  [[nodiscard]] std::string overruled_still() const;
  // Restores what was found. Throws the errors of control::Lease::restore().
  void restore();
  // Throws the errors of control::Lease::renew().
  void renew();
  // Restores what was found and gives up the leases. Failures are logged.
  void release() noexcept;
  [[nodiscard]] bool leased() const { return !leases_.empty(); }

  // For how long the power limit of each GPU has held its clocks down so far; empty for a GPU that does not count that.
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
