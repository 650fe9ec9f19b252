// One training of the small network from its first weights on, while the virtual GPU does what that stands for, under
// power limits that a training session (train/session.hpp) sets, measures and accounts. One thread; what it is given
// outlives it.
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

// Where attempts happen.
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

  // From now on under this limit.
  void hold(Watts limit);
  // Measures these limits (and those between them on their grid) from now on, and holds the cheapest afterwards.
  void measure(std::span<const Watts> limits);
  // Trains on, within the epoch under way, until all is measured; false when the epoch was over before.
  bool train_until_measured();
  [[nodiscard]] bool measuring() const;
  // As epochs; ascending by limit.
  [[nodiscard]] std::vector<records::LimitProfile> measured() const;
  [[nodiscard]] std::optional<Watts> limit() const;

  // Trains to the end of the epoch and looks how well the network does.
  void finish_epoch();

  [[nodiscard]] int epochs() const { return epochs_; }
  [[nodiscard]] double accuracy() const { return accuracy_; }
  // Since it began.
  [[nodiscard]] Energy energy() const;
  [[nodiscard]] Seconds time() const;

  // The GPU rests, and has its limits back.
  void end();

 private:
  void open(TrainingOptions options);
  // An unavailable Error when the session may not set the limit.
  void begin_epoch();
  void close();
  // Goes on to the next word of progress.
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
  std::string left_alone_;        // why the limits are not set
  std::uint64_t steps_ = 0;       // of the GPU, in this epoch
  std::uint64_t real_steps_ = 0;  // of the network, in this epoch
  int epochs_ = 0;
  double accuracy_ = 0.0;
};

}  // namespace zeus::demo
