// What a Driver asks of a recurrence and of its job, wherever they are kept: in a store of this process (below), or by
// a server. One thread at a time, but for beat(). Errors are those of jobs/job.hpp.
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

class RecurrenceLink {
 public:
  RecurrenceLink() = default;
  RecurrenceLink(const RecurrenceLink&) = delete;
  RecurrenceLink& operator=(const RecurrenceLink&) = delete;
  // Gives the recurrence up, unless it is over, as far as that is possible.
  virtual ~RecurrenceLink() = default;

  [[nodiscard]] virtual const records::JobDefinition& definition() const = 0;
  // What policies see, for the devices of the recurrence.
  [[nodiscard]] virtual const optimize::JobSpec& spec() const = 0;
  // As Job has them; of the batch size that next() spoke of last.
  [[nodiscard]] virtual std::vector<records::LimitProfile> limits(int batch_size) const = 0;
  [[nodiscard]] virtual std::optional<Seconds> run_time(int batch_size) const = 0;
  virtual std::uint64_t seed_of_next_try() = 0;
  // Whether a try of this batch size, and of any other, has ever reached.
  struct Worked {
    bool here = false;
    bool elsewhere = false;
  };
  virtual Worked worked(int batch_size) = 0;

  // As Recurrence has them.
  [[nodiscard]] virtual bool over() const = 0;
  virtual Step next() = 0;
  virtual RunStep claim(int batch_size) = 0;
  virtual void profiled(const Profiled& profiled) = 0;
  virtual void epochs(const Progress& progress) = 0;
  virtual void finished(const Finished& finished) = 0;
  virtual void give_up(const std::string& reason) = 0;
  virtual void beat() = 0;
  // Returns once all that was told is on record.
  virtual void settle() = 0;
  // Nothing more is told of it: it is given up, as far as that is possible. What is asked above is answered on.
  virtual void let_go() noexcept = 0;
};

// One that this process keeps in a store. The job outlives it.
class KeptRecurrence final : public RecurrenceLink {
 public:
  KeptRecurrence(Job& job, Recurrence recurrence);

  [[nodiscard]] const records::JobDefinition& definition() const override;
  [[nodiscard]] const optimize::JobSpec& spec() const override;
  [[nodiscard]] std::vector<records::LimitProfile> limits(int batch_size) const override;
  [[nodiscard]] std::optional<Seconds> run_time(int batch_size) const override;
  std::uint64_t seed_of_next_try() override;
  Worked worked(int batch_size) override;

  [[nodiscard]] bool over() const override;
  Step next() override;
  RunStep claim(int batch_size) override;
  void profiled(const Profiled& profiled) override;
  void epochs(const Progress& progress) override;
  void finished(const Finished& finished) override;
  void give_up(const std::string& reason) override;
  void beat() override;
  void settle() override {}  // it is, when each call returns
  void let_go() noexcept override;

 private:
  Job* job_;
  std::optional<Recurrence> recurrence_;
};

}  // namespace zeus::jobs
