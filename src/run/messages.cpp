#include "run/messages.hpp"

#include "base/printable.hpp"

#include <ostream>
#include <utility>

namespace zeus::run {

void Messages::set_between(std::function<void(const Write&)> between) {
  const std::lock_guard lock{mutex_};
  between_ = std::move(between);
}

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
    const std::lock_guard lock{mutex_};
    write(line, ink);
  }
}

void Messages::warn(std::string_view line) {
  const std::lock_guard lock{mutex_};
  if (warned_.emplace(line).second) {
    write(line, Ink::red);
  }
}

}  // namespace zeus::run
