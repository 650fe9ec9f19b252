#include "run/voice.hpp"

#include "base/printable.hpp"

#include <ostream>

namespace zeus::run {

void Voice::write(std::string_view line) {
  err_ << (is_open_ && is_open_() ? "\n" : "") << "zeus: " << printable(line) << '\n' << std::flush;
}

void Voice::say(std::string_view line) {
  if (!quiet_) {
    write(line);
  }
}

void Voice::warn(std::string_view line) {
  if (warned_.emplace(line).second) {
    write(line);
  }
}

}  // namespace zeus::run
