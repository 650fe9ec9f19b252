#include <zeus/reading.hpp>

#include <fmt/format.h>

#include <ostream>

namespace zeus {

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::unsupported:
      return "not supported";
    case Reason::permission:
      return "not permitted";
    case Reason::lost:
      return "device lost";
    case Reason::timeout:
      return "timed out";
    case Reason::unreliable:
      return "unreliable";
    case Reason::out_of_range:
      return "out of range";
    case Reason::unknown:
      break;
  }
  return "unknown failure";
}

std::string to_string(const Failure& failure) {
  return failure.detail.empty() ? std::string{to_string(failure.reason)}
                                : fmt::format("{} ({})", to_string(failure.reason), failure.detail);
}

std::ostream& operator<<(std::ostream& stream, const Failure& failure) {
  return stream << to_string(failure);
}

std::ostream& detail::print_unknown(std::ostream& stream, const Failure& failure) {
  return stream << "unknown (" << failure << ')';
}

namespace {

struct Meaning {
  ErrorKind kind;
  const char* advice;
};

Meaning meaning_of(Reason reason) {
  switch (reason) {
    case Reason::unsupported:
      return {ErrorKind::unavailable, "`zeus devices` shows what this device can do"};
    case Reason::permission:
      return {ErrorKind::permission_denied, "`zeus doctor` shows what would permit it"};
    case Reason::lost:
      return {ErrorKind::unavailable, "look for the reason in the kernel's log (`dmesg`), then start again"};
    case Reason::timeout:
      return {ErrorKind::timeout, "try again; if it times out again, the driver hangs"};
    case Reason::unreliable:
      return {ErrorKind::unavailable, "update the driver"};
    case Reason::out_of_range:
      return {ErrorKind::invalid_argument, "`zeus devices` shows the range that this device allows"};
    case Reason::unknown:
      break;
  }
  return {ErrorKind::unavailable, "`zeus doctor` shows what works here"};
}

}  // namespace

Error to_error(const Failure& failure, const std::string& what) {
  const Meaning meaning = meaning_of(failure.reason);
  return Error{meaning.kind, fmt::format("{}: {}", what, to_string(failure)), meaning.advice};
}

}  // namespace zeus
