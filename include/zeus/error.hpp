// The one family of failures: every exception that Zeus throws is a zeus::Error. It says what happened to what, what to
// do about it, and what caused it. Absence and "not supported" are ordinary values (std::optional and the like), not
// failures. Values; safe to copy and to move between threads.
#pragma once

#include <zeus/export.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace zeus {

// What a caller may want to branch on. Each kind maps to exactly one exit code, C code and Python exception.
enum class ErrorKind {
  invalid_argument,   // the caller asked for something that makes no sense; asking again the same way cannot work
  not_found,          // the thing named does not exist
  already_exists,     // the name is taken
  permission_denied,  // the system refuses this user
  unavailable,        // the thing exists but cannot be used now (no driver, device lost, disk full)
  conflict,           // another process or user holds it
  timeout,            // it did not answer in time
  corrupt_data,       // bytes read are not what their format promises
  internal,           // a bug in Zeus
};

ZEUS_API std::string_view to_string(ErrorKind kind);

class ZEUS_API Error : public std::exception {
 public:
  // `message` says what happened and to what, `advice` what to do; neither ends with a full stop. An Error that is made
  // inside a catch block keeps the exception being handled as its cause.
  Error(ErrorKind kind, std::string message, std::string advice = {});

  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const std::string& advice() const noexcept { return advice_; }
  [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

  // One line for a person: message, advice and the chain of causes.
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  ErrorKind kind_;
  std::string message_;
  std::string advice_;
  std::exception_ptr cause_;
  std::string text_;
};

}  // namespace zeus
