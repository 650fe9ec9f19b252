// One end of a socket pair that keeps the bounds of messages, between zeusd and its setter. Each end belongs to one
// thread at a time, except that any thread may send.
#pragma once

#include "base/file_descriptor.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace zeus::setter {

class Channel {
 public:
  Channel() = default;
  explicit Channel(FileDescriptor socket) : socket_{std::move(socket)} {}

  // Two connected ends. A system Error if there is no descriptor left.
  static std::array<Channel, 2> pair();

  // False if the other end is gone. Waits while its queue is full. `with` is a descriptor that goes along; the receiver
  // gets a copy.
  bool send(std::span<const std::byte> message, int with = -1) const;
  // The same, but does not wait: false if the queue is full.
  bool send_if_room(std::span<const std::byte> message) const;
  // Waits for the next message and returns its size; nothing if the other end is gone. Of a message longer than the
  // buffer the size is larger than the buffer. A descriptor that comes along replaces `with`; without one it is closed.
  std::optional<std::size_t> receive(std::span<std::byte> buffer, FileDescriptor* with = nullptr) const;
  // Nothing more is sent from here.
  void end() const;

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] const FileDescriptor& socket() const { return socket_; }

 private:
  FileDescriptor socket_;
};

}  // namespace zeus::setter
