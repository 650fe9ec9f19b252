// The reports of a recurrence to its server, and its questions, in order. The outbox has its own thread, which sends
// them as soon as the server can be reached, so a training never waits. Any thread may put; one thread creates and
// destroys the object, and asks.
#pragma once

#include "base/clock.hpp"
#include "remote_jobs/patience.hpp"
#include "remote_jobs/service_client.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace zeus::remote_jobs {

class Outbox {
 public:
  // Sends a change to the server and returns its answer; throws as ServiceClient::make does. Called by the outbox's
  // thread alone, which destroys it as well: a request that a stopped server leaves open may outlive the outbox.
  using Tell = std::function<std::string(const Change&)>;

  Outbox(Clock& clock, Tell tell);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  // Does not wait for a request. Changes that have not been sent are lost.
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
  struct Desk;  // shared with the thread

  std::shared_ptr<Desk> desk_;
  std::thread thread_;
};

}  // namespace zeus::remote_jobs
