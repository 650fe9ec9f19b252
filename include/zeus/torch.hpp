// Libtorch's data loaders with Zeus inside: the training loop keeps its shape.
//
//   auto train_loader = zeus::make_train_loader(train_set, batch_size, options);
//   auto eval_loader = zeus::make_eval_loader(train_loader, eval_set, batch_size);
//
//   for (const auto epoch : train_loader.epochs()) {  // until the target among the options is reached
//     for (auto& batch : train_loader) {
//       learn(batch);
//     }
//     double metric = 0;
//     for (auto& batch : eval_loader) {
//       metric += evaluate(batch);
//     }
//     train_loader.report_metric(metric);
//     std::cout << "epoch " << epoch << ": " << metric << '\n';
//   }
//
// Header-only: it is compiled with the user's libtorch, and Zeus itself does not depend on libtorch. Both must use the
// same C++ library interface, which is checked below. Rules of threads, forks and failures as in zeus/train.hpp; the
// training loader outlives the evaluation loaders made for it.
#pragma once

#include <zeus/train.hpp>

#include <torch/cuda.h>
#include <torch/data.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#if !defined(_GLIBCXX_USE_CXX11_ABI) || _GLIBCXX_USE_CXX11_ABI != 1
#error "Zeus is built with GCC's C++11 strings; use a libtorch that is, too (torch.compiled_with_cxx11_abi())"
#endif

namespace zeus {

// A libtorch loader whose iterations are the steps of an epoch.
template <typename Loader>
class TorchTrainLoader {
 public:
  // If the options have no `synchronize`, waits for CUDA if libtorch has it.
  TorchTrainLoader(std::unique_ptr<Loader> loader, TrainingOptions options)
      : loader_{std::move(loader)}, training_{std::make_unique<Training>(completed(std::move(options)))} {}

  [[nodiscard]] auto epochs() { return training_->epochs(); }
  // The last batch ends the steps of the epoch.
  [[nodiscard]] auto begin() { return training_->steps(*loader_).begin(); }
  [[nodiscard]] auto end() { return std::default_sentinel; }
  void report_metric(double metric) { training_->report(metric); }

  [[nodiscard]] Training& training() { return *training_; }
  [[nodiscard]] Loader& loader() { return *loader_; }

 private:
  static TrainingOptions completed(TrainingOptions options) {
    if (!options.synchronize && torch::cuda::is_available()) {
      options.synchronize = [] { torch::cuda::synchronize(); };
    }
    return options;
  }

  std::unique_ptr<Loader> loader_;
  std::unique_ptr<Training> training_;
};

// A libtorch loader whose iterations are not steps: their time and energy count for the epoch.
template <typename Loader>
class TorchEvalLoader {
 public:
  TorchEvalLoader(std::unique_ptr<Loader> loader, Training& training)
      : loader_{std::move(loader)}, training_{&training} {}

  [[nodiscard]] auto begin() {
    training_->end_steps();
    return loader_->begin();
  }
  [[nodiscard]] auto end() { return loader_->end(); }
  [[nodiscard]] Loader& loader() { return *loader_; }

 private:
  std::unique_ptr<Loader> loader_;
  Training* training_;
};

// Batches of `batch_size`, shuffled again for each epoch. Unless the options say otherwise, profiles are kept for this
// batch size, and an epoch has as many steps as the data set has batches.
template <typename Dataset>
[[nodiscard]] auto make_train_loader(Dataset dataset, std::size_t batch_size, TrainingOptions options = {}) {
  const std::optional<std::size_t> size = dataset.size();
  if (!options.batch_size) {
    options.batch_size = batch_size;
  }
  if (!options.steps_per_epoch && size) {
    options.steps_per_epoch = (*size + batch_size - 1) / batch_size;
  }
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(dataset), torch::data::DataLoaderOptions{batch_size});
  using Loader = typename decltype(loader)::element_type;
  return TorchTrainLoader<Loader>{std::move(loader), std::move(options)};
}

template <typename TrainLoader, typename Dataset>
[[nodiscard]] auto make_eval_loader(TrainLoader& train_loader, Dataset dataset, std::size_t batch_size) {
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(dataset), torch::data::DataLoaderOptions{batch_size});
  using Loader = typename decltype(loader)::element_type;
  return TorchEvalLoader<Loader>{std::move(loader), train_loader.training()};
}

}  // namespace zeus
