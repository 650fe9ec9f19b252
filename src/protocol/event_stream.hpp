// Server-sent events: a stream of texts over one answer that does not end. Pure functions, and a reader of which each
// belongs to one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace zeus::protocol {

inline constexpr std::string_view event_stream_type = "text/event-stream";

// "data: {...}\n\n". A text of several lines becomes as many lines of one event.
std::string event_text(std::string_view data);
// ": still here\n\n", which readers pass over: so that a silent stream is told from a dead one.
std::string comment_text(std::string_view comment);

// Takes a stream in pieces that are cut anywhere, with any line ends. Comments, names, ids and pauses are passed over.
class EventReader {
 public:
  // A longer event, or line, than `most_bytes` is a corrupt_data Error of read(); after it, begin a new stream.
  explicit EventReader(std::size_t most_bytes = std::size_t{64} * 1024) : most_bytes_{most_bytes} {}

  // Calls `event` with the data of each event that `piece` completes.
  void read(std::string_view piece, const std::function<void(std::string_view data)>& event);

 private:
  void end_line(const std::function<void(std::string_view data)>& event);

  std::size_t most_bytes_;
  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_return_ = false;  // "\r" has ended a line; a "\n" now belongs to it
  bool first_line_ = true;     // which may begin with a byte order mark
};

}  // namespace zeus::protocol
