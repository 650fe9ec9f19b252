// What a server checks tokens with: the keys, and the list of revoked tokens. Plain values, read from files by
// functions of the file system; any thread.
#pragma once

#include "tokens/key_ring.hpp"
#include "tokens/revocations.hpp"

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>

namespace zeus::tokens {

// May be replaced while a server runs.
struct Credentials {
  std::optional<KeyRing> keys;  // empty: no tokens
  Revocations revoked;
};

// Reads the keys of a file or folder, and the list of revoked tokens beside it. Throws the errors of read_keys(), and
// Errors for a file that is not valid or that anyone but root or `user` may have written.
Credentials read_credentials(const std::filesystem::path& keys, uid_t user);

// The file of revoked tokens, which lies beside the keys: "keys.revoked".
std::filesystem::path revocations_of(const std::filesystem::path& keys);
// The most bytes of that file.
inline constexpr std::size_t longest_revocations = std::size_t{1} << 20;

}  // namespace zeus::tokens
