// Any bytes are a streamed answer or a failure, with a kind. However they are cut into pieces, it is the same one.

#include "fuzz/require.hpp"
#include "serving/answer_stream.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using zeus::fuzz::require;
using zeus::serving::Answer;

Answer answer_of(std::string_view stream, std::size_t piece) {
  zeus::serving::AnswerStream reader;
  while (!stream.empty()) {
    const std::size_t length = std::min(piece, stream.size());
    reader.read(stream.substr(0, length), {});
    stream.remove_prefix(length);
  }
  reader.end({});
  require(reader.is_done());
  return reader.answer();
}

}  // namespace

extern "C" int fuzz_answer_stream(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view stream{reinterpret_cast<const char*>(data + 1), size - 1};
  const Answer whole = answer_of(stream, size);
  const Answer pieces = answer_of(stream, std::size_t{data[0]} % 7 + 1);
  require(whole.arrivals.size() == pieces.arrivals.size() && whole.usage == pieces.usage);
  require(whole.failure == pieces.failure && whole.finish_reason == pieces.finish_reason);
  require(!whole.is_whole() || whole.detail.empty());
  static_cast<void>(zeus::serving::error_text(stream));
  return 0;
}
