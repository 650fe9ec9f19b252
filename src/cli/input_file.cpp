#include "cli/input_file.hpp"

#include "base/file_tree.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <utility>

namespace zeus::cli {

namespace {

constexpr std::size_t most_bytes = std::size_t{2} << 30;

}  // namespace

std::string read_input_file(const std::string& path) {
  std::optional<std::string> content = FileTree{"/"}.read(std::filesystem::absolute(path).string(), most_bytes);
  if (!content) {
    throw Error{ErrorKind::not_found, fmt::format("there is no file {}", path), "check the path"};
  }
  return std::move(*content);
}

}  // namespace zeus::cli
