#include "base/ink.hpp"

#include <fmt/format.h>

namespace zeus {

namespace {

std::string_view code_of(Ink ink) {
  switch (ink) {
    case Ink::bold:
      return "\x1b[1m";
    case Ink::faint:
      return "\x1b[2m";
    case Ink::red:
      return "\x1b[31m";
    case Ink::yellow:
      return "\x1b[33m";
    case Ink::green:
      return "\x1b[32m";
    case Ink::plain:
      break;
  }
  return {};
}

}  // namespace

std::string inked(std::string_view text, Ink ink, bool colour) {
  return colour && ink != Ink::plain ? fmt::format("{}{}\x1b[0m", code_of(ink), text) : std::string{text};
}

}  // namespace zeus
