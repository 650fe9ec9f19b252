// The wall between C++ and C. C++ code behind it may throw; the C caller gets a status. A struct that begins with its
// size is read and filled as far as both sides know it. For the files that implement zeus/zeus.h and zeus/jobs.h. Any
// thread.
#pragma once

#include <zeus/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace zeus::c_wall {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// The zeus_status of an ErrorKind; 0 is ZEUS_OK.
constexpr int status_of(ErrorKind kind) {
  return static_cast<int>(kind) + 1;
}

// Runs `body`. If it throws, gives `note` the message.
template <typename Status, typename Body>
Status guarded(Body&& body, void (*note)(const char* text)) noexcept {
  ErrorKind kind = ErrorKind::internal;
  try {
    body();
    return Status{};
  } catch (const Error& error) {
    kind = error.kind();
    note(error.what());
  } catch (const std::bad_alloc&) {
    kind = ErrorKind::unavailable;
    note("out of memory");
  } catch (const std::exception& error) {
    note(error.what());
  } catch (...) {
    note("an exception of unknown type was thrown");
  }
  return static_cast<Status>(status_of(kind));
}

inline void expect(bool condition, const char* what, const char* advice = "see zeus.h") {
  if (!condition) {
    throw Error{ErrorKind::invalid_argument, what, advice};
  }
}

// Copies the bytes of a struct that both sides know; what the caller does not know is zero.
template <typename Struct>
Struct known_part(const Struct* given) {
  expect(given->size >= sizeof(std::size_t), "the size of a struct is not set");
  Struct full{};
  std::memcpy(&full, given, std::min(given->size, sizeof(Struct)));
  return full;
}

template <typename Struct>
void give_back(Struct value, Struct* target) {
  expect(target != nullptr && target->size >= sizeof(std::size_t), "a struct is missing, or its size is not set");
  value.size = target->size;
  std::memcpy(target, &value, std::min(target->size, sizeof(Struct)));
}

template <std::size_t Size>
void give_text(const std::string& text, char (&place)[Size]) {
  std::strncpy(place, text.c_str(), Size - 1);
  place[Size - 1] = '\0';
}

template <typename Number>
std::vector<Number> numbers(const Number* first, std::size_t count) {
  expect(first != nullptr || count == 0, "a list is missing although its length is given");
  return {first, first + count};
}

// The integer behind an enumerator from C, which may be out of range: C++ may not even read such a value as an enum.
template <typename Word>
int number_behind(const Word& word) {
  static_assert(sizeof(Word) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &word, sizeof(number));
  return number;
}

inline std::optional<double> optional_of(const double* number) {
  return number != nullptr ? std::optional{*number} : std::nullopt;
}

template <typename Quantity>
double number_of(const std::optional<Quantity>& quantity) {
  return quantity ? quantity->value() : unknown;
}

}  // namespace zeus::c_wall
