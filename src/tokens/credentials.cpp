#include "tokens/credentials.hpp"

#include "base/trusted_file.hpp"

#include <cstddef>
#include <string>

namespace zeus::tokens {

std::filesystem::path revocations_of(const std::filesystem::path& keys) {
  std::filesystem::path file = keys.has_filename() ? keys : keys.parent_path();
  file += ".revoked";
  return file;
}

Credentials read_credentials(const std::filesystem::path& keys, uid_t user) {
  Credentials credentials{.keys = read_keys(keys, user), .revoked = {}};
  if (const std::optional<std::string> revoked = read_trusted(revocations_of(keys), user, longest_revocations)) {
    credentials.revoked = Revocations::parse(*revoked);
  }
  return credentials;
}

}  // namespace zeus::tokens
