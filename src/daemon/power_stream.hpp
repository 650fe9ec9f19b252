// The power of one device, sent to all listeners: read once a period for all of them, and not at all without any. A
// value is sent to a new listener at once, to all when it changes, and at least each second, so that constant power can
// be told from a daemon that is gone. A listener that does not keep up loses values. Threads: the loop's. Ownership:
// the loop outlives this object, which shares the streams.
#pragma once

#include "daemon/loop.hpp"
#include "transport/http.hpp"
#include "transport/server.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::daemon {

class PowerStream {
 public:
  // What is sent of a sample: the whole event, and its value without the time, to see whether it has changed. If it is
  // not known, `event` is the reason.
  struct Sample {
    bool is_known = false;
    std::string value;
    std::string event;
  };
  using Read = std::function<void(std::function<void(Sample)>)>;

  PowerStream(Loop& loop, Seconds period, Read read);

  // Of the answer that a listener gets.
  static transport::Headers headers();
  void add(std::shared_ptr<transport::Stream> listener);
  // Ends all streams: a client that may still listen asks again.
  void end_all();
  void tick(Instant now);
  [[nodiscard]] std::size_t listeners() const { return listeners_.size() + new_.size(); }

 private:
  void poll(Instant now);
  void tell(const Sample& sample);

  Loop& loop_;
  Seconds period_;
  Read read_;
  std::vector<std::shared_ptr<transport::Stream>> listeners_;
  std::vector<std::shared_ptr<transport::Stream>> new_;  // have no first sample yet
  std::optional<std::string> last_;
  Instant last_told_;
  std::optional<Instant> next_;
  bool is_reading_ = false;
};

}  // namespace zeus::daemon
