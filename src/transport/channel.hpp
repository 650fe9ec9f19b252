// How the bytes of a client's connection travel: as they are, or in another form, such as TLS. A channel never waits:
// the connection that uses it waits for what it wants. One thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace zeus::transport {

class Channel {
 public:
  enum class Now {
    moved,           // `count` bytes; the greeting is over
    wants_to_read,   // nothing moves before the socket can be read
    wants_to_write,  // or written
    ended,           // nothing more will come
    broken,          // the same, and what came before may not be all
  };
  struct Step {
    Now now = Now::broken;
    std::size_t count = 0;
  };

  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  // Before anything else, until it has moved. Throws an unavailable Error if the server is not accepted.
  virtual Step greet() = 0;
  virtual Step send(std::string_view bytes) = 0;
  virtual Step receive(std::span<char> room) = 0;
  // Whether the server has neither ended the connection nor sent anything unasked.
  virtual bool is_quiet() = 0;
};

// Makes the channel over a connected socket, which outlives it and may be set to block.
using ChannelOver = std::function<std::unique_ptr<Channel>(int socket)>;

}  // namespace zeus::transport
