// Whatever a client sends, the server's reader makes requests of it, within its bounds, until it refuses. The requests
// are the same however the bytes are cut; only the moment at which it refuses endless input may differ.

#include "transport/message_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using zeus::transport::Request;
using zeus::transport::RequestReader;

constexpr std::size_t longest_head = 512;
constexpr std::size_t longest_body = 256;

std::string text_of_request(const Request& request) {
  if (request.body.size() > longest_body || request.path.size() > longest_head ||
      !(request.path.starts_with('/') || request.path == "*") || request.headers.count("Host") > 1) {
    std::abort();
  }
  std::string text = request.method + "\n" + request.path + "\n" + request.query + "\n" + request.body;
  for (const auto& [name, value] : request.headers.all()) {
    if (value.find_first_of(std::string_view{"\r\n\0", 3}) != std::string::npos) {
      std::abort();
    }
    text.append("\n").append(name).append(": ").append(value);
  }
  return text;
}

// Reads the bytes in pieces whose lengths follow from `seed`; whole if it is 0.
std::vector<std::string> requests_in(std::string_view bytes, std::uint8_t seed) {
  RequestReader reader{longest_head, longest_body};
  std::vector<std::string> seen;
  unsigned length = seed;
  while (!bytes.empty()) {
    const auto room = reader.buffer().room();
    if (room.empty()) {
      std::abort();  // nothing would ever be read again
    }
    length = (length * 5 + seed) % 61;
    const std::size_t count = std::min({room.size(), bytes.size(), seed == 0 ? bytes.size() : 1UL + length});
    std::memcpy(room.data(), bytes.data(), count);
    reader.buffer().filled(count);
    bytes.remove_prefix(count);
    RequestReader::Step step = reader.step();
    for (; step == RequestReader::Step::whole; step = reader.step()) {
      seen.push_back(text_of_request(reader.take_request()));
    }
    if (step == RequestReader::Step::refused) {
      if (reader.status() < 400 || reader.reason().empty()) {
        std::abort();
      }
      break;
    }
  }
  return seen;
}

}  // namespace

extern "C" int fuzz_http_request(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view bytes{reinterpret_cast<const char*>(data + 1), size - 1};
  if (requests_in(bytes, 0) != requests_in(bytes, data[0])) {
    std::abort();
  }
  return 0;
}
