// Keys that sign and verify tokens. What they are made of is never printed, and is wiped when they end. An object
// belongs to one thread; functions of the file system are for any.
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
  // `bytes` are a file's, whole: with the line's end that it may have. None beside that is an invalid_argument Error.
  Key(std::string id, const std::string& bytes);

  [[nodiscard]] const std::string& id() const { return id_; }  // empty for a key that is alone
  // The signature of a token's first two parts, as its third.
  [[nodiscard]] std::string sign(std::string_view signing_input) const;
  // In constant time. What was signed with the same key without its last line's end is taken as well.
  [[nodiscard]] bool verify(std::string_view signing_input, std::string_view signature) const;

 private:
  struct Secret;

  std::string id_;
  std::shared_ptr<const Secret> secret_;
};

struct KeyRing {
  std::vector<Key> keys;  // ascending by id; at least one

  // By id; where `id` is empty the last one, which signs what is new. A not_found Error where there is none.
  [[nodiscard]] const Key& key(std::string_view id = {}) const;
};

// A file is one key; in a folder, each file is one, and its name the id (those that begin with "." are passed over, a
// name beyond letters, digits and "._-" is refused). A permission_denied Error where somebody other than root or `user`
// could have written to it, or anybody but its owner may read it; a not_found Error where there is none.
KeyRing read_keys(const std::filesystem::path& file_or_folder, uid_t user);

}  // namespace zeus::tokens
