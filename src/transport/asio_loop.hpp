// What an EventLoop is made of, for those of this module that wait for sockets with it. Included by few: Asio's headers
// take long to compile.
#pragma once

#include "transport/event_loop.hpp"

#include <boost/asio/io_context.hpp>

namespace zeus::transport {

struct EventLoop::State {
  boost::asio::io_context context{1};  // one thread runs it
};

}  // namespace zeus::transport
