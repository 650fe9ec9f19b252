#include "base/program_folder.hpp"

namespace zeus {

std::filesystem::path program_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace zeus
