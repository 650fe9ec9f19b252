// The signals by which a service is told to end or to read its files anew, as a descriptor to be waited for. Main
// thread, before others are started.
#pragma once

#include "base/file_descriptor.hpp"

namespace zeus {

// SIGTERM, SIGINT and SIGHUP, which are blocked in every thread that is started from here on; it does not block. A pipe
// that nobody reads ends nothing any more.
FileDescriptor service_signals();

}  // namespace zeus
