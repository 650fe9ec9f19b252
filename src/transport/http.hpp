// A request and its answer in HTTP/1.1, as plain values: what the server passes to its handler, and the client to its
// caller. Copy them freely between threads.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::transport {

class LongBody;

// Whether two header names are the same, whatever the case of their letters.
bool same_name(std::string_view a, std::string_view b);

// In the order in which they were written. The case of names does not matter; a name may appear more than once.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> all) : all_{all} {}

  void add(std::string_view name, std::string_view value);
  // The first one of this name.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

struct Request {
  std::string method = "GET";
  std::string path = "/";  // as sent, up to the first '?'
  std::string query;       // as sent, after it; empty if there is none
  Headers headers;
  std::string body;
  std::shared_ptr<const LongBody> long_body = {};  // in place of `body`, if it is longer than is held in memory
};

struct Answer {
  int status = 200;
  Headers headers;  // without framing (Content-Length, Connection ...) and Date, which the server adds
  std::string body;
  std::shared_ptr<const LongBody> long_body = {};  // in place of `body`
};

// "Not Found"; "Unknown" for a number without a name.
std::string_view reason_of(int status);

}  // namespace zeus::transport
