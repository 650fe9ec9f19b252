// One training of the small network from initial weights. Meanwhile the virtual GPU does the work that the training
// represents, under power limits that a training session (train/session.hpp) sets, measures and accounts. One thread;
// the arguments must outlive it.
#pragma once

#include "base/clock.hpp"
#include "base/random.hpp"
#include "control/lease.hpp"
#include "demo/counter_meter.hpp"
#include "demo/heavy_work.hpp"
#include "demo/stage.hpp"
#include "examples/small_network/training.hpp"
#include "records/limit_profile.hpp"
#include "train/session.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::demo {

// The GPU, its model and the clock with which trainings run.
struct Bench {
  StageGpu gpu;
  const physics::GpuModel& model;
  Clock& clock;
  std::function<control::Lease(std::string_view uuid, Seconds term)> acquire;
};

class NetworkTraining {
 public:
  NetworkTraining(const Bench& bench, const small_network::Course& course, const small_network::Settings& settings,
                  double eta);
  NetworkTraining(const NetworkTraining&) = delete;
  NetworkTraining& operator=(const NetworkTraining&) = delete;
  ~NetworkTraining();

  // From now on, keeps this limit.
  void hold(Watts limit);
  // From now on, measures these limits and those between them on their grid, then keeps the cheapest.
  void measure(std::span<const Watts> limits);
  // Trains until all limits are measured; false if the epoch ended first.
  bool train_until_measured();
  [[nodiscard]] bool measuring() const;
  // The measurements of an epoch, ascending by limit.
  [[nodiscard]] std::vector<records::LimitProfile> measured() const;
  [[nodiscard]] std::optional<Watts> limit() const;

  // Trains to the end of the epoch and evaluates the network.
  void finish_epoch();

  [[nodiscard]] int epochs() const { return epochs_; }
  [[nodiscard]] double accuracy() const { return accuracy_; }
  // Since the training began.
  [[nodiscard]] Energy energy() const;
  [[nodiscard]] Seconds time() const;

  // Leaves the GPU idle and restores its limits.
  void end();

 private:
  void open(TrainingOptions options);
  // An unavailable Error if the session is not allowed to set the limit.
  void begin_epoch();
  void close();
  // Continues to the next report of progress.
  void advance();

  Bench bench_;
  EpochWork work_;
  small_network::Training training_;
  double eta_;
  int batch_size_;
  Random scatter_;
  std::shared_ptr<const device::Gpu> gpu_;
  CounterMeter meter_;
  CounterMeter::Mark start_;
  std::unique_ptr<train::Session> session_;
  std::optional<PowerProfile> profile_;
  std::optional<Watts> limit_;
  std::string left_alone_;        // why the limits are left alone
  std::uint64_t steps_ = 0;       // steps of the GPU in this epoch
  std::uint64_t real_steps_ = 0;  // steps of the network in this epoch
  int epochs_ = 0;
  double accuracy_ = 0.0;
};

}  // namespace zeus::demo
