// Random but possible histories of a job, with everything that may happen in one: overlapping recurrences, failures,
// unknown energies, other devices, other definitions. The same seed gives the same history. For tests; one thread.
#pragma once

#include "base/random.hpp"
#include "jobs/job_state.hpp"
#include "records/job_definition.hpp"
#include "records/job_entry.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace zeus::test {

class RandomHistory {
 public:
  explicit RandomHistory(std::uint64_t seed) : random_{seed}, state_{definition()} {}

  static records::JobDevice device(int kind) {
    return kind == 0
               ? records::JobDevice{.model = "V100",
                                    .gpus = 1,
                                    .max_power = 250_W,
                                    .power_limits = {100_W, 175_W, 250_W}}
               : records::JobDevice{.model = "A100", .gpus = 2, .max_power = 800_W, .power_limits = {200_W, 400_W}};
  }
  static records::JobDefinition definition() {
    return {.batch_sizes = {16, 32, 64},
            .default_batch_size = 32,
            .target = records::JobTarget{.metric = 0.9},
            .max_epochs = 100,
            .policy = "lookahead",
            .max_slowdown = {},
            .device = device(0)};
  }

  // At least that long; a further call continues the same history.
  const std::vector<records::JobEntry>& make(std::size_t entries) {
    while (entries_.size() < entries) {
      step();
    }
    return entries_;
  }

