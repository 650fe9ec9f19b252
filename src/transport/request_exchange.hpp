// A request of a connection, as its handler has it (server.hpp): it keeps what is left of the connection. In this
// module alone; any thread.
#pragma once

#include "transport/server.hpp"

#include <cstdint>
#include <memory>

namespace zeus::transport {

class Connection;

// `number` is the request's on that connection.
std::shared_ptr<Exchange> exchange_of(std::shared_ptr<Connection> connection, std::uint64_t number, Request request);

}  // namespace zeus::transport
