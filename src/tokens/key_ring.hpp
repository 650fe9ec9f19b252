// Keys that sign and verify tokens. Their bytes are never printed, and are wiped when the keys end. An object belongs
// to one thread; functions of the file system may be called from any.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::tokens {

class Key {
 public:
  // `bytes` are a whole file, with its last line end if it has one. Throws an invalid_argument Error if nothing else is
  // left.
  Key(std::string id, const std::string& bytes);

  [[nodiscard]] const std::string& id() const { return id_; }  // empty for a single key
  // Signs a token's first two parts; the signature is its third.
  [[nodiscard]] std::string sign(std::string_view signing_input) const;
  // Takes constant time. Also accepts signatures by the same key without its last line end.
  [[nodiscard]] bool verify(std::string_view signing_input, std::string_view signature) const;

 private:
  struct Secret;

  std::string id_;
  std::shared_ptr<const Secret> secret_;
};

struct KeyRing {
  std::vector<Key> keys;  // ascending by id; at least one

  // By ID; with an empty `id` the last key, which signs new tokens. Throws a not_found Error if there is none.
  [[nodiscard]] const Key& key(std::string_view id = {}) const;
};

// A file is one key. In a folder, each file is one and its name is the ID; files that begin with "." are ignored, and a
// name with anything but letters, digits and "._-" is refused. Throws a permission_denied Error if anyone but root or
// `user` could have written it, or anyone but its owner may read it, and a not_found Error if there is none.
KeyRing read_keys(const std::filesystem::path& file_or_folder, uid_t user);

}  // namespace zeus::tokens
