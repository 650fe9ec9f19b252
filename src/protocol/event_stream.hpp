// Server-sent events: a stream of strings in one answer without an end. Pure functions, and a reader that belongs to
// one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace zeus::protocol {

inline constexpr std::string_view event_stream_type = "text/event-stream";

// "data: {...}\n\n". A string of several lines becomes as many lines of one event.
std::string event_text(std::string_view data);
// ": still here\n\n", which readers ignore: it tells a silent stream from a dead one.
std::string comment_text(std::string_view comment);

// Reads a stream in pieces that are cut anywhere, with any line ends. Ignores comments, names, IDs and pauses.
class EventReader {
 public:
  // For an event or a line longer than `most_bytes`, read() throws a corrupt_data Error; a new stream must then begin.
  explicit EventReader(std::size_t most_bytes = std::size_t{64} * 1024) : most_bytes_{most_bytes} {}

  // Calls `event` with the data of each event that `piece` completes.
  void read(std::string_view piece, const std::function<void(std::string_view data)>& event);

 private:
  void end_line(const std::function<void(std::string_view data)>& event);

  std::size_t most_bytes_;
  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_return_ = false;  // "\r" has ended a line; a "\n" that follows belongs to it
  bool first_line_ = true;     // it may begin with a byte order mark
};

}  // namespace zeus::protocol
