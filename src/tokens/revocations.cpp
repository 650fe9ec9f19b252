#include "tokens/revocations.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace zeus::tokens {

namespace {

constexpr std::string_view never = "-";
constexpr std::string_view blanks = " \t\r";

// Takes the next word off a line; empty at its end.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

Revocations Revocations::parse(std::string_view text) {
  Revocations revocations;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view id = take_word(line);
    if (id.empty() || id.front() == '#') {
      continue;
    }
    const std::string_view expiry = take_word(line);
    UnixSeconds expires = 0;
    const auto [rest, error] = std::from_chars(expiry.data(), expiry.data() + expiry.size(), expires);
    const bool is_time = error == std::errc{} && rest == expiry.data() + expiry.size();
    if (!is_token_id(id) || !(is_time || expiry == never) || !take_word(line).empty()) {
      throw Error{ErrorKind::corrupt_data, fmt::format("line {} of the revoked tokens is not valid", number),
                  "a line is the id of a token and when it expires, in seconds since 1970 or '-'"};
    }
    revocations.add(id, is_time ? std::optional{expires} : std::nullopt);
  }
  return revocations;
}

std::string Revocations::text() const {
  std::string text;
  for (const auto& [id, expires] : expiries_) {
    text += fmt::format("{} {}\n", id, expires ? fmt::format("{}", *expires) : never);
  }
  return text;
}

void Revocations::add(std::string_view id, std::optional<UnixSeconds> expires) {
  if (!is_token_id(id)) {
    throw Error{ErrorKind::invalid_argument, "that is not the ID of a token",
                "it is one word, as `jti` in the token and `zeusd token` have it"};
  }
  const auto [entry, is_new] = expiries_.emplace(id, expires);
  if (!is_new && entry->second && (!expires || *expires > *entry->second)) {
    entry->second = expires;
  }
}

void Revocations::prune(UnixSeconds now) {
  std::erase_if(expiries_, [now](const auto& entry) { return entry.second && has_expired(*entry.second, now); });
}

}  // namespace zeus::tokens
