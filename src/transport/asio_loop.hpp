// The inside of an EventLoop, for code of this module that waits for sockets with it. Include it rarely: Asio's headers
// take long to compile.
#pragma once

#include "transport/event_loop.hpp"

#include <boost/asio/io_context.hpp>

namespace zeus::transport {

struct EventLoop::State {
  boost::asio::io_context context{1};  // one thread runs it
};

}  // namespace zeus::transport
