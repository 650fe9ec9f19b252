// Tokens that are not to be believed any more, as a file: a line for each with its id (claims.hpp) and when it expires
// by itself ("-" where it never does), from when on the line is no longer needed. Plain values; copy them freely.
#pragma once

#include "tokens/claims.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace zeus::tokens {

class Revocations {
 public:
  Revocations() = default;

  // Empty lines and those that begin with "#" are passed over. What is no such line is a corrupt_data Error with its
  // number.
  static Revocations parse(std::string_view text);
  // As parse() reads it, ascending by id.
  [[nodiscard]] std::string text() const;

  [[nodiscard]] bool contains(std::string_view id) const { return expiries_.contains(id); }
  [[nodiscard]] std::size_t size() const { return expiries_.size(); }
  // An id that is not one word of printable characters is an invalid_argument Error.
  void add(std::string_view id, std::optional<UnixSeconds> expires);
  // Drops what has expired by itself, leeway and all.
  void prune(UnixSeconds now);

  friend bool operator==(const Revocations&, const Revocations&) = default;

 private:
  std::map<std::string, std::optional<UnixSeconds>, std::less<>> expiries_;
};

}  // namespace zeus::tokens
