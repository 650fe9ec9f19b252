// Asks the kernel which process is at the other end of a socket. Functions of the system; any thread.
#pragma once

#include "transport/peer.hpp"

#include <string>

namespace zeus::transport {

// For a connection to a Unix socket that was accepted just now.
LocalPeer local_peer_of(int socket);
// Its user alone, which the kernel reports at once.
uid_t user_of(int socket);
// "192.0.2.7", for a connection over TCP.
std::string address_of_peer(int socket);
bool is_unix_socket(int socket);

}  // namespace zeus::transport
