// The six workloads of the NSDI'23 paper, with its targets and maximum epochs. tools/fit_epochs.py has fitted the
// distributions of epochs to the published training traces.
#include "physics/same_letters.hpp"
#include "physics/workload.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <array>

namespace zeus::physics {

namespace {

constexpr std::array<Workload::Definition, 6> definitions{{{.name = "librispeech",
                                                            .dataset = "librispeech",
                                                            .network = "deepspeech2",
                                                            .optimizer = "adamw",
                                                            .target_metric = 40.0,
                                                            .higher_is_better = false,
                                                            .max_epochs = 16,
                                                            .default_batch_size = 192,
                                                            .smallest_trained = 2,
                                                            .largest_trained = 512,
                                                            .epochs = {.log_epochs = 1.8762,
                                                                       .low_knee = 2.0000,
                                                                       .low_slope = 0.0697,
                                                                       .high_knee = 3.5850,
                                                                       .high_slope = 0.0127,
                                                                       .high_bend = 0.0244,
                                                                       .spread = 0.0617,
                                                                       .fails_below = -1.000,
                                                                       .fails_above = 8.500}},
                                                           {.name = "squad",
                                                            .dataset = "squad",
                                                            .network = "bert_base_uncased",
                                                            .optimizer = "adamw",
                                                            .target_metric = 84.0,
                                                            .higher_is_better = true,
                                                            .max_epochs = 6,
                                                            .default_batch_size = 32,
                                                            .smallest_trained = 4,
                                                            .largest_trained = 56,
                                                            .epochs = {.log_epochs = 1.4419,
                                                                       .low_knee = 3.0000,
                                                                       .low_slope = -0.0556,
                                                                       .high_knee = 4.5850,
                                                                       .high_slope = -0.1207,
                                                                       .high_bend = 0.1073,
                                                                       .spread = 0.0896,
                                                                       .fails_below = 0.000,
                                                                       .fails_above = 7.750}},
                                                           {.name = "sentiment140",
                                                            .dataset = "sentiment140",
                                                            .network = "bert_base_uncased",
                                                            .optimizer = "adamw",
                                                            .target_metric = 0.84,
                                                            .higher_is_better = true,
                                                            .max_epochs = 10,
                                                            .default_batch_size = 128,
                                                            .smallest_trained = 8,
                                                            .largest_trained = 128,
                                                            .epochs = {.log_epochs = 1.0986,
                                                                       .low_knee = 3.0000,
                                                                       .low_slope = 0.0000,
                                                                       .high_knee = 3.0000,
                                                                       .high_slope = 0.0000,
                                                                       .high_bend = -0.0000,
                                                                       .spread = 0.0200,
                                                                       .fails_below = 1.000,
                                                                       .fails_above = 9.000}},
                                                           {.name = "imagenet",
                                                            .dataset = "imagenet",
                                                            .network = "resnet50",
                                                            .optimizer = "adadelta",
                                                            .target_metric = 0.65,
                                                            .higher_is_better = true,
                                                            .max_epochs = 100,
                                                            .default_batch_size = 256,
                                                            .smallest_trained = 64,
                                                            .largest_trained = 1024,
                                                            .epochs = {.log_epochs = 3.0385,
                                                                       .low_knee = 8.0000,
                                                                       .low_slope = 0.4263,
                                                                       .high_knee = 8.4919,
                                                                       .high_slope = 0.2679,
                                                                       .high_bend = 0.0102,
                                                                       .spread = 0.1185,
                                                                       .fails_below = 6.500,
                                                                       .fails_above = 12.000}},
                                                           {.name = "cifar100",
                                                            .dataset = "cifar100",
                                                            .network = "shufflenetv2",
                                                            .optimizer = "adadelta",
                                                            .target_metric = 0.6,
                                                            .higher_is_better = true,
                                                            .max_epochs = 100,
                                                            .default_batch_size = 1024,
                                                            .smallest_trained = 8,
                                                            .largest_trained = 4096,
                                                            .epochs = {.log_epochs = 2.9684,
                                                                       .low_knee = 4.0000,
                                                                       .low_slope = 0.7296,
                                                                       .high_knee = 4.0000,
                                                                       .high_slope = -0.2204,
                                                                       .high_bend = 0.0774,
                                                                       .spread = 0.1216,
                                                                       .fails_below = 1.000,
                                                                       .fails_above = 12.250}},
                                                           {.name = "movielens",
                                                            .dataset = "movielens-1m",
                                                            .network = "ncf",
                                                            .optimizer = "adam",
                                                            .target_metric = 0.41,
                                                            .higher_is_better = true,
                                                            .max_epochs = 100,
                                                            .default_batch_size = 1024,
                                                            .smallest_trained = 4,
                                                            .largest_trained = 16384,
                                                            .epochs = {.log_epochs = 1.3831,
                                                                       .low_knee = 7.0000,
                                                                       .low_slope = 0.9985,
                                                                       .high_knee = 9.0000,
                                                                       .high_slope = 0.1046,
                                                                       .high_bend = -0.0169,
                                                                       .spread = 0.1773,
                                                                       .fails_below = 5.250,
                                                                       .fails_above = 16.000}}}};

const std::array<Workload, 6>& all_workloads() {
  static const std::array<Workload, 6> list{Workload{definitions[0]}, Workload{definitions[1]},
                                            Workload{definitions[2]}, Workload{definitions[3]},
                                            Workload{definitions[4]}, Workload{definitions[5]}};
  return list;
}

}  // namespace

std::span<const Workload> workloads() {
  return all_workloads();
}

const Workload& workload(std::string_view name) {
  std::string known;
  for (const Workload& candidate : all_workloads()) {
    if (same_letters(candidate.name(), name)) {
      return candidate;
    }
    known += known.empty() ? "" : ", ";
    known += candidate.name();
  }
  throw Error{ErrorKind::not_found, fmt::format("there is no workload \"{}\"", name), "the workloads are " + known};
}

}  // namespace zeus::physics
