// By what a server believes tokens: the keys, and the tokens that were taken back. Plain values, read from files by
// functions of the file system; any thread.
#pragma once

#include "tokens/key_ring.hpp"
#include "tokens/revocations.hpp"

#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace zeus::tokens {

// What may be replaced while a server runs.
struct Credentials {
  std::optional<KeyRing> keys;  // nothing: no tokens
  Revocations revoked;
};

// The keys of a file or folder, and what lies beside it of revoked tokens. Errors are those of read_keys(), and those
// of a file that cannot be understood, or that somebody other than root or `user` can have written.
Credentials read_credentials(const std::filesystem::path& keys, uid_t user);

// The file of revoked tokens, which lies beside the keys: "keys.revoked".
std::filesystem::path revocations_of(const std::filesystem::path& keys);

}  // namespace zeus::tokens
