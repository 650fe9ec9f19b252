// The socket that a program of ours gets from the process that starts it, as its first descriptor after the standard
// streams. The first call in that program's main.
#pragma once

#include "base/file_descriptor.hpp"

namespace zeus {

inline constexpr int inherited_socket_number = 3;

// Closes all other descriptors that were inherited by accident. An invalid_argument Error if there is no such socket:
// then this program was not started by Zeus.
FileDescriptor take_inherited_socket();

}  // namespace zeus
