#include "server/requests.hpp"

#include "tokens/digest.hpp"
#include "transport/long_body.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

namespace zeus::server {

namespace {

// The body, for comparison: a short one itself, a long one by the digests of its pieces, each of which covers those
// before.
std::string mark_of_body(const transport::Request& request) {
  if (!request.long_body) {
    return request.body;
  }
  std::vector<char> room(std::size_t{1} << 20U);
  std::string mark;
  std::size_t offset = 0;
  for (auto piece = request.long_body->read(0, room); !piece.empty(); piece = request.long_body->read(offset, room)) {
    offset += piece.size();
    mark = tokens::sha256(mark.append(piece.data(), piece.size()));
  }
  return mark;
}

}  // namespace

records::EntryRequest request_of(const service::Call& call, std::string_view operation) {
  const std::optional<std::string_view> key = call.request().headers.get(idempotency_key);
  if (!key) {
    return {};
  }
  // A key has no line break, and the length shows where the user ends.
  return {
      .key = fmt::format("{}:{}\n{}", call.visitor().user.size(), call.visitor().user, *key),
      .asked = tokens::sha256(fmt::format("{}\n{}\n{}", operation, call.request().path, mark_of_body(call.request())))};
}

}  // namespace zeus::server
