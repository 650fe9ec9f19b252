// Files as an argument: a view of the file system below a root, so that a recorded /sys serves as well as the real one.
// Paths are relative to the root ("sys/class/powercap"); absence is an ordinary answer. Safe to use from any thread:
// it holds no state but its root.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus {

// Who may read a file that is written.
enum class Readers {
  owner,
  everyone,  // as far as the process's umask allows it, like the files of an ordinary program
};

class FileTree {
 public:
  explicit FileTree(std::filesystem::path root = "/");

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path resolve(std::string_view path) const;

  // The whole content of the file; nothing if there is no such file. An Error if it exists but cannot be read, has more
  // than `most_bytes`, or is a pipe that nothing writes to within two seconds.
  [[nodiscard]] std::optional<std::string> read(std::string_view path,
                                                std::size_t most_bytes = std::numeric_limits<std::size_t>::max()) const;
  // The same without the white space at its end: most files of /sys and /proc are read this way.
  [[nodiscard]] std::optional<std::string> read_line(std::string_view path) const;

  // Names in a folder, sorted; empty if there is no such folder.
  [[nodiscard]] std::vector<std::string> list(std::string_view folder) const;
  [[nodiscard]] bool exists(std::string_view path) const;

  // Replaces a file so that any reader, even after a power cut, finds either the old content or the new. Makes missing
  // folders.
  void write_durably(std::string_view path, std::string_view content, Readers readers = Readers::owner) const;
  // Removes a file, durably; false if there was none.
  bool remove_durably(std::string_view path) const;

 private:
  std::filesystem::path root_;
};

}  // namespace zeus
