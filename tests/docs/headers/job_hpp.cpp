#include <zeus/job.hpp>

#include <iostream>

// Learns as much from each epoch, whatever the batch size.
class Model {
 public:
  Model(int batch_size, std::uint64_t /*seed*/) : batches_(static_cast<std::size_t>(512 / batch_size)) {}

  std::vector<int>& batches() { return batches_; }
  void learn(int /*batch*/) { learnt_ += 0.5 / static_cast<double>(batches_.size()); }
  [[nodiscard]] double evaluate() const { return learnt_; }

 private:
  std::vector<int> batches_;
  double learnt_ = 0;
};

int main() {
  // EXAMPLE
  return job.reached() ? 0 : 1;
}