 private:
  void add(records::JobEntryBody body) {
    written_us_ += static_cast<std::int64_t>(random_.below(20'000'000'000));  // up to five and a half hours
    entries_.push_back({.sequence = entries_.size() + 1, .written = WallTime{written_us_}, .body = std::move(body)});
    state_.apply(entries_.back());
  }

  void step() {
    if (state_.open().empty() && random_.below(12) == 0) {
      redefine();
    } else if (state_.open().size() < 1 + random_.below(3)) {
      begin();
    } else if (const jobs::PastTry* const late = lost_try(); late != nullptr) {
      report_late(*late);
    } else {
      go_on(state_.open()[random_.below(state_.open().size())]);
    }
  }

  void begin() {
    const records::JobDevice on = device(random_.below(15) == 0 ? 1 : 0);
    if (on != state_.device()) {
      add(records::DeviceMoved{.device = on});
    }
    add(records::RecurrenceBegun{
        .recurrence = state_.recurrences(),
        .owner = {.host = "node", .place = "here", .process = {.pid = 7, .started = 1, .command = "zeus"}},
        .device = on,
        .user = random_.below(3) == 0 ? "ann" : ""});
  }

  // Sometimes one of those that may still report.
  const jobs::PastTry* lost_try() {
    const std::uint64_t back = 1 + random_.below(100);
    const jobs::PastTry* const past = back > state_.tries() ? nullptr : state_.find_past(state_.tries() - back);
    return past != nullptr && past->outcome == records::TryOutcome::lost ? past : nullptr;
  }

  void report_late(const jobs::PastTry& lost) {
    const int epochs = lost.last.epochs + 1;
    add(records::LateReport{
        .try_number = lost.last.number,
        .recurrence = lost.recurrence,
        .outcome = random_.below(3) == 0 ? std::optional{records::TryOutcome::reached} : std::nullopt,
        .progress = {.epochs = epochs, .metric = 0.5, .gpus = {gpu(900.0 * epochs)}, .time = Seconds{10.0 * epochs}}});
  }

  void redefine() {
    records::JobDefinition other = state_.definition();
    switch (random_.below(5)) {
      case 0:
        other.eta = other.eta == 0.5 ? 0.7 : 0.5;
        break;
      case 1:
        other.default_batch_size = other.default_batch_size == 32 ? 64 : 32;
        break;
      case 2:
        other.target->metric = other.target->metric == 0.9 ? 0.95 : 0.9;
        break;
      case 3:
        other.batch_sizes = other.batch_sizes.size() == 3 ? std::vector{32, 64} : std::vector{16, 32, 64};
        break;
      default:
        other.beta += 0.5;
    }
    add(records::JobRedefined{.definition = other});
  }

  void go_on(const jobs::OpenRecurrence& open) {
    if (random_.below(25) == 0) {
      give_up(open);
    } else if (!open.running) {
      start(open);
    } else if (random_.below(3) == 0) {
      add(records::EpochsRun{.try_number = open.running->number,
                             .recurrence = open.number,
                             .progress = {.epochs = open.running->epochs + 1,
                                          .metric = 0.1,
                                          .gpus = {gpu(900.0 * (open.running->epochs + 1))},
                                          .time = Seconds{10.0 * (open.running->epochs + 1)}}});
    } else {
      finish(open);
    }
  }

  void give_up(const jobs::OpenRecurrence& open) {
    const std::uint64_t number = open.number;
    if (open.running) {
      add(records::TryFinished{.try_number = open.running->number,
                               .recurrence = number,
                               .batch_size = open.running->batch_size,
                               .energy = open.running->energy,
                               .result = {.outcome = records::TryOutcome::lost,
                                          .progress = {.epochs = open.running->epochs, .time = open.running->time}}});
    }
    add(records::RecurrenceGivenUp{.recurrence = number, .reason = "its owner is gone"});
  }

  void start(const jobs::OpenRecurrence& open) {
    const std::uint64_t number = open.number;
    const optimize::Action action = state_.job().next(number, state_.tries());
    if (const auto* const asked = std::get_if<records::ProfileAsked>(&action); asked != nullptr) {
      records::ProfileTaken taken{
          .recurrence = number,
          .measured = {.batch_size = asked->batch_size, .limits = {}, .charged = {gpu(40)}, .time = 1_s},
          .energy = 40_J};
      for (const Watts limit : asked->limits) {
        taken.measured.limits.push_back({.limit = limit,
                                         .epoch_time = Seconds{random_.uniform(9.0, 12.0) * 250.0 / limit.value()},
                                         .average_power = limit * random_.uniform(0.8, 0.95)});
      }
      add(taken);
      return;
    }
    if (std::holds_alternative<records::FailedTries>(action)) {
      add(records::RecurrenceGivenUp{.recurrence = number, .reason = "20 tries failed"});
      return;
    }
    add(records::TryStarted{
        .event = {.try_number = state_.tries(), .recurrence = number, .plan = std::get<records::TryPlan>(action)},
        .seed = state_.tries()});
  }

  void finish(const jobs::OpenRecurrence& open) {
    const Watts limit = open.device.power_limits[random_.below(open.device.power_limits.size())];
    const int epochs = 8 + static_cast<int>(random_.below(8));
    const Seconds epoch{random_.uniform(9.5, 10.5) * (1.0 + 30.0 / limit.value())};
    const Joules energy = limit * 0.9 * epoch;
    records::TryFinished done;
    done.try_number = open.running->number;
    done.recurrence = open.number;
    done.batch_size = open.running->batch_size;
    done.energy = energy * epochs + 300_J;
    records::TryResult& result = done.result;
    result.outcome = random_.below(5) == 0 ? records::TryOutcome::stopped : records::TryOutcome::reached;
    result.progress = {.epochs = random_.below(9) == 0 ? 0 : epochs,
                       .metric = 0.9,
                       .gpus = {gpu(done.energy.value())},
                       .time = epoch * epochs + 4_s};
    result.limit = limit;
    result.exit_code = 0;
    if (random_.below(4) != 0) {
      result.whole_epochs = records::WholeEpochs{.limit = limit,
                                                 .count = epochs - 1,
                                                 .time = epoch * (epochs - 1),
                                                 .energy = energy * (epochs - 1),
                                                 .time_deviation = epoch * 0.01,
                                                 .energy_deviation = energy * 0.01,
                                                 .start_time = 4_s,
                                                 .start_energy = random_.below(40) == 0 ? 1e7_J : 300_J};
    }
    if (random_.below(20) == 0) {
      result.left_out = "another process held the GPU's limit";
    } else if (random_.below(30) == 0) {
      result.left_out = "its energy is unknown: the counter was reset";
      result.progress.gpus.clear();
      done.energy = {};
    }
    add(done);
  }

  static records::GpuEnergy gpu(double energy) {
    return {.gpu = "GPU-0",
            .energy = {.value = Joules{energy}, .uncertainty = Joules{energy * 0.01}, .systematic = {}}};
  }

  Random random_;
  jobs::JobState state_;
  std::int64_t written_us_ = 1'795'284'000'000'000;
  std::vector<records::JobEntry> entries_;
};

}  // namespace zeus::test
