#include "cli/input_file.hpp"

#include "base/file_tree.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

namespace zeus::cli {

std::string read_input_file(const std::string& path) {
  std::optional<std::string> content = FileTree{"/"}.read(std::filesystem::absolute(path).string());
  if (!content) {
    throw Error{ErrorKind::not_found, fmt::format("there is no file {}", path), "check the path"};
  }
  return std::move(*content);
}

}  // namespace zeus::cli
