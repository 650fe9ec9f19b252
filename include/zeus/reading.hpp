// A device's answer: a value, or the reason why there is none. Absent, unsupported and refused values are normal
// answers, so reading a device neither throws nor allocates.
//
//   const zeus::Reading<zeus::Joules> energy = zeus::gpus().at(0).energy();
//   if (!energy && energy.failure().reason == zeus::Reason::permission) {
//     std::cout << "another user may read this GPU\n";
//   }
//   std::cout << energy << '\n';  // "1234.5 J", or "unknown (not supported)"
//
// Plain values; copy them freely between threads.
#pragma once

#include <zeus/error.hpp>
#include <zeus/export.hpp>
#include <zeus/fields.hpp>

#include <array>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace zeus {

// Why there is no value. `unsupported` never changes while a device is open. `permission` depends on the user. After
// `lost`, the device must be reopened. `timeout` may pass by itself.
enum class Reason {
  unsupported,   // this device or its driver does not provide it
  permission,    // it exists, but this user may not use it
  lost,          // the device or its driver has gone since it was opened, or the process has forked
  timeout,       // the driver did not answer in time
  unreliable,    // there is an answer, but a check has shown that it is wrong
  out_of_range,  // a setting outside the range that the device allows
  unknown,       // the driver failed without a reason
};

constexpr auto names_of(Reason /*reason*/) {
  return std::array<field::Name<Reason>, 7>{{{Reason::unsupported, "unsupported"},
                                             {Reason::permission, "permission"},
                                             {Reason::lost, "lost"},
                                             {Reason::timeout, "timeout"},
                                             {Reason::unreliable, "unreliable"},
                                             {Reason::out_of_range, "out_of_range"},
                                             {Reason::unknown, "unknown"}}};
}

// "not permitted"
ZEUS_API std::string_view to_string(Reason reason);

// A reason and, if it needs explaining, one sentence without a full stop. The string has static storage, so a failure
// is as cheap as a number and may be kept.
struct Failure {
  Reason reason = Reason::unknown;
  std::string_view detail = {};

  friend bool operator==(const Failure&, const Failure&) = default;
};

// "not permitted (the counter is for root only)"
ZEUS_API std::string to_string(const Failure& failure);
ZEUS_API std::ostream& operator<<(std::ostream& stream, const Failure& failure);

// The failure as an exception, for callers that cannot continue without the value. `what` says what failed, on which
// device ("the energy counter of GPU 0").
ZEUS_API Error to_error(const Failure& failure, const std::string& what);

template <typename T>
class Reading {
 public:
  using Value = T;

  Reading() : Reading{Reason::unknown} {}
  Reading(T value) : content_{std::in_place_index<0>, std::move(value)} {}  // NOLINT(google-explicit-constructor)
  Reading(Failure failure) : content_{std::in_place_index<1>, failure} {}   // NOLINT(google-explicit-constructor)
  Reading(Reason reason) : Reading{Failure{reason, {}}} {}                  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return content_.index() == 0; }
  [[nodiscard]] explicit operator bool() const { return has_value(); }

  // The value. Without one, throws the failure as an Error.
  [[nodiscard]] const T& operator*() const& { return or_throw("a reading"); }
  [[nodiscard]] T operator*() && { return std::move(*this).or_throw("a reading"); }
  [[nodiscard]] const T* operator->() const { return &or_throw("a reading"); }
  [[nodiscard]] T value_or(T otherwise) const { return has_value() ? std::get<0>(content_) : std::move(otherwise); }
  [[nodiscard]] std::optional<T> optional() const { return has_value() ? std::optional<T>{**this} : std::nullopt; }
  // The value. Without one, throws the failure as an Error about `what`.
  [[nodiscard]] const T& or_throw(std::string_view what) const& {
    if (!has_value()) {
      throw to_error(failure(), std::string{what});
    }
    return std::get<0>(content_);
  }
  [[nodiscard]] T or_throw(std::string_view what) && {
    (void)std::as_const(*this).or_throw(what);
    return std::get<0>(std::move(content_));
  }

  // Why there is no value; `unknown` if there is one.
  [[nodiscard]] Failure failure() const {
    const Failure* const failure = std::get_if<1>(&content_);
    return failure != nullptr ? *failure : Failure{};
  }

  // The same reading with `change` applied to its value.
  template <typename Change>
  [[nodiscard]] auto transform(Change&& change) const {
    using Changed = Reading<std::remove_cvref_t<std::invoke_result_t<Change, const T&>>>;
    return has_value() ? Changed{std::forward<Change>(change)(**this)} : Changed{failure()};
  }

  friend bool operator==(const Reading&, const Reading&) = default;

 private:
  std::variant<T, Failure> content_;
};

namespace detail {

ZEUS_API std::ostream& print_unknown(std::ostream& stream, const Failure& failure);

}  // namespace detail

// The value, or "unknown (the failure)".
template <typename T>
std::ostream& operator<<(std::ostream& stream, const Reading<T>& reading) {
  return reading ? stream << *reading : detail::print_unknown(stream, reading.failure());
}

}  // namespace zeus
