// The name of a session, by which further `zeus virtual` of the same user find it: held by the process that created the
// session, and free again once that process is gone, however it ended. Movable; one thread.
#pragma once

#include "base/file_descriptor.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace zeus::drivers {

class SessionName {
 public:
  // Nothing if the name is taken. A name has 1 to 48 letters, digits, '.', '_' and '-'; any other string is an
  // invalid_argument Error.
  static std::optional<SessionName> claim(std::string_view name);
  // The reference (Segment) of the session that has this name now; nothing if there is none.
  static std::optional<std::string> reference(std::string_view name);

 private:
  explicit SessionName(FileDescriptor socket) : socket_{std::move(socket)} {}

  FileDescriptor socket_;
};

}  // namespace zeus::drivers
