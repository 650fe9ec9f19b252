// What a Driver asks of a recurrence and its job, whether they are kept in a store of this process (below) or by a
// server. One thread at a time, except for beat(). Errors are those of jobs/job.hpp.
#pragma once

#include "jobs/job.hpp"
#include "optimize/batch_size/job_spec.hpp"
#include "records/job_definition.hpp"
#include "records/limit_profile.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::jobs {

// Whether a question waits for its answer, if the server that knows it is away.
enum class Wait { no, yes };

class RecurrenceLink {
 public:
  RecurrenceLink() = default;
  RecurrenceLink(const RecurrenceLink&) = delete;
  RecurrenceLink& operator=(const RecurrenceLink&) = delete;
  // Gives the recurrence up if it is not over, as far as possible.
  virtual ~RecurrenceLink() = default;

  [[nodiscard]] virtual const records::JobDefinition& definition() const = 0;
  // What policies see, for the devices of the recurrence.
  [[nodiscard]] virtual const optimize::JobSpec& spec() const = 0;
  // As in Job, for the batch size of the last answer of next().
  [[nodiscard]] virtual std::vector<records::LimitProfile> limits(int batch_size) const = 0;
  [[nodiscard]] virtual std::optional<Seconds> run_time(int batch_size) const = 0;
  virtual std::uint64_t seed_of_next_try() = 0;
  // Whether a try of this batch size, and of any other, has ever reached the target.
  struct Worked {
    bool here = false;
    bool elsewhere = false;
  };
  virtual Worked worked(int batch_size) = 0;

  [[nodiscard]] virtual std::uint64_t number() const = 0;  // from 1, over the whole life of the job

  // As in Recurrence. next() and claim() return nothing if they do not wait and the answer is not there yet; then the
  // same call must follow until it is.
  [[nodiscard]] virtual bool over() const = 0;
  virtual std::optional<Step> next(Wait wait) = 0;
  virtual std::optional<records::TryStarted> claim(int batch_size, Wait wait) = 0;
  virtual void profiled(const records::LimitsMeasured& measured) = 0;
  virtual void epochs(const records::TryProgress& progress) = 0;
  virtual void finished(const records::TryResult& result) = 0;
  virtual void give_up(const std::string& reason) = 0;
  virtual void beat() = 0;
  // Returns once every report is on record.
  virtual void settle() = 0;
  // Reports nothing more and gives the recurrence up, as far as possible. The questions above are still answered.
  virtual void let_go() noexcept = 0;
};

// A recurrence that this process keeps in a store. Its job must outlive it.
class KeptRecurrence : public RecurrenceLink {
 public:
  KeptRecurrence(Job& job, Recurrence recurrence);

  [[nodiscard]] const records::JobDefinition& definition() const override;
  [[nodiscard]] const optimize::JobSpec& spec() const override;
  [[nodiscard]] std::vector<records::LimitProfile> limits(int batch_size) const override;
  [[nodiscard]] std::optional<Seconds> run_time(int batch_size) const override;
  std::uint64_t seed_of_next_try() override;
  Worked worked(int batch_size) override;

  [[nodiscard]] std::uint64_t number() const override { return number_; }
  [[nodiscard]] bool over() const override;
  std::optional<Step> next(Wait wait) override;
  std::optional<records::TryStarted> claim(int batch_size, Wait wait) override;
  void profiled(const records::LimitsMeasured& measured) override;
  void epochs(const records::TryProgress& progress) override;
  void finished(const records::TryResult& result) override;
  void give_up(const std::string& reason) override;
  void beat() override;
  void settle() override {}  // every call returns only when it is on record
  void let_go() noexcept override;

 private:
  Job* job_;
  std::uint64_t number_;
  std::optional<Recurrence> recurrence_;
};

}  // namespace zeus::jobs
