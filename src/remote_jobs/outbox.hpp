// The reports of a recurrence to its server, and its questions, in order. The outbox has its own thread, which sends
// them as soon as the server can be reached, so a training never waits. Any thread may put; one thread creates and
// destroys the object, and asks.
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
  // Sends a change to the server and returns its answer; throws as ServiceClient::make does. Called by the outbox's
  // thread alone.
  using Tell = std::function<std::string(const Change&)>;

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
  // A change whose answer is needed; one at a time.
  void ask(Change change);
  // The answer, once there is one; then it is forgotten here.
  std::optional<std::string> take_answer();
  // The server's reason for refusing a change; nothing more is sent after it.
  [[nodiscard]] std::optional<Error> refusal() const;
  // Whether all was sent; returns at once after a refusal.
  bool wait_until_told(Patience& left);

 private:
  struct Letter {
    Change change;
    Kind kind = Kind::keep;
    bool is_beat = false;
    bool is_question = false;
  };

  void run();
  [[nodiscard]] bool asks() const;

  Clock& clock_;
  Tell tell_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Letter> letters_;  // the first one is being sent
  bool telling_ = false;
  bool stopping_ = false;
  std::optional<std::string> answer_;
  std::optional<Error> refusal_;
  std::thread thread_;
};

}  // namespace zeus::remote_jobs
