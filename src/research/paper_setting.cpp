#include "research/paper_setting.hpp"

#include "simulate/model_workload.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <ranges>
#include <set>

namespace zeus::research {

namespace {

simulate::JobSelection selection(std::string dataset, std::string network, std::string optimizer, double target,
                                 int max_epochs, int default_batch_size) {
  return {.dataset = std::move(dataset),
          .network = std::move(network),
          .optimizer = std::move(optimizer),
          .target_metric = target,
          .max_epochs = max_epochs,
          .default_batch_size = default_batch_size};
}

std::string gpu_name(std::string_view file) {
  file = file.substr(file.find_last_of('/') + 1);
  file = file.substr(0, file.find('.'));
  std::string name{file.substr(file.find_last_of('_') + 1)};
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

// The default batch size if both traces have it, otherwise the largest that both have; nothing without any.
std::optional<int> default_for(const trace::TrainTrace& train, const trace::PowerTrace& power,
                               const simulate::JobSelection& job) {
  const auto of_job = [&](const auto& row) {
    return row.dataset == job.dataset && row.network == job.network && row.optimizer == job.optimizer;
  };
  std::set<int> trained;
  for (const trace::TrainRun& run : train.runs | std::views::filter(of_job)) {
    if (run.target_metric == job.target_metric) {
      trained.insert(run.batch_size);
    }
  }
  std::set<int> both;
  for (const trace::PowerRow& row : power.rows | std::views::filter(of_job)) {
    if (trained.contains(row.batch_size)) {
      both.insert(row.batch_size);
    }
  }
  if (both.empty()) {
    return std::nullopt;
  }
  return both.contains(job.default_batch_size) ? job.default_batch_size : *both.rbegin();
}

}  // namespace

std::span<const PaperJob> paper_jobs() {
  static const std::array jobs{
      PaperJob{"DeepSpeech2", selection("librispeech", "deepspeech2", "adamw", 40.0, 16, 192)},
      PaperJob{"BERT (QA)", selection("squad", "bert_base_uncased", "adamw", 84.0, 6, 32)},
      PaperJob{"BERT (SA)", selection("sentiment140", "bert_base_uncased", "adamw", 0.84, 10, 128)},
      PaperJob{"ResNet-50", selection("imagenet", "resnet50", "adadelta", 0.65, 100, 256)},
      PaperJob{"ShuffleNet V2", selection("cifar100", "shufflenetv2", "adadelta", 0.6, 100, 1024)},
      PaperJob{"NeuMF", selection("movielens-1m", "ncf", "adam", 0.41, 100, 1024)},
  };
  return jobs;
}

std::vector<PaperGpu> paper_gpus(const trace::TrainTrace& train, std::span<const trace::PowerTrace> power) {
  std::vector<PaperGpu> gpus;
  for (const trace::PowerTrace& trace : power) {
    PaperGpu gpu{.name = gpu_name(trace.name), .workloads = {}};
    for (const PaperJob& job : paper_jobs()) {
      if (const auto default_batch_size = default_for(train, trace, job.selection)) {
        simulate::JobSelection chosen = job.selection;
        chosen.default_batch_size = *default_batch_size;
        gpu.workloads.push_back(
            {.name = std::string{job.name}, .workload = simulate::select_workload(train, trace, chosen)});
      }
    }
    if (gpu.workloads.empty()) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("{} and {} together contain none of the paper's six jobs", train.name, trace.name),
                  "give traces in the format of the NSDI'23 artifact that contain at least one of them"};
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::vector<PaperGpu> modelled_gpus() {
  std::vector<PaperGpu> gpus;
  for (const std::string_view name : {"A40", "V100", "RTX6000", "P100"}) {
    PaperGpu gpu{.name = std::string{name}, .workloads = {}};
    for (std::size_t i = 0; i < paper_jobs().size(); ++i) {
      gpu.workloads.push_back({.name = std::string{paper_jobs()[i].name},
                               .workload = simulate::model_workload(physics::workloads()[i], physics::preset(name))});
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace zeus::research
