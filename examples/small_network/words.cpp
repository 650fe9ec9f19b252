#include "words.hpp"

#include "draws.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

namespace small_network {

namespace {

constexpr std::uint64_t stream_of_vectors = 1U << 20U;  // apart from those of epochs

// Without the library's exp(), whose last digit differs from machine to machine: a smooth step of the same shape.
float probability(float score) {
  return 0.5F + 0.5F * score / (1.0F + std::abs(score));
}

}  // namespace

std::vector<std::uint16_t> words_of(std::string_view tweet) {
  std::vector<std::uint16_t> words;
  std::uint32_t hash = 0;
  bool inside = false;
  const auto end_word = [&] {
    if (inside) {
      words.push_back(static_cast<std::uint16_t>((hash ^ hash >> 16U) % word_buckets));
    }
    inside = false;
  };
  for (const char letter : tweet) {
    if (letter == ' ') {
      end_word();
      continue;
    }
    hash = ((inside ? hash : 2166136261U) ^ static_cast<unsigned char>(letter)) * 16777619U;  // FNV-1a
    inside = true;
  }
  end_word();
  return words;
}

WordTraining::WordTraining(const std::vector<Tweet>& tweets, const WordSettings& settings)
    : tweets_{&tweets},
      settings_{settings},
      vectors_(word_buckets * word_vector),
      output_(word_vector),
      order_(tweets.size()) {
  settings_.batch_size = std::clamp<std::size_t>(settings.batch_size, 1, tweets.size());
  Draws draws{settings.seed, stream_of_vectors};
  for (float& one : vectors_) {
    one = 0.1F * draws.bell();
  }
  for (float& one : output_) {
    one = draws.bell();
  }
  std::iota(order_.begin(), order_.end(), 0U);
}

std::size_t WordTraining::steps_per_epoch() const {
  return (order_.size() + settings_.batch_size - 1) / settings_.batch_size;
}

float WordTraining::score(const Tweet& tweet, Vector& mean) const {
  mean.fill(0.0F);
  for (const std::uint16_t word : tweet.words) {
    for (std::size_t i = 0; i < word_vector; ++i) {
      mean[i] += vectors_[word * word_vector + i];
    }
  }
  const float share = 1.0F / static_cast<float>(std::max<std::size_t>(tweet.words.size(), 1));
  float sum = bias_;
  for (std::size_t i = 0; i < word_vector; ++i) {
    mean[i] *= share;
    sum += mean[i] * output_[i];
  }
  return sum;
}

// All errors of the batch are those of the network before the step.
void WordTraining::step() {
  if (next_ == 0) {
    Draws draws{settings_.seed, epochs_++};
    draws.shuffle(std::span{order_});
  }
  const std::size_t end = std::min(next_ + settings_.batch_size, order_.size());
  const float rate = static_cast<float>(settings_.learning_rate) / static_cast<float>(end - next_);
  std::vector<float> errors(end - next_);
  std::array<float, word_vector> to_output{};
  float to_bias = 0.0F;
  for (std::size_t i = next_; i < end; ++i) {
    const Tweet& tweet = (*tweets_)[order_[i]];
    Vector mean{};
    const float error = (tweet.good ? 1.0F : 0.0F) - probability(score(tweet, mean));
    errors[i - next_] = error;
    to_bias += error;
    for (std::size_t k = 0; k < word_vector; ++k) {
      to_output[k] += error * mean[k];
    }
  }
  for (std::size_t i = next_; i < end; ++i) {
    const Tweet& tweet = (*tweets_)[order_[i]];
    const float pull = rate * errors[i - next_] / static_cast<float>(std::max<std::size_t>(tweet.words.size(), 1));
    for (const std::uint16_t word : tweet.words) {
      for (std::size_t k = 0; k < word_vector; ++k) {
        vectors_[word * word_vector + k] += pull * output_[k];
      }
    }
  }
  for (std::size_t k = 0; k < word_vector; ++k) {
    output_[k] += rate * to_output[k];
  }
  bias_ += rate * to_bias;
  next_ = end == order_.size() ? 0 : end;
}

void WordTraining::epoch() {
  do {
    step();
  } while (next_ != 0);
}

double WordTraining::accuracy(const std::vector<Tweet>& tweets) const {
  std::size_t right = 0;
  for (const Tweet& tweet : tweets) {
    Vector mean{};
    right += (score(tweet, mean) > 0.0F) == tweet.good ? 1U : 0U;
  }
  return static_cast<double>(right) / static_cast<double>(std::max<std::size_t>(tweets.size(), 1));
}

}  // namespace small_network
