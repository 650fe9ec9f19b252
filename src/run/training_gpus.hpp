// The GPUs that a command trains on: how a job knows them, whether this user may set them, and the monitor and session
// over them. One thread.
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
#include "train/live_parts.hpp"
#include "train/session.hpp"
#include "train/session_parts.hpp"
#include "trial/job_gpus.hpp"

#include <zeus/error.hpp>
#include <zeus/measure.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::run {

// Where a program runs. The clock and the environment outlive the objects made with it.
struct Place {
  Clock& clock;
  const Environment& environment;
  FileTree machine;
  std::vector<device::Backend*> backends;
  std::filesystem::path beside;                       // our program's folder, with the guardian
  std::shared_ptr<control::Lessor> lessor = nullptr;  // leases GPUs to this process; null where nothing does
};

class TrainingGpus {
 public:
  // All GPUs that the command would see, or the named ones among them. Throws the errors of device::numbers_of.
  TrainingGpus(const Place& place, const std::optional<std::vector<std::string>>& names);

  // A monitor and a lessor from the caller: `gpus` are all that `monitor` numbers, in that order.
  struct Parts {
    std::vector<std::shared_ptr<device::Gpu>> gpus;
    std::shared_ptr<Monitor> monitor;
    std::function<control::LeaseBook()> open_book;
    Clock& clock;
    train::AllowedLimits allowed = train::allowed_limits_of(nullptr);
  };
  explicit TrainingGpus(Parts parts);

  [[nodiscard]] bool none() const { return gpus_.empty(); }
  [[nodiscard]] Monitor& monitor() const { return *parts_.monitor; }
  [[nodiscard]] std::string uuid(int number) const;
  [[nodiscard]] std::vector<const device::Gpu*> devices() const;
  [[nodiscard]] std::vector<RunRecord::Gpu> listed() const;

  // Why this user may not set any of these limits (empty: any in steps of 25 W), or why these GPUs have none to set;
  // empty if setting works. A GPU that another process has leased counts as settable. The first call asks the devices,
  // by setting what is set already, or the nearest limit that a policy allows.
  const std::optional<Error>& why_not_settable(const std::vector<Watts>& limits);
  // Why that could not be found out, because the lessor is away: sessions take their leases once it is back, and which
  // limits a policy allows is not known until then. Mostly empty.
  [[nodiscard]] const std::optional<Error>& lessor_away() const { return lessor_away_; }

  // These limits, ascending, each once; if there are none, steps of 25 W from the highest limit down. Throws an
  // invalid_argument Error for limits that not all GPUs can have, and an unavailable Error for GPUs that do not report
  // their bounds.
  [[nodiscard]] std::vector<Watts> possible(const std::vector<Watts>& limits) const;
  // The device of a job, with those of the possible limits that a policy allows; only the limit in force if limits
  // cannot be set. Throws as possible() does.
  [[nodiscard]] records::JobDevice device(const std::vector<Watts>& limits, bool set) const;

  // The present limit; empty if the GPUs differ or do not report it.
  [[nodiscard]] std::optional<Watts> limit_in_force() const;

  // A session over all of them.
  std::unique_ptr<train::Session> open(const TrainingOptions& options);

 private:
  [[nodiscard]] std::optional<Error> try_to_set();
  // With `bounds`, GPUs that do not report theirs are an unavailable Error.
  [[nodiscard]] std::vector<trial::JobGpu> job_gpus(bool bounds) const;

  Parts parts_;
  std::vector<train::SessionGpu> gpus_;  // those of them that are measured
  std::optional<std::optional<Error>> why_not_;
  std::optional<Error> lessor_away_;
};

}  // namespace zeus::run
