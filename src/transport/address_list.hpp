// The addresses that getaddrinfo() finds. A plain owner; one thread at a time.
#pragma once

#include <netdb.h>

#include <memory>

namespace zeus::transport {

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, FreeAddresses>;

}  // namespace zeus::transport
