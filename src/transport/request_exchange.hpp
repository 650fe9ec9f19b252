// A connection's request in the form that its handler gets (server.hpp). It keeps what is left of the connection. For
// this module alone; any thread.
#pragma once

#include "transport/server.hpp"

#include <cstdint>
#include <memory>

namespace zeus::transport {

class Connection;

// `number` is the request's number on that connection.
std::shared_ptr<Exchange> exchange_of(std::shared_ptr<Connection> connection, std::uint64_t number, Request request);

}  // namespace zeus::transport
