#include "tokens/digest.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <openssl/evp.h>

#include <array>

namespace zeus::tokens {

std::string sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    throw Error{ErrorKind::internal, "a string cannot be hashed"};
  }
  return fmt::format("sha256:{:02x}", fmt::join(digest.begin(), digest.begin() + length, ""));
}

}  // namespace zeus::tokens
