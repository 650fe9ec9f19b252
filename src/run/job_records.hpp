// What a run remembers: its job in the store, and the recurrence it is. Where the store fails, the user has chosen
// whether the training is refused (the Error goes through) or goes on unrecorded: then it is said once, and nothing is
// recorded from then on. What is wrong with the job's definition, or its name, always goes through.
// One thread; what it is given outlives it.
#pragma once

#include "jobs/job.hpp"
#include "records/job_definition.hpp"
#include "records/job_view.hpp"
#include "run/run_options.hpp"
#include "run/training_gpus.hpp"
#include "run/voice.hpp"
#include "store/job_store.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::run {

class JobRecords {
 public:
  // Opens the store and the job, and begins a recurrence.
  JobRecords(const RunOptions& options, const records::JobDevice& device, const Place& place, Voice& voice);

  // Whether things are still recorded.
  [[nodiscard]] bool kept() const { return recurrence_.has_value(); }

  // Nothing once they are not.
  std::optional<jobs::Step> next();
  void profiled(const jobs::Profiled& profiled);
  void epochs(const jobs::Progress& progress);
  void finished(const jobs::Finished& finished);
  void give_up(const std::string& reason);
  void beat();

  // Those of `all` that were not measured at a batch size yet; all of them where nothing is recorded.
  [[nodiscard]] std::vector<Watts> not_measured(int batch_size, const std::vector<Watts>& all) const;
  // The one that the job likes best of those that were; nothing where none was, or nothing is recorded.
  [[nodiscard]] std::optional<Watts> best_limit(int batch_size) const;

  // For a command that is started before it is known to be a try.
  std::uint64_t seed_of_next_try();
  std::optional<records::JobView> view();
  [[nodiscard]] std::uint64_t recurrence() const { return number_; }
  // What it costs, as the job weighs it.
  [[nodiscard]] Joules cost(Joules energy, Seconds time) const;

 private:
  void keep(const std::function<void()>& body);

  bool needed_;
  Voice& voice_;
  std::unique_ptr<store::JobStore> store_;
  std::optional<jobs::Site> site_;
  std::optional<jobs::Job> job_;
  std::optional<jobs::Recurrence> recurrence_;
  std::uint64_t number_ = 0;
};

}  // namespace zeus::run
