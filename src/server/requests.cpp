#include "server/requests.hpp"

#include "tokens/digest.hpp"

#include <fmt/format.h>

namespace zeus::server {

records::EntryRequest request_of(const Call& call, std::string_view operation) {
  const std::optional<std::string_view> key = call.request().headers.get(idempotency_key);
  if (!key) {
    return {};
  }
  // A key has no line break, and a length says where the user ends.
  return {.key = fmt::format("{}:{}\n{}", call.visitor().user.size(), call.visitor().user, *key),
          .asked = tokens::sha256(fmt::format("{}\n{}\n{}", operation, call.request().path, call.body()))};
}

}  // namespace zeus::server
