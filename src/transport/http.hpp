// A request and its answer in HTTP/1.1, as plain values: what the server hands to whoever answers, and the client to
// whoever asked. Copy them freely between threads.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::transport {

// Whether two names of headers are the same one: in any case of letters.
bool same_name(std::string_view a, std::string_view b);

// Names are alike in any case. In the order in which they were written; some may be there more than once.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> all) : all_{all} {}

  void add(std::string_view name, std::string_view value);
  // The first of this name.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

struct Request {
  std::string method = "GET";
  std::string path = "/";  // as it was sent, up to the first '?'
  std::string query;       // what follows it, as it was sent; empty where there is none
  Headers headers;
  std::string body;
};

struct Answer {
  int status = 200;
  Headers headers;  // what frames it (Content-Length, Connection ...) is the server's own
  std::string body;
};

// "Not Found"; "Unknown" for a number that has no name.
std::string_view reason_of(int status);

}  // namespace zeus::transport
