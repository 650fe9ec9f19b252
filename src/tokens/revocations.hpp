// The file of revoked tokens: a line for each, with its ID (claims.hpp) and when it expires by itself ("-" if it never
// does); after that, the line is no longer needed. Plain values; copy them freely.
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

  // Ignores empty lines and those that begin with "#". Throws a corrupt_data Error, with the line's number, for any
  // other line that has not this form.
  static Revocations parse(std::string_view text);
  // In the form that parse() reads, ascending by ID.
  [[nodiscard]] std::string text() const;

  [[nodiscard]] bool contains(std::string_view id) const { return expiries_.contains(id); }
  [[nodiscard]] std::size_t size() const { return expiries_.size(); }
  // Throws an invalid_argument Error for an ID that is not one printable word.
  void add(std::string_view id, std::optional<UnixSeconds> expires);
  // Drops the tokens that have expired by themselves, leeway included.
  void prune(UnixSeconds now);

  friend bool operator==(const Revocations&, const Revocations&) = default;

 private:
  std::map<std::string, std::optional<UnixSeconds>, std::less<>> expiries_;
};

}  // namespace zeus::tokens
