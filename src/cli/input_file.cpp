#include "cli/input_file.hpp"

#include "base/file_tree.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace zeus::cli {

namespace {

constexpr std::size_t most_bytes = std::size_t{2} << 30;
// Some devices never end, such as /dev/zero.
constexpr std::size_t most_bytes_of_device = std::size_t{64} << 20;

}  // namespace

std::string read_input_file(const std::string& path) {
  std::error_code unknown;
  const bool is_device = std::filesystem::is_character_file(path, unknown);
  std::optional<std::string> content =
      FileTree{"/"}.read(std::filesystem::absolute(path).string(), is_device ? most_bytes_of_device : most_bytes);
  if (!content) {
    throw Error{ErrorKind::not_found, fmt::format("there is no file {}", path), "check the path"};
  }
  return std::move(*content);
}

}  // namespace zeus::cli
