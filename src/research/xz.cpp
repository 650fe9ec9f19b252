#include "research/xz.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <lzma.h>

#include <array>
#include <cstdint>
#include <memory>

namespace zeus::research {

bool is_xz(std::string_view bytes) {
  return bytes.starts_with(
      std::string_view{"\xFD"
                       "7zXZ\0",
                       6});
}

std::string unpack_xz(const std::string& name, std::string_view bytes, std::size_t most_bytes) {
  constexpr std::uint64_t most_memory = std::uint64_t{256} << 20;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, most_memory, LZMA_CONCATENATED) != LZMA_OK) {
    throw Error{ErrorKind::unavailable, fmt::format("{}: cannot start to unpack", name), "free some memory"};
  }
  const std::unique_ptr<lzma_stream, decltype(&lzma_end)> guard{&stream, lzma_end};
  stream.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());  // NOLINT: liblzma speaks bytes
  stream.avail_in = bytes.size();
  std::string result;
  std::array<char, 65536> chunk{};
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    stream.next_out = reinterpret_cast<std::uint8_t*>(chunk.data());  // NOLINT: liblzma speaks bytes
    stream.avail_out = chunk.size();
    status = lzma_code(&stream, LZMA_FINISH);
    result.append(chunk.data(), chunk.size() - stream.avail_out);
    if (result.size() > most_bytes) {
      throw Error{ErrorKind::corrupt_data, fmt::format("{} unpacks to more than {} bytes", name, most_bytes),
                  "split it and give all parts"};
    }
  }
  if (status != LZMA_STREAM_END) {
    throw Error{ErrorKind::corrupt_data, fmt::format("{} is damaged or not an .xz file", name),
                "download or compress it again"};
  }
  return result;
}

}  // namespace zeus::research
