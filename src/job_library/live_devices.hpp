// The GPUs of this machine that a job trains on, through libzeus.so: their identities, the limits that they take, and
// what measures them. One thread.
#pragma once

#include "protocol/jobs_api.hpp"
#include "records/job_definition.hpp"
#include "trial/job_gpus.hpp"

#include <zeus/device.hpp>
#include <zeus/job.hpp>
#include <zeus/measure.hpp>
#include <zeus/units.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::job_library {

class LiveDevices {
 public:
  // The device of the job as it is on record; empty if there is none.
  using JobsDevice = std::function<std::optional<records::JobDevice>()>;

  // Throws an unavailable Error if there is no GPU at all, not_found if a requested GPU is not there, and
  // invalid_argument if limits cannot be set. If this user may not set any, that is logged, and the limits stay. If
  // that cannot be found out because a daemon is away, the limits are those that the job knows; they are set once the
  // daemon is back.
  LiveDevices(const JobOptions& options, const JobsDevice& on_record);

  // Whether the daemon was away when limits were looked for; look_for_limits() then looks again.
  [[nodiscard]] bool daemon_was_away() const { return daemon_was_away_; }
  void look_for_limits(const JobOptions& options, const JobsDevice& on_record);

  [[nodiscard]] const records::JobDevice& device() const { return device_; }
  [[nodiscard]] bool sets_limits() const { return sets_limits_; }
  [[nodiscard]] const std::vector<Gpu>& gpus() const { return gpus_; }
  [[nodiscard]] const std::map<int, std::string>& uuids() const { return uuids_; }
  [[nodiscard]] const std::shared_ptr<Monitor>& monitor() const { return monitor_; }
  // What they do now, for a server to show.
  [[nodiscard]] std::vector<protocol::GpuNow> readings() const;
  // The limit that all of them have; nothing if limits differ, or one is unknown.
  [[nodiscard]] std::optional<Watts> limit_in_force() const;

 private:
  // With `bounds`, GPUs that do not report theirs are an unavailable Error.
  [[nodiscard]] std::vector<trial::JobGpu> job_gpus(bool bounds) const;
  // Sets daemon_was_away_.
  [[nodiscard]] std::string why_not_settable(const std::vector<Watts>& limits);

  std::shared_ptr<Monitor> monitor_;
  std::vector<Gpu> gpus_;
  std::map<int, std::string> uuids_;
  bool sets_limits_ = false;
  bool daemon_was_away_ = false;
  records::JobDevice device_;
};

}  // namespace zeus::job_library
