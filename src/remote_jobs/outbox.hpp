// What a recurrence has to tell its server, in order: told as soon as the server is there, by a thread of its own, so
// that a training never waits for it. Any thread may put; an object is made and destroyed by one.
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
  // Tells the server of a change; throws as ServiceClient::make does. Called by the thread alone.
  using Tell = std::function<void(const Change&)>;

  Outbox(Clock& clock, Tell tell);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  // What has not been told by then is not told.
  ~Outbox();

  // What replaces is told in place of what was put last, where that is still to be told and replaces as well: how far a
  // training has come.
  enum class Kind { keep, replace };
  void put(Change change, Kind kind = Kind::keep);
  // Told where there is nothing else to tell, and dropped where it fails: a sign of life.
  void put_if_idle(Change change);
  // Why the server does not take what it is told: nothing more is told then.
  [[nodiscard]] std::optional<Error> refusal() const;
  // Whether all was told; returns at once when something is refused. `hurry` as in Patience.
  bool wait_until_told(Seconds patience, const std::function<bool()>& hurry);

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
  std::deque<Letter> letters_;  // the first one is being told
  bool telling_ = false;
  bool stopping_ = false;
  std::optional<Error> refusal_;
  std::thread thread_;
};

}  // namespace zeus::remote_jobs
