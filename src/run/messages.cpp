#include "run/messages.hpp"

#include "base/printable.hpp"

#include <ostream>

namespace zeus::run {

void Messages::write(std::string_view line, Ink ink) {
  const Write write_line = [&](bool mid_line) {
    err_ << (mid_line ? "\n" : "") << inked("zeus:", ink, in_colour_) << ' ' << printable(line) << '\n' << std::flush;
  };
  if (between_) {
    between_(write_line);
  } else {
    write_line(false);
  }
}

void Messages::say(std::string_view line, Ink ink) {
  if (!quiet_) {
    write(line, ink);
  }
}

void Messages::warn(std::string_view line) {
  if (warned_.emplace(line).second) {
    write(line, Ink::red);
  }
}

}  // namespace zeus::run
