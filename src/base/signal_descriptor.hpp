// The signals that tell a service to end or to read its files again, as a descriptor to wait for. Main thread, before
// others are started.
#pragma once

#include "base/file_descriptor.hpp"

namespace zeus {

// SIGTERM, SIGINT and SIGHUP, blocked in every thread that is started from here on. The descriptor does not block. From
// here on, a write to a pipe without a reader no longer ends the process.
FileDescriptor service_signals();

}  // namespace zeus
