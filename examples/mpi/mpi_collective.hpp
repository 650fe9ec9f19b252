// Lets the ranks of an MPI program communicate for Zeus: a zeus::Collective over nonblocking collectives, which are
// abandoned when they take too long, for example because a rank has died. Header-only; link MPI. One thread uses it, as
// zeus/collective.hpp says, between MPI_Init and MPI_Finalize.
#pragma once

#include <zeus/collective.hpp>
#include <zeus/error.hpp>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

class MpiCollective final : public zeus::Collective {
 public:
  // A separate communicator, so that it does not interfere with the program's messages. All ranks create one.
  explicit MpiCollective(MPI_Comm ranks = MPI_COMM_WORLD) {
    check(MPI_Comm_dup(ranks, &ranks_), "duplicating the communicator");
    MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(ranks_, &rank_);
    MPI_Comm_size(ranks_, &size_);
  }
  MpiCollective(const MpiCollective&) = delete;
  MpiCollective& operator=(const MpiCollective&) = delete;
  ~MpiCollective() override {
    // An abandoned collective is still under way, so nothing of it may be freed.
    if (!given_up_) {
      MPI_Comm_free(&ranks_);
    }
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }

  void sum(std::span<double> values, zeus::Seconds patience) override { reduce(values, MPI_SUM, patience); }
  void max(std::span<double> values, zeus::Seconds patience) override { reduce(values, MPI_MAX, patience); }
  void broadcast(std::span<std::byte> bytes, int root, zeus::Seconds patience) override {
    auto buffer = std::make_unique<std::vector<std::byte>>(bytes.begin(), bytes.end());
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(buffer->data(), static_cast<int>(buffer->size()), MPI_BYTE, root, ranks_, &request),
          "a broadcast");
    if (!wait(request, patience)) {
      give_up(std::move(buffer));
    }
    std::ranges::copy(*buffer, bytes.begin());
  }

 private:
  void reduce(std::span<double> values, MPI_Op operation, zeus::Seconds patience) {
    auto buffer = std::make_unique<std::vector<double>>(values.begin(), values.end());
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(MPI_IN_PLACE, buffer->data(), static_cast<int>(buffer->size()), MPI_DOUBLE, operation, ranks_,
                         &request),
          "a reduction");
    if (!wait(request, patience)) {
      give_up(std::move(buffer));
    }
    std::ranges::copy(*buffer, values.begin());
  }

  // Whether it ended in time.
  static bool wait(MPI_Request& request, zeus::Seconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience.value());
    for (auto pause = std::chrono::microseconds{0}; true;
         pause = std::min(pause * 2, std::chrono::microseconds{1000})) {
      int done = 0;
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "waiting for other ranks");
      if (done != 0) {
        return true;
      }
      if (std::chrono::steady_clock::now() > deadline) {
        return false;
      }
      std::this_thread::sleep_for(pause);
      pause = std::max(pause, std::chrono::microseconds{1});
    }
  }

  // MPI may still write into the buffer, and this cannot be cancelled.
  template <typename Buffer>
  [[noreturn]] void give_up(std::unique_ptr<Buffer> buffer) {
    given_up_ = true;
    static_cast<void>(buffer.release());
    throw zeus::Error{zeus::ErrorKind::timeout, "a rank does not take part", "see what became of it"};
  }

  static void check(int code, const char* what) {
    if (code != MPI_SUCCESS) {
      throw zeus::Error{zeus::ErrorKind::unavailable, std::string{"MPI failed in "} + what, "see what MPI says of it"};
    }
  }

  MPI_Comm ranks_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  bool given_up_ = false;
};
