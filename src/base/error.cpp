#include <zeus/error.hpp>

#include "base/printable.hpp"

#include <utility>

namespace zeus {

namespace {

std::string describe(const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

// A cause that the message quotes already is not told twice.
bool quotes(const std::string& message, const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const Error& error) {
    return message.find(error.message()) != std::string::npos;
  } catch (...) {
    return false;
  }
}

// Long enough for any message of ours, and short where another program's output is quoted whole.
constexpr std::size_t most_of_a_part = 400;
// Advice may list every choice there is.
constexpr std::size_t most_advice = 1000;

std::string part(const std::string& text, std::size_t most = most_of_a_part) {
  return printable(shortened(text, most));
}

std::string compose(const std::string& message, const std::string& advice, const std::exception_ptr& cause) {
  std::string text = part(message);
  if (cause && !quotes(message, cause)) {
    text += " (because: " + part(describe(cause)) + ")";
  }
  if (!advice.empty()) {
    text += "; " + part(advice, most_advice);
  }
  return text;
}

}  // namespace

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return "invalid argument";
    case ErrorKind::not_found:
      return "not found";
    case ErrorKind::already_exists:
      return "already exists";
    case ErrorKind::permission_denied:
      return "permission denied";
    case ErrorKind::unavailable:
      return "unavailable";
    case ErrorKind::conflict:
      return "conflict";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::corrupt_data:
      return "corrupt data";
    case ErrorKind::internal:
      return "internal error";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, std::string message, std::string advice)
    : kind_{kind},
      message_{std::move(message)},
      advice_{std::move(advice)},
      cause_{std::current_exception()},
      text_{compose(message_, advice_, cause_)} {
}

}  // namespace zeus
