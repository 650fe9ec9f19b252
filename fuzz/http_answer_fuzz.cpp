// Whatever a server sends, the client's reader ends with an answer or an Error; and with the same one however the bytes
// are cut.

#include "transport/client.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

bool is_answer(const std::string& text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

}  // namespace

extern "C" int fuzz_http_answer(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view bytes{reinterpret_cast<const char*>(data + 1), size - 1};
  const std::string whole = zeus::transport::read_answer_for_test(bytes, bytes.size());
  const std::string cut = zeus::transport::read_answer_for_test(bytes, data[0] % 64U);
  if (is_answer(whole) != is_answer(cut) || (is_answer(whole) && whole != cut)) {
    std::abort();
  }
  return 0;
}
