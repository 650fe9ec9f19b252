#include "tokens/token_duration.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace zeus::tokens {

namespace {

struct TimeUnit {
  std::string_view name;
  std::uint64_t nanoseconds;
};

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t minute = 60 * second;
constexpr std::uint64_t hour = 60 * minute;
constexpr std::uint64_t day = 24 * hour;
constexpr std::uint64_t week = 7 * day;
constexpr std::uint64_t month = day / 100 * 3044;
constexpr std::uint64_t year = day / 100 * 36525;

constexpr std::array units{
    TimeUnit{"nsec", 1},         TimeUnit{"ns", 1},         TimeUnit{"usec", 1'000},     TimeUnit{"us", 1'000},
    TimeUnit{"msec", 1'000'000}, TimeUnit{"ms", 1'000'000}, TimeUnit{"seconds", second}, TimeUnit{"second", second},
    TimeUnit{"secs", second},    TimeUnit{"sec", second},   TimeUnit{"s", second},       TimeUnit{"minutes", minute},
    TimeUnit{"minute", minute},  TimeUnit{"mins", minute},  TimeUnit{"min", minute},     TimeUnit{"m", minute},
    TimeUnit{"hours", hour},     TimeUnit{"hour", hour},    TimeUnit{"hrs", hour},       TimeUnit{"hr", hour},
    TimeUnit{"h", hour},         TimeUnit{"days", day},     TimeUnit{"day", day},        TimeUnit{"d", day},
    TimeUnit{"weeks", week},     TimeUnit{"week", week},    TimeUnit{"w", week},         TimeUnit{"months", month},
    TimeUnit{"month", month},    TimeUnit{"years", year},   TimeUnit{"year", year},      TimeUnit{"y", year},
};

[[noreturn]] void refuse(std::string_view why) {
  throw Error{ErrorKind::invalid_argument, fmt::format("that is not a lifetime for a token: {}", why),
              "write 'never', or such as '90s', '12h', '1h 30m', '2weeks'"};
}

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

// Takes the characters that fit off the beginning of `text`.
template <typename Fits>
std::string_view take(std::string_view& text, Fits fits) {
  const auto end = std::ranges::find_if_not(text, fits);
  const std::string_view taken{text.begin(), end};
  text.remove_prefix(taken.size());
  return taken;
}

std::uint64_t number_of(std::string_view digits) {
  std::uint64_t number = 0;
  for (const char digit : digits) {
    if (__builtin_mul_overflow(number, 10U, &number) ||
        __builtin_add_overflow(number, static_cast<std::uint64_t>(digit - '0'), &number)) {
      refuse("a number in it is too large");
    }
  }
  return number;
}

}  // namespace

std::optional<UnixSeconds> parse_token_duration(std::string_view given) {
  std::string lower{given};
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::string_view text = lower;
  take(text, is_blank);
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  if (text == "never") {
    return std::nullopt;
  }
  if (text == "0") {
    refuse("a bare 0 may be meant as never or as no time at all");
  }
  if (text.empty()) {
    refuse("it is empty");
  }
  // Fractions of a second are added up over the whole text.
  std::uint64_t seconds = 0;
  std::uint64_t nanoseconds = 0;
  while (!text.empty()) {
    const std::string_view digits = take(text, is_digit);
    if (digits.empty()) {
      refuse("each part begins with a whole number");
    }
    take(text, is_blank);
    const std::string_view name = take(text, is_letter);
    const auto unit = std::ranges::find(units, name, &TimeUnit::name);
    if (unit == units.end()) {
      refuse(name.empty() ? "a number in it has no unit" : "a unit in it is unknown");
    }
    take(text, is_blank);
    const std::uint64_t number = number_of(digits);
    std::uint64_t whole = 0;
    if (unit->nanoseconds >= second) {
      if (__builtin_mul_overflow(number, unit->nanoseconds / second, &whole)) {
        refuse("it is too long");
      }
    } else {
      whole = number / (second / unit->nanoseconds);
      nanoseconds += number % (second / unit->nanoseconds) * unit->nanoseconds;
    }
    whole += nanoseconds / second;
    nanoseconds %= second;
    if (__builtin_add_overflow(seconds, whole, &seconds)) {
      refuse("it is too long");
    }
  }
  // So that the time at which it expires can be represented, too.
  constexpr std::uint64_t most = std::numeric_limits<UnixSeconds>::max() / 2;
  if (seconds > most) {
    refuse("it is too long");
  }
  return static_cast<UnixSeconds>(seconds);
}

}  // namespace zeus::tokens
