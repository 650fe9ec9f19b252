// Trainings of the small network as the source of a try. Meanwhile the virtual GPU does the work that they represent.
// One thread; the arguments must outlive it.
#pragma once

#include "base/clock.hpp"
#include "base/random.hpp"
#include "demo/heavy_work.hpp"
#include "demo/stage.hpp"
#include "examples/small_network/training.hpp"
#include "trial/source.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace zeus::demo {

class NetworkSource final : public trial::Source {
 public:
  // On this GPU, of this model. While `closely` returns true, progress is seen as often as a measurement needs.
  NetworkSource(const StageGpu& gpu, const physics::GpuModel& model, Clock& clock, const small_network::Course& course,
                std::function<bool()> closely);
  ~NetworkSource() override;
  NetworkSource(const NetworkSource&) = delete;
  NetworkSource& operator=(const NetworkSource&) = delete;

  void start(int batch_size, std::uint64_t seed) override;
  std::vector<trial::Progress> go_on() override;
  void stop() override;
  [[nodiscard]] State state() override { return {.exit_code = exit_code_}; }

  // Of the training that was started last.
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

 private:
  void work(std::uint64_t steps);

  const StageGpu& gpu_;
  const physics::GpuModel& model_;
  Clock& clock_;
  small_network::Course course_;
  std::function<bool()> closely_;
  std::optional<small_network::Training> training_;
  EpochWork work_;
  std::optional<Random> scatter_;
  std::uint64_t seed_ = 0;
  std::uint64_t steps_ = 0;       // of the GPU in this epoch
  std::uint64_t real_steps_ = 0;  // of the network in this epoch
  bool in_epoch_ = false;
  std::optional<int> exit_code_;
};

}  // namespace zeus::demo
