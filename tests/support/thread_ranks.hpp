// Ranks that are threads of one process: a Collective between them, with ranks that die on command. Each rank uses its
// own object from one thread.
#pragma once

#include <zeus/collective.hpp>
#include <zeus/error.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace zeus::test {

// The ranks' meeting point: each rank brings bytes, and all get the combined result.
class Meeting {
 public:
  explicit Meeting(int size) : size_{size} {}
  [[nodiscard]] int size() const { return size_; }

  using Join = std::function<void(std::vector<std::byte>& all, const std::vector<std::byte>& one)>;

  std::vector<std::byte> attend(const std::vector<std::byte>& mine, const Join& join, Seconds patience) {
    std::unique_lock lock{mutex_};
    const std::uint64_t round = round_;
    if (arrived_ == 0) {
      gathered_ = mine;
    } else {
      if (mine.size() != gathered_.size()) {
        throw Error{ErrorKind::corrupt_data, "the ranks are not at the same point"};
      }
      join(gathered_, mine);
    }
    if (++arrived_ == size_) {
      result_ = gathered_;
      arrived_ = 0;
      ++round_;
      all_here_.notify_all();
      return result_;
    }
    if (!all_here_.wait_for(lock, std::chrono::duration<double>(patience.value()), [&] { return round_ != round; })) {
      throw Error{ErrorKind::timeout, "a rank does not come"};
    }
    return result_;
  }

 private:
  int size_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::uint64_t round_ = 0;
  int arrived_ = 0;
  std::vector<std::byte> gathered_;
  std::vector<std::byte> result_;
};

class ThreadRank final : public Collective {
 public:
  ThreadRank(std::shared_ptr<Meeting> meeting, int rank) : meeting_{std::move(meeting)}, rank_{rank} {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return meeting_->size(); }

  void sum(std::span<double> values, Seconds patience) override {
    reduce(values, patience, [](double a, double b) { return a + b; });
  }
  void max(std::span<double> values, Seconds patience) override {
    reduce(values, patience, [](double a, double b) { return std::max(a, b); });
  }
  void broadcast(std::span<std::byte> bytes, int root, Seconds patience) override {
    // The first byte says whether the rest is the root's.
    std::vector<std::byte> mine(bytes.size() + 1);
    if (rank_ == root) {
      mine[0] = std::byte{1};
      std::ranges::copy(bytes, mine.begin() + 1);
    }
    const std::vector<std::byte> all = meeting_->attend(
        mine,
        [](std::vector<std::byte>& kept, const std::vector<std::byte>& one) {
          if (one[0] == std::byte{1}) {
            kept = one;
          }
        },
        patience);
    std::copy(all.begin() + 1, all.end(), bytes.begin());
  }

 private:
  template <typename Operation>
  void reduce(std::span<double> values, Seconds patience, Operation operation) {
    std::vector<std::byte> mine(values.size_bytes());
    std::memcpy(mine.data(), values.data(), mine.size());
    const std::vector<std::byte> all = meeting_->attend(
        mine,
        [operation](std::vector<std::byte>& kept, const std::vector<std::byte>& one) {
          for (std::size_t at = 0; at < kept.size(); at += sizeof(double)) {
            double a = 0;
            double b = 0;
            std::memcpy(&a, kept.data() + at, sizeof a);
            std::memcpy(&b, one.data() + at, sizeof b);
            a = operation(a, b);
            std::memcpy(kept.data() + at, &a, sizeof a);
          }
        },
        patience);
    std::memcpy(values.data(), all.data(), all.size());
  }

  std::shared_ptr<Meeting> meeting_;
  int rank_;
};

}  // namespace zeus::test
