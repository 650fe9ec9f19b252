// A request that a test makes itself, and whose answer it looks at later. Any thread may answer.
#pragma once

#include "transport/http.hpp"
#include "transport/peer.hpp"
#include "transport/server.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace zeus::test {

class HeldExchange final : public transport::Exchange {
 public:
  explicit HeldExchange(transport::Request request,
                        transport::Peer peer = {.connection = 1, .local = {}, .address = "127.0.0.1"})
      : request_{std::move(request)}, peer_{std::move(peer)} {}
  [[nodiscard]] const transport::Request& request() const override { return request_; }
  [[nodiscard]] const transport::Peer& peer() const override { return peer_; }
  void answer(transport::Answer answer) override {
    {
      const std::lock_guard guard{mutex_};
      if (!answer_) {
        answer_ = std::move(answer);
      }
    }
    changed_.notify_all();
  }
  std::shared_ptr<transport::Stream> stream(int /*status*/, transport::Headers /*headers*/) override { return nullptr; }
  [[nodiscard]] bool is_abandoned() const override { return false; }
  void when_abandoned(std::function<void()> /*work*/) override {}

  [[nodiscard]] std::optional<transport::Answer> answered() const {
    const std::lock_guard guard{mutex_};
    return answer_;
  }
  // Of a worker.
  void wait_for_answer() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return answer_.has_value(); });
  }

 private:
  transport::Request request_;
  transport::Peer peer_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<transport::Answer> answer_;
};

}  // namespace zeus::test
