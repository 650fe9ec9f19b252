// The GPUs of this machine that a job trains on, by what libzeus.so shows of them: who they are, which limits they
// take, and what measures them. One thread.
#pragma once

#include "records/job_definition.hpp"

#include <zeus/device.hpp>
#include <zeus/job.hpp>
#include <zeus/measure.hpp>
#include <zeus/units.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::job_library {

class LiveDevices {
 public:
  // No GPU at all is an unavailable Error, one that was asked for and is not there a not_found Error, and limits that
  // cannot be set are an invalid_argument Error. Where none may be set by this user, that is said, and they stay.
  explicit LiveDevices(const JobOptions& options);

  [[nodiscard]] const records::JobDevice& device() const { return device_; }
  [[nodiscard]] bool sets_limits() const { return sets_limits_; }
  [[nodiscard]] const std::vector<Gpu>& gpus() const { return gpus_; }
  [[nodiscard]] const std::map<int, std::string>& uuids() const { return uuids_; }
  [[nodiscard]] const std::shared_ptr<Monitor>& monitor() const { return monitor_; }
  // The one that all of them have; nothing when they differ, or one cannot say.
  [[nodiscard]] std::optional<Watts> limit_in_force() const;

 private:
  void describe(const std::vector<Watts>& limits);
  [[nodiscard]] std::string why_not_settable() const;

  std::shared_ptr<Monitor> monitor_;
  std::vector<Gpu> gpus_;
  std::map<int, std::string> uuids_;
  bool sets_limits_;
  records::JobDevice device_;
};

}  // namespace zeus::job_library
