#include <zeus/torch.hpp>

#include <torch/torch.h>

#include <iostream>

// Four numbers each.
class Numbers : public torch::data::datasets::Dataset<Numbers> {
 public:
  torch::data::Example<> get(std::size_t index) override {
    return {torch::full({1}, static_cast<double>(index)), torch::zeros({1})};
  }
  [[nodiscard]] torch::optional<std::size_t> size() const override { return 4; }
};

int learnt = 0;

template <typename Batch>
void learn(const Batch& batch) {
  learnt += static_cast<int>(batch.size());
}

template <typename Batch>
double evaluate(const Batch& batch) {
  return static_cast<double>(batch.size()) * 0.1;
}

int main() {
  const Numbers train_set;
  const Numbers eval_set;
  const std::size_t batch_size = 2;
  zeus::TrainingOptions options;
  options.stopping.max_epochs = 2;
  // EXAMPLE
  return learnt == 8 ? 0 : 1;
}
