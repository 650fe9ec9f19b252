#include "drivers/session/process_start.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>

namespace zeus::drivers {

std::optional<std::uint64_t> process_start(std::int64_t process) {
  std::ifstream file{fmt::format("/proc/{}/stat", process)};
  std::string line;
  std::getline(file, line);
  // The program's name is in parentheses and may contain anything; the part after it is plain.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream rest{line.substr(name_end + 1)};
  std::string state;
  rest >> state;
  if (state == "Z" || state == "X") {
    return std::nullopt;
  }
  constexpr int fields_between = 18;
  std::string skipped;
  for (int i = 0; i < fields_between; ++i) {
    rest >> skipped;
  }
  std::uint64_t start = 0;
  rest >> start;
  return rest ? std::optional{start} : std::nullopt;
}

}  // namespace zeus::drivers
