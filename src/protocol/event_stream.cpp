#include "protocol/event_stream.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::protocol {

namespace {

constexpr std::string_view byte_order_mark{"\xef\xbb\xbf"};

// Puts each line of `text`, with any line ends, after `field`, and an empty line after the last.
std::string lines_text(std::string_view field, std::string_view text) {
  std::string lines;
  for (bool more = true; more;) {
    const std::size_t end = text.find_first_of("\r\n");
    lines.append(field).append(" ").append(text.substr(0, end)) += '\n';
    more = end != std::string_view::npos;
    if (more) {
      text.remove_prefix(text.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
    }
  }
  return lines += '\n';
}

}  // namespace

std::string event_text(std::string_view data) {
  return lines_text("data:", data);
}

std::string comment_text(std::string_view comment) {
  return lines_text(":", comment);
}

void EventReader::read(std::string_view piece, const std::function<void(std::string_view data)>& event) {
  while (!piece.empty()) {
    if (after_return_) {
      after_return_ = false;
      if (piece.front() == '\n') {
        piece.remove_prefix(1);
        continue;
      }
    }
    const std::size_t end = std::min(piece.find_first_of("\r\n"), piece.size());
    if (line_.size() + end > most_bytes_) {
      throw Error{ErrorKind::corrupt_data,
                  fmt::format("a line of the event stream has more than {} bytes", most_bytes_),
                  "check that it comes from the right server"};
    }
    line_ += piece.substr(0, end);
    if (end == piece.size()) {
      return;
    }
    after_return_ = piece[end] == '\r';
    piece.remove_prefix(end + 1);
    end_line(event);
  }
}

void EventReader::end_line(const std::function<void(std::string_view data)>& event) {
  const std::string whole = std::exchange(line_, {});
  std::string_view line = whole;
  if (std::exchange(first_line_, false) && line.starts_with(byte_order_mark)) {
    line.remove_prefix(byte_order_mark.size());
  }
  if (line.empty()) {
    if (std::exchange(has_data_, false)) {
      const std::string data = std::exchange(data_, {});
      event(data);
    }
    return;
  }
  const std::size_t colon = std::min(line.find(':'), line.size());
  if (line.substr(0, colon) != "data") {
    return;
  }
  line.remove_prefix(std::min(colon + 1, line.size()));
  if (line.starts_with(' ')) {
    line.remove_prefix(1);
  }
  if (data_.size() + line.size() + 1 > most_bytes_) {
    throw Error{ErrorKind::corrupt_data, fmt::format("an event of the stream has more than {} bytes", most_bytes_),
                "check that it comes from the right server"};
  }
  if (has_data_) {
    data_ += '\n';
  }
  data_ += line;
  has_data_ = true;
}

}  // namespace zeus::protocol
