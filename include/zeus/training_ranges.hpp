// The ranges of a range-based for in a training loop: epochs, and the steps of one (zeus/train.hpp). They refer to the
// training and to the batches, which outlive them. One thread.
#pragma once

#include <cstdint>
#include <iterator>
#include <utility>

namespace zeus {

template <typename Training>
class TrainingEpochs {
 public:
  explicit TrainingEpochs(Training& training) : training_{&training} {}

  class Iterator {
   public:
    explicit Iterator(Training& training) : training_{&training}, going_{training.next_epoch()} {}
    std::uint64_t operator*() const { return number_; }
    Iterator& operator++() {
      ++number_;
      going_ = training_->next_epoch();
      return *this;
    }
    friend bool operator==(const Iterator& at, std::default_sentinel_t /*end*/) { return !at.going_; }

   private:
    Training* training_;
    std::uint64_t number_ = 1;
    bool going_;
  };

  [[nodiscard]] Iterator begin() const { return Iterator{*training_}; }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  Training* training_;
};

template <typename Training, typename Batches>
class TrainingSteps {
 public:
  TrainingSteps(Training& training, Batches& batches) : training_{&training}, batches_{&batches} {}

  class Iterator {
   public:
    Iterator(Training& training, Batches& batches)
        : training_{&training}, at_{std::begin(batches)}, end_{std::end(batches)} {
      begin_or_end();
    }
    decltype(auto) operator*() { return *at_; }
    Iterator& operator++() {
      ++at_;
      begin_or_end();
      return *this;
    }
    friend bool operator==(const Iterator& step, std::default_sentinel_t /*end*/) { return step.at_ == step.end_; }

   private:
    void begin_or_end() {
      if (at_ == end_) {
        training_->end_steps();
      } else {
        training_->begin_step();
      }
    }

    Training* training_;
    decltype(std::begin(std::declval<Batches&>())) at_;
    decltype(std::end(std::declval<Batches&>())) end_;
  };

  [[nodiscard]] Iterator begin() const { return {*training_, *batches_}; }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  Training* training_;
  Batches* batches_;
};

}  // namespace zeus
