// A socket as OpenSSL reads and writes it: without waiting and without SIGPIPE, which would end a training. For this
// module alone; one thread at a time.
#pragma once

#include <openssl/bio.h>

namespace zeus::tls {

// For SSL_set_bio(), which owns it; the socket stays its owner's. Null if there is no memory.
BIO* socket_bio(int socket);

}  // namespace zeus::tls
