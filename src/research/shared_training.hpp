// One job trained on four A40s, each with an equal share of the batch (decision 0344). What is learned is real: a small
// network, step by step. What a step takes is that of DeepSpeech2 by the models of the GPU and of the connection
// between them. Pure functions of their arguments; any thread.
#pragma once

#include "simulate/workload.hpp"

#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace zeus::research {

inline constexpr int shared_gpus = 4;
// Of the whole batch: four times those that the A40's model has of DeepSpeech2.
inline constexpr std::array shared_batch_sizes{32, 64, 128, 256, 512, 768};
inline constexpr int shared_default = 256;
// The one at which a training by goodput begins, and below which it does not go.
inline constexpr int shared_reference = 32;
inline constexpr int shared_most_epochs = 60;

struct Interconnect {
  std::string_view name;
  std::string_view key;
  double bytes_per_second = 0.0;
};
// The second one is that of most machines with four A40s.
inline constexpr std::array interconnects{Interconnect{"NVLink, 50 GB/s", "nvlink", 50e9},
                                          Interconnect{"PCIe 4.0, 12 GB/s", "pcie", 12e9},
                                          Interconnect{"10-gigabit Ethernet, 1.2 GB/s", "ethernet", 1.2e9}};

// Of all GPUs.
struct SharedStepCost {
  Seconds compute;
  Seconds whole;
  Joules energy;
};

class SharedGpus {
 public:
  explicit SharedGpus(const Interconnect& interconnect) : interconnect_{interconnect} {}

  // `share` is the samples of each GPU, from 8 to 192. Between the batch sizes of the model, time and energy follow
  // straight lines.
  [[nodiscard]] SharedStepCost step(int share, Watts limit) const;
  // The recurring job with fixed batch sizes. `runs` has the epochs to the target of each of them.
  [[nodiscard]] simulate::Workload workload(const std::vector<std::vector<std::optional<int>>>& runs) const;

 private:
  Interconnect interconnect_;
};

// The epochs that the network takes to the target with this batch size; nothing if it does not get there.
std::optional<int> epochs_with(int batch_size, std::uint64_t seed);

struct TrainingByGoodput {
  bool reached = false;
  Seconds time;
  Joules energy;
  std::vector<int> batch_sizes;  // of each epoch
  double noise_scale = 0.0;      // at the end
};

// The same training, whose batch size follows its goodput: after each epoch it changes if another one is better by a
// twentieth. Under the highest power limit.
TrainingByGoodput train_by_goodput(const SharedGpus& gpus, std::uint64_t seed);

}  // namespace zeus::research
