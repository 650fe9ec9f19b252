// The inside of a zeus::Job: a job of a store or a server, the devices that it trains on, and the current recurrence,
// whose driver learns what the user's loop does. Rules of threads, forks and failures as in zeus/job.hpp.
#pragma once

#include "base/clock.hpp"
#include "job_library/live_devices.hpp"
#include "job_library/live_gpus.hpp"
#include "job_library/loop.hpp"
#include "job_library/reported_instruments.hpp"
#include "jobs/driver.hpp"
#include "jobs/keeper.hpp"
#include "records/job_definition.hpp"
#include "store/open_store.hpp"
#include "trial/gpu_instruments.hpp"
#include "trial/instruments.hpp"

#include <zeus/error.hpp>
#include <zeus/job.hpp>

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::job_library {

class OpenJob {
 public:
  OpenJob(std::string_view name, const JobDefinition* definition, const JobOptions& options);
  OpenJob(const OpenJob&) = delete;
  OpenJob& operator=(const OpenJob&) = delete;
  ~OpenJob();

  // An Error in a forked child.
  void require_here() const;
  [[nodiscard]] bool is_here() const noexcept;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] JobDefinition definition();
  [[nodiscard]] JobSummary summary();
  [[nodiscard]] bool reached() const { return reached_; }
  [[nodiscard]] std::string unrecorded() const { return unrecorded_ ? unrecorded_->what() : ""; }

  // The number of the training for the next try; nothing if the recurrence is over.
  std::optional<std::uint64_t> next_try();
  // Gives up the current recurrence; make no other call after that.
  void close();

  // The training with this number: an Error unless it is the latest one.
  Loop& training(std::uint64_t number);
  [[nodiscard]] std::optional<int> max_epochs(std::uint64_t number);
  [[nodiscard]] std::optional<Joules> cost_limit(std::uint64_t number);
  [[nodiscard]] std::string why(std::uint64_t number);
  [[nodiscard]] const std::optional<TrainingTarget>& target() const { return target_; }
  [[nodiscard]] std::optional<Watts> limit(std::uint64_t number);
  ReportedInstruments& reported(std::uint64_t number);
  [[nodiscard]] std::vector<Watts> to_measure(std::uint64_t number);

  bool next_epoch(std::uint64_t number);
  void begin_step(std::uint64_t number);
  void end(std::uint64_t number, int exit_code);
  // Lets the driver process what has happened.
  void tell_driver();

 private:
  [[nodiscard]] std::unique_ptr<jobs::Keeper> keeper(store::Access access);
  void open(const JobDefinition* definition);
  // These are false if the job's server is away.
  bool define(const JobDefinition& definition);
  bool is_answered(const std::function<void()>& question);
  // The definition as it is now.
  [[nodiscard]] records::JobDefinition known();
  void find_devices();
  void take_device();
  std::optional<records::JobDevice> on_record();
  // False if the job's server is away, and a training begins that is not recorded.
  bool begin();
  void begin_recurrence();
  void set_terms();
  void begin_alone();
  std::optional<std::uint64_t> end_alone();
  void make_instruments();
  void hear(const jobs::DriverEvent& event);

  pid_t owner_;
  Clock& clock_;
  std::string name_;
  JobOptions options_;
  std::optional<LiveDevices> live_;  // outlives the keeper, which reads them for its server
  std::unique_ptr<jobs::Keeper> keeper_;
  bool served_ = false;                  // by a server, not by a store
  std::optional<JobDefinition> wanted_;  // while its server has not seen it
  records::JobDefinition definition_;    // of the current recurrence, or the last one

  std::optional<records::JobDevice> device_;
  bool sets_limits_ = true;
  ReportedInstruments* reported_ = nullptr;  // if the devices are elsewhere; otherwise null
  std::optional<LiveGpus> gpus_;             // otherwise
  trial::GpuInstruments* limits_ = nullptr;  // over these
  std::unique_ptr<trial::Instruments> instruments_;
  std::optional<Loop> training_;
  std::optional<jobs::Driver> driver_;
  bool alone_ = false;  // a training without a driver
  std::optional<TrainingTarget> target_;
  std::optional<records::TryPlan> plan_;  // of the current try, if there is one
  std::string why_;
  bool reached_ = false;
  bool closed_ = false;
  std::atomic<bool> leaves_ = false;  // without waiting for a server
  Instant told_at_;
  std::optional<Error> unrecorded_;
};

}  // namespace zeus::job_library
