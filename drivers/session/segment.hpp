// Memory that processes share, and that exists exactly as long as one of them does: an anonymous file (memfd) of a
// fixed size, with mode 0600 unless it is for all users, so that it vanishes with its last process however that ends.
// The maker passes it on by inheritance and by name (`Segment::reference`, an environment variable). A process can
// attach if it has the descriptor itself, if the maker or an ancestor that still holds it lives, or through a door
// (session_door.hpp). Attaching needs no descriptor afterwards, so a process may close all it has. A Segment is
// movable, and unmaps when it is destroyed; the session decides what lies in it.
#pragma once

#include "base/file_descriptor.hpp"
#include "drivers/session/session_door.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zeus::drivers {

class Segment {
 public:
  // The first bytes of every segment, which tell other files from ours.
  struct Head {
    std::uint64_t magic;
    std::uint32_t layout;
    std::uint32_t head_bytes;
    std::uint64_t bytes;
    std::uint64_t token;
  };

  // Zeroed memory of that size, beginning with a Head; its token is a number that no other segment has. The descriptor
  // stays open, and children of this process inherit it.
  static Segment create(std::size_t bytes, std::uint32_t layout, Admission admission = Admission::own_user);
  // Nothing if the segment that `reference` names is gone. Another layout, or an invalid reference, is an Error.
  static std::optional<Segment> attach(std::string_view reference, std::uint32_t layout);
  // The same, and this process then passes it on as if it had made it.
  static std::optional<Segment> adopt(std::string_view reference, std::uint32_t layout);

  // The reference of the segment that this process made; nothing if it made none, or may not be looked at.
  static std::optional<std::string> find(int process);

  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();

  // "<pid>:<descriptor>:<token>" of this process, which made or adopted it.
  [[nodiscard]] std::string reference() const;
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] const Head& head() const;
  // Its descriptor, if this process made or adopted it.
  [[nodiscard]] int file() const { return file_.get(); }

 private:
  Segment(FileDescriptor file, std::byte* data, std::size_t size);
  static std::optional<Segment> search(std::string_view reference, std::uint32_t layout);
  static std::optional<Segment> map(FileDescriptor file, std::uint64_t token, std::uint32_t layout);

  FileDescriptor file_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace zeus::drivers
