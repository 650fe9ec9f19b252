// The GPUs that a command trains on: what they are to a job, whether this user may set them, and what measures and sets
// them. One thread.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "control/lease_book.hpp"
#include "control/lessor.hpp"
#include "device/backend.hpp"
#include "device/gpu.hpp"
#include "records/job_definition.hpp"
#include "run/run_record.hpp"
#include "train/session.hpp"
#include "train/session_parts.hpp"

#include <zeus/error.hpp>
#include <zeus/measure.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::run {

// Where a program runs; the clock and the environment outlive what is made of it.
struct Place {
  Clock& clock;
  const Environment& environment;
  FileTree machine;
  std::vector<device::Backend*> backends;
  std::filesystem::path beside;                       // the folder of our program, where the guardian is looked for
  std::shared_ptr<control::Lessor> lessor = nullptr;  // who leases GPUs to this process, where somebody does
};

class TrainingGpus {
 public:
  // All that the command would see, or those of them that are named; Errors are those of device::numbers_of.
  TrainingGpus(const Place& place, const std::optional<std::vector<std::string>>& names);

  // What measures and sets GPUs, for whoever brings it: `gpus` are all that `monitor` numbers, in that order.
  struct Parts {
    std::vector<std::shared_ptr<device::Gpu>> gpus;
    std::shared_ptr<Monitor> monitor;
    std::function<control::LeaseBook()> open_book;
    Clock& clock;
  };
  explicit TrainingGpus(Parts parts);

  [[nodiscard]] bool none() const { return gpus_.empty(); }
  [[nodiscard]] Monitor& monitor() const { return *parts_.monitor; }
  [[nodiscard]] std::string uuid(int number) const;
  [[nodiscard]] std::vector<const device::Gpu*> devices() const;
  [[nodiscard]] std::vector<RunRecord::Gpu> listed() const;

  // Why this user may not set power limits, or these GPUs have none to be set; nothing when it is possible. A GPU that
  // somebody else has a lease of now can be set as such. Asked of the devices, by setting what is set, the first time.
  const std::optional<Error>& why_not_settable();

  // As jobs know them: `limits`, or without any, steps of 25 W from the highest limit down; the one in force alone
  // where they cannot be set. Limits that not all GPUs allow are an invalid_argument Error, and GPUs that do not say
  // what they allow an unavailable one.
  records::JobDevice device(const std::vector<Watts>& limits, bool set);

  // Now; nothing where they differ, or do not say.
  [[nodiscard]] std::optional<Watts> limit_in_force() const;

  // A session on all of them.
  std::unique_ptr<train::Session> open(const TrainingOptions& options);

 private:
  [[nodiscard]] std::optional<Error> try_to_set();

  Parts parts_;
  std::vector<train::SessionGpu> gpus_;  // of them, those that are measured
  std::optional<std::optional<Error>> why_not_;
};

}  // namespace zeus::run
