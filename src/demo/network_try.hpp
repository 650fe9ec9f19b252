// The small network's trainings as tries of a recurrence: one NetworkTraining after another, on the same images. One
// thread; the arguments must outlive it.
#pragma once

#include "demo/network_training.hpp"
#include "jobs/try.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace zeus::demo {

// The network's settings at a batch size.
small_network::Settings settings_for(int batch_size, std::uint64_t seed);

class NetworkTry final : public jobs::Try {
 public:
  NetworkTry(const Bench& bench, const small_network::Course& course, double eta)
      : bench_{bench}, course_{course}, eta_{eta} {}

  void start(int batch_size, std::uint64_t seed) override;
  void hold(Watts limit) override;
  void leave() override;
  void measure(const std::vector<Watts>& limits, const Known& known) override;
  std::vector<Event> go_on() override;
  void stop() override;
  [[nodiscard]] State state() override;
  [[nodiscard]] std::vector<records::LimitProfile> measured() override;
  [[nodiscard]] Taken taken_so_far() override;
  Taken close() override;

  // Of the last training that was started.
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

 private:
  Bench bench_;
  small_network::Course course_;
  double eta_;
  std::unique_ptr<NetworkTraining> attempt_;
  std::uint64_t seed_ = 0;
  std::optional<Taken> taken_;  // its totals, once it is closed
  bool stopped_ = false;
};

}  // namespace zeus::demo
