// One request that was admitted and found in the table, with its parameters read. Its handler owns it, on any thread.
#pragma once

#include "server/visitor.hpp"
#include "transport/http.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace zeus::server {

class Call {
 public:
  Call(transport::Request request, Visitor visitor) : request_{std::move(request)}, visitor_{std::move(visitor)} {}

  [[nodiscard]] const transport::Request& request() const { return request_; }
  [[nodiscard]] const Visitor& visitor() const { return visitor_; }
  [[nodiscard]] const std::string& body() const { return request_.body; }

  // Parameters of the table, decoded and within their bounds. An optional one that is not given is nothing.
  [[nodiscard]] const std::string& text(std::string_view name) const { return texts_.at(std::string{name}); }
  [[nodiscard]] std::optional<std::string> find(std::string_view name) const;
  [[nodiscard]] std::uint64_t number(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint64_t> find_number(std::string_view name) const;
  [[nodiscard]] bool says(std::string_view name) const { return find(name) == "true"; }

  // Called while the parameters are read.
  void set(std::string_view name, std::string value) { texts_.insert_or_assign(std::string{name}, std::move(value)); }

 private:
  transport::Request request_;
  Visitor visitor_;
  std::map<std::string, std::string> texts_;
};

}  // namespace zeus::server
