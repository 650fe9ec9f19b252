// The reports of a recurrence to its server, in order. The outbox has its own thread, which sends them as soon as the
// server can be reached, so a training never waits. Any thread may put; one thread creates and destroys the object.
#pragma once

#include "base/clock.hpp"
#include "remote_jobs/patience.hpp"
#include "remote_jobs/service_client.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace zeus::remote_jobs {

class Outbox {
 public:
  // Sends a change to the server; throws as ServiceClient::make does. Called by the outbox's thread alone.
  using Tell = std::function<void(const Change&)>;

  Outbox(Clock& clock, Tell tell);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  // Changes that have not been sent are lost.
  ~Outbox();

  // A `replace` change, such as the progress of a training, replaces the change before it if that is an unsent
  // `replace` too.
  enum class Kind { keep, replace };
  void put(Change change, Kind kind = Kind::keep);
  // For a beat: sent if there is nothing else to send, and dropped if that fails.
  void put_if_idle(Change change);
  // The server's reason for refusing a change; nothing more is sent after it.
  [[nodiscard]] std::optional<Error> refusal() const;
  // Whether all was sent; returns at once after a refusal.
  bool wait_until_told(Patience& left);

 private:
  struct Letter {
    Change change;
    Kind kind = Kind::keep;
    bool is_beat = false;
  };

  void run();

  Clock& clock_;
  Tell tell_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Letter> letters_;  // the first one is being sent
  bool telling_ = false;
  bool stopping_ = false;
  std::optional<Error> refusal_;
  std::thread thread_;
};

}  // namespace zeus::remote_jobs
