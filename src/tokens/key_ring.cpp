#include "tokens/key_ring.hpp"

#include "base/trusted_file.hpp"
#include "tokens/base64url.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <system_error>
#include <utility>

namespace zeus::tokens {

namespace {

constexpr std::size_t most_key_bytes = 4096;
constexpr std::size_t most_keys = 64;
constexpr std::size_t most_id_bytes = 64;

std::string_view without_line_end(std::string_view bytes) {
  if (bytes.ends_with('\n')) {
    bytes.remove_suffix(bytes.ends_with("\r\n") ? 2 : 1);
  }
  return bytes;
}

std::string signature_of(std::string_view signing_input, std::string_view key) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(signing_input.data()), signing_input.size(), digest.data(),
           &length) == nullptr) {
    throw Error{ErrorKind::internal, "a token cannot be signed"};
  }
  return to_base64url({reinterpret_cast<const char*>(digest.data()), length});
}

bool is_key_name(std::string_view name) {
  return name.size() <= most_id_bytes && std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
                  c == '-';
         });
}

Key read_key(const std::filesystem::path& file, std::string id, uid_t user) {
  const std::optional<std::string> bytes = read_trusted(file, user, most_key_bytes, Readers::owner);
  if (!bytes) {
    throw Error{ErrorKind::not_found, fmt::format("there is no signing key {}", file.string()),
                fmt::format("make one: (umask 077; head -c 32 /dev/urandom | base64 > {})", file.string())};
  }
  if (without_line_end(*bytes).empty()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the signing key {} is empty", file.string()),
                fmt::format("make one: (umask 077; head -c 32 /dev/urandom | base64 > {})", file.string())};
  }
  return Key{std::move(id), *bytes};
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with('.')) {
      continue;
    }
    if (!is_key_name(name)) {
      throw Error{
          ErrorKind::invalid_argument,
          fmt::format("a file among the signing keys of {} has a name that cannot be a key's ID", folder.string()),
          fmt::format("name it with letters, digits and '._-', {} at most", most_id_bytes)};
    }
    if (names.size() == most_keys) {
      throw Error{ErrorKind::invalid_argument, fmt::format("{} has more than {} keys", folder.string(), most_keys),
                  "remove those that are no longer in use"};
    }
    names.push_back(std::move(name));
  }
  if (error) {
    throw Error{ErrorKind::unavailable,
                fmt::format("cannot list the signing keys in {}: {}", folder.string(), error.message())};
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

struct Key::Secret {
  explicit Secret(std::string its_bytes) : bytes{std::move(its_bytes)} {}
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { OPENSSL_cleanse(bytes.data(), bytes.size()); }

  std::string bytes;
};

Key::Key(std::string id, const std::string& bytes)
    : id_{std::move(id)}, secret_{std::make_shared<const Secret>(bytes)} {
  if (without_line_end(bytes).empty()) {
    throw Error{ErrorKind::invalid_argument, "a signing key is empty"};
  }
}

std::string Key::sign(std::string_view signing_input) const {
  return signature_of(signing_input, secret_->bytes);
}

bool Key::verify(std::string_view signing_input, std::string_view signature) const {
  const auto agrees = [&](std::string_view key) {
    const std::string expected = signature_of(signing_input, key);
    return expected.size() == signature.size() &&
           CRYPTO_memcmp(expected.data(), signature.data(), expected.size()) == 0;
  };
  const bool whole = agrees(secret_->bytes);
  const bool line = agrees(without_line_end(secret_->bytes));
  return whole || line;
}

const Key& KeyRing::key(std::string_view id) const {
  const auto found = id.empty() && !keys.empty() ? std::prev(keys.end()) : std::ranges::find(keys, id, &Key::id);
  if (found == keys.end()) {
    throw Error{ErrorKind::not_found, fmt::format("there is no signing key '{}'", id)};
  }
  return *found;
}

KeyRing read_keys(const std::filesystem::path& file_or_folder, uid_t user) {
  std::error_code error;
  KeyRing ring;
  if (!std::filesystem::is_directory(file_or_folder, error)) {
    ring.keys.push_back(read_key(file_or_folder, {}, user));
    return ring;
  }
  for (const std::string& name : names_in(file_or_folder)) {
    ring.keys.push_back(read_key(file_or_folder / name, name, user));
  }
  if (ring.keys.empty()) {
    throw Error{ErrorKind::not_found, fmt::format("there is no signing key in {}", file_or_folder.string()),
                "make one: each file is a key, and its name the key's id"};
  }
  return ring;
}

}  // namespace zeus::tokens
