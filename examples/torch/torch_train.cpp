// A small libtorch network that learns to classify generated images, on the CPU, while the machine's GPUs are tuned as
// if it ran there: the loop of zeus/torch.hpp as a whole program.
//
//   zeus virtual 2xV100 --load follow:cifar100 -- torch_train [BATCH_SIZE [TARGET [PROFILE_FILE]]]
//
// The CPU's work does not load the GPUs: their load is the one given to `zeus virtual`. It prints one line per epoch
// and a summary, and exits with 0 if the target was reached.

#include <torch/torch.h>

#include <zeus/torch.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::int64_t side = 12;
constexpr std::int64_t classes = 4;

// Bars: level, upright, slanting, and crosses; shifted and blurred by noise.
class Bars : public torch::data::datasets::Dataset<Bars> {
 public:
  Bars(std::int64_t count, std::uint64_t seed) {
    torch::manual_seed(seed);
    labels_ = torch::randint(classes, {count}, torch::kLong);
    images_ = 0.45 * torch::randn({count, side * side});
    const torch::Tensor shifts = torch::randint(2, side - 2, {count}, torch::kLong);
    for (std::int64_t i = 0; i < count; ++i) {
      torch::Tensor image = images_[i].view({side, side});
      const auto shift = shifts[i].item<std::int64_t>();
      switch (labels_[i].item<std::int64_t>()) {
        case 0:
          image.select(0, shift) += 1;
          break;
        case 1:
          image.select(1, shift) += 1;
          break;
        case 2:
          image.diagonal(shift - side / 2) += 1;
          break;
        default:
          image.select(0, shift) += 0.7;
          image.select(1, side - 1 - shift) += 0.7;
          break;
      }
    }
  }

  torch::data::Example<> get(std::size_t index) override {
    return {images_[static_cast<std::int64_t>(index)], labels_[static_cast<std::int64_t>(index)]};
  }
  [[nodiscard]] torch::optional<std::size_t> size() const override { return labels_.size(0); }

 private:
  torch::Tensor images_;
  torch::Tensor labels_;
};

std::pair<torch::Tensor, torch::Tensor> stacked(const std::vector<torch::data::Example<>>& batch) {
  std::vector<torch::Tensor> images;
  std::vector<torch::Tensor> labels;
  for (const auto& example : batch) {
    images.push_back(example.data);
    labels.push_back(example.target);
  }
  return {torch::stack(images), torch::stack(labels)};
}

bool train(std::size_t batch_size, double target, const std::string& profile_file) {
  zeus::TrainingOptions options;
  options.stopping.max_epochs = 60;
  options.stopping.target = zeus::TrainingTarget{.metric = target, .higher_is_better = true};
  options.files.profiles = profile_file;
  auto train_loader = zeus::make_train_loader(Bars{6000, 1}, batch_size, options);
  auto eval_loader = zeus::make_eval_loader(train_loader, Bars{1000, 2}, 250);

  torch::manual_seed(3);
  torch::nn::Sequential model{torch::nn::Linear{side * side, 64}, torch::nn::ReLU{}, torch::nn::Linear{64, classes}};
  torch::optim::Adam optimizer{model->parameters(), torch::optim::AdamOptions{2e-3}};

  for (const auto epoch : train_loader.epochs()) {
    for (auto& batch : train_loader) {
      const auto [images, labels] = stacked(batch);
      optimizer.zero_grad();
      torch::nn::functional::cross_entropy(model->forward(images), labels).backward();
      optimizer.step();
    }
    std::int64_t right = 0;
    std::int64_t all = 0;
    for (auto& batch : eval_loader) {
      const torch::NoGradGuard no_gradients;
      const auto [images, labels] = stacked(batch);
      right += model->forward(images).argmax(1).eq(labels).sum().item<std::int64_t>();
      all += labels.size(0);
    }
    const double accuracy = static_cast<double>(right) / static_cast<double>(all);
    train_loader.report_metric(accuracy);
    std::printf("epoch %d: %.1f %% right\n", static_cast<int>(epoch), 100 * accuracy);
    std::fflush(stdout);
  }
  train_loader.training().finish();
  const zeus::TrainingResult result = train_loader.training().result();
  std::printf("%s after %zu epochs, %.1f s", result.reached() ? "reached" : "not reached", result.epochs.size(),
              result.time.value());
  if (result.energy) {
    std::printf(", %.1f +- %.3g J on %u GPUs", result.energy->value.value(), result.energy->uncertainty.value(),
                result.gpus);
  }
  if (result.optimum) {
    std::printf(", power limit %.0f W", result.optimum->limit.value());
  }
  std::printf("%s%s\n", result.unoptimized.empty() ? "" : ", unoptimized: ", result.unoptimized.c_str());
  return result.reached();
}

}  // namespace

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  try {
    const std::size_t batch_size = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 32;
    return train(batch_size, argc > 2 ? std::strtod(argv[2], nullptr) : 0.9, argc > 3 ? argv[3] : "") ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torch_train: %s\n", error.what());
    return 2;
  }
}
