// The wall between C++ and C: what is behind it may throw, what is before it gets a status, and structs that begin with
// their size are read and filled as far as both sides know them. For the files that implement zeus/zeus.h and
// zeus/jobs.h. Any thread.
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

// The zeus_status of a kind of Error; 0 is ZEUS_OK.
constexpr int status_of(ErrorKind kind) {
  return static_cast<int>(kind) + 1;
}

// Runs `body`, and has `note` keep what it throws as a text.
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
    note("there is no memory left");
  } catch (const std::exception& error) {
    note(error.what());
  } catch (...) {
    note("something that is no exception of C++ was thrown");
  }
  return static_cast<Status>(status_of(kind));
}

inline void expect(bool condition, const char* what, const char* advice = "see zeus.h") {
  if (!condition) {
    throw Error{ErrorKind::invalid_argument, what, advice};
  }
}

// As many bytes of a struct as both sides know; what the caller does not know is zero.
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
  expect(first != nullptr || count == 0, "a list is missing whose length is given");
  return {first, first + count};
}

// The number behind a word that C gave, which may be none of the words there are: C++ may not even look at such a one.
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
