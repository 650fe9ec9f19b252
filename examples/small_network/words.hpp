// Learning whether a short tweet is of a good or a bad mood: each word has a vector, the tweet's is their mean, and one
// layer gives the probability. Words are hashed, so that no vocabulary is needed. Sums have a fixed order, so a run is
// the same with every compiler. A value; one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace small_network {

inline constexpr std::size_t word_buckets = 1U << 15U;
inline constexpr std::size_t word_vector = 8;

struct Tweet {
  std::vector<std::uint16_t> words;  // their buckets
  bool good = false;
};

// The buckets of the words of a tweet: runs of characters other than spaces.
std::vector<std::uint16_t> words_of(std::string_view tweet);

struct WordSettings {
  std::size_t batch_size = 128;
  double learning_rate = 1.0;
  std::uint64_t seed = 0;  // of the initial vectors and of the order of tweets
};

class WordTraining {
 public:
  // The tweets outlive the training; there is at least one to train on. A batch size of 0, or above the number of
  // tweets, is replaced by the nearest possible one.
  WordTraining(const std::vector<Tweet>& tweets, const WordSettings& settings);

  [[nodiscard]] std::size_t steps_per_epoch() const;
  // One step on the next mini-batch; every steps_per_epoch() of them are an epoch, which sees each tweet once, in an
  // order of its own.
  void step();
  void epoch();
  // The share of these tweets whose mood is recognized. Does not change the run.
  [[nodiscard]] double accuracy(const std::vector<Tweet>& tweets) const;

 private:
  using Vector = std::array<float, word_vector>;

  [[nodiscard]] float score(const Tweet& tweet, Vector& mean) const;

  const std::vector<Tweet>* tweets_;
  WordSettings settings_;
  std::vector<float> vectors_;  // by bucket
  std::vector<float> output_;
  float bias_ = 0.0F;
  std::vector<std::uint32_t> order_;
  std::size_t next_ = 0;
  std::uint64_t epochs_ = 0;
};

}  // namespace small_network
