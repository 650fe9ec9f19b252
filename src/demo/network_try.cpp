#include "demo/network_try.hpp"

namespace zeus::demo {

namespace {

constexpr double learning_rate = 0.05;  // for this batch size; proportional to the square root
constexpr std::size_t reference_batch_size = 64;

}  // namespace

small_network::Settings settings_for(int batch_size, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(batch_size);
  return {.batch_size = size,
          .learning_rate = small_network::scaled_by_root(learning_rate, reference_batch_size, size),
          .seed = seed};
}

void NetworkTry::start(int batch_size, std::uint64_t seed) {
  attempt_.reset();
  attempt_ = std::make_unique<NetworkTraining>(bench_, course_, settings_for(batch_size, seed), eta_);
  seed_ = seed;
  taken_.reset();
  stopped_ = false;
}

void NetworkTry::hold(Watts limit) {
  attempt_->hold(limit);
}

void NetworkTry::leave() {
  attempt_->end();
}

void NetworkTry::measure(const std::vector<Watts>& limits, const Known& /*known*/) {
  attempt_->measure(limits);
}

std::vector<jobs::Try::Event> NetworkTry::go_on() {
  if (attempt_->measuring() && attempt_->train_until_measured()) {
    return {};
  }
  attempt_->finish_epoch();
  return {MetricSeen{.value = attempt_->accuracy()}, EpochOver{.epochs = attempt_->epochs()}};
}

void NetworkTry::stop() {
  close();
  stopped_ = true;
}

jobs::Try::State NetworkTry::state() {
  return {.epochs = attempt_->epochs(),
          .metric = attempt_->epochs() > 0 ? std::optional{attempt_->accuracy()} : std::nullopt,
          .exit_code = stopped_ ? std::optional{0} : std::nullopt,
          .measuring = attempt_->measuring(),
          .disturbed = attempt_->measuring(),
          .left_alone = {},
          .limit = attempt_->limit()};
}

std::vector<records::LimitProfile> NetworkTry::measured() {
  return attempt_->measured();
}

jobs::Try::Taken NetworkTry::taken_so_far() {
  return {.gpus = {{.gpu = bench_.gpu.device.gpu->identity().uuid, .energy = attempt_->energy()}},
          .time = attempt_->time(),
          .unknown = {}};
}

jobs::Try::Taken NetworkTry::close() {
  if (!taken_) {
    taken_ = taken_so_far();
  }
  return *taken_;
}

}  // namespace zeus::demo
