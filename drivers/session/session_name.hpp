// The name of a session, under which further `zeus virtual` of the same user find it: held by the process that created
// the session, and free again once that process is gone, however it ended. Movable; one thread.
#pragma once

#include "base/file_descriptor.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace zeus::drivers {

class SessionName {
 public:
  // Nothing when somebody has it. A name is 1 to 48 letters, digits, '.', '_' and '-'; another one is an
  // invalid_argument Error.
  static std::optional<SessionName> claim(std::string_view name);
  // The reference (Segment) of the session that has this name now; nothing when there is none.
  static std::optional<std::string> reference(std::string_view name);

 private:
  explicit SessionName(FileDescriptor socket) : socket_{std::move(socket)} {}

  FileDescriptor socket_;
};

}  // namespace zeus::drivers
