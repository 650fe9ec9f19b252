// What a device answers: a value, or the reason why there is none. Absent, not supported and refused are ordinary
// answers here, so nothing on these paths throws or allocates. Plain values; copy them freely between threads.
#pragma once

#include <zeus/error.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace zeus::device {

// Why there is no answer. What a caller may decide by: `unsupported` never changes while the device is open,
// `permission` changes with the user, `lost` calls for reopening the device, `timeout` may pass by itself.
enum class Reason {
  unsupported,   // this device, or its driver, has no such thing
  permission,    // it is there, and this user may not
  lost,          // the device (or its driver) has gone since it was opened, or the process has forked
  timeout,       // the driver did not answer in time
  unreliable,    // there is an answer, and a check has shown it to be wrong
  out_of_range,  // a setting outside of what the device allows
  unknown,       // the driver failed without saying why
};

std::string_view to_string(Reason reason);

// A reason and, where there is more to say, one sentence without a full stop. The text has static storage: a failure is
// as cheap as a number, and may be kept for ever.
struct Failure {
  Reason reason = Reason::unknown;
  std::string_view detail;

  friend bool operator==(const Failure&, const Failure&) = default;
};

// "not permitted (the counter is for root only)", for a person.
std::string to_text(const Failure& failure);

// The failure as an exception, for callers that cannot go on without the answer: `what` says what failed, and of which
// device ("the energy counter of GPU 0").
Error to_error(const Failure& failure, const std::string& what);

template <typename T>
class [[nodiscard]] Reading {
 public:
  Reading() : Reading{Reason::unknown} {}
  Reading(T value) : content_{std::in_place_index<0>, std::move(value)} {}  // NOLINT(google-explicit-constructor)
  Reading(Failure failure) : content_{std::in_place_index<1>, failure} {}   // NOLINT(google-explicit-constructor)
  Reading(Reason reason) : Reading{Failure{reason, {}}} {}                  // NOLINT(google-explicit-constructor)

  [[nodiscard]] explicit operator bool() const { return content_.index() == 0; }

  // The value; only where there is one.
  [[nodiscard]] const T& operator*() const& { return *std::get_if<0>(&content_); }
  [[nodiscard]] T operator*() && { return std::move(*std::get_if<0>(&content_)); }
  [[nodiscard]] const T* operator->() const { return std::get_if<0>(&content_); }

  // The failure; only where there is no value.
  [[nodiscard]] const Failure& failure() const { return *std::get_if<1>(&content_); }

  [[nodiscard]] std::optional<T> optional() const { return *this ? std::optional<T>{**this} : std::nullopt; }

  // The value, or the failure as an Error about `what`.
  [[nodiscard]] T or_throw(const std::string& what) const {
    if (!*this) {
      throw to_error(failure(), what);
    }
    return **this;
  }

  friend bool operator==(const Reading&, const Reading&) = default;

 private:
  std::variant<T, Failure> content_;
};

// Whether something was done; converts to true when it was.
using Outcome = Reading<std::monostate>;
inline constexpr std::monostate done{};

}  // namespace zeus::device
