// Reads the query of a request strictly. Each parameter is declared. One that is unknown, repeated, missing or of the
// wrong type refuses the request. Pure functions; any thread.
//
//   Ids gpus;
//   std::uint32_t limit_mw = 0;
//   std::optional<bool> block;  // may be missing
//   if (const auto wrong = read_query(query, {{"gpu_ids", gpus}, {"power_limit_mw", limit_mw}, {"block", block}})) {
//     return refusal(*wrong);
//   }
#pragma once

#include "protocol/error_body.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::protocol {

// "0,2,10": numbers separated by commas, with or without spaces around them. Ascending, each once; never empty.
struct Ids {
  std::vector<std::uint32_t> numbers;

  friend bool operator==(const Ids&, const Ids&) = default;
};

// A parameter's name, and the variable for its value. If the variable is an optional, a query may lack the parameter.
// The name and the variable must outlive the Parameter.
struct Parameter {
  using Target = std::variant<std::uint32_t*, std::uint64_t*, bool*, std::string*, Seconds*, Ids*,
                              std::optional<std::uint32_t>*, std::optional<std::uint64_t>*, std::optional<bool>*,
                              std::optional<std::string>*, std::optional<Seconds>*, std::optional<Ids>*>;

  template <typename Value>
  Parameter(std::string_view its_name, Value& value) : name{its_name}, target{&value} {}

  std::string_view name;
  Target target;
};

struct QueryError {
  enum class Kind {
    form,  // of the query: 400, as text
    ids,   // of a list of numbers in an otherwise well-formed query: 400, as JSON
  };
  Kind kind = Kind::form;
  std::string text;

  friend bool operator==(const QueryError&, const QueryError&) = default;
};

// `query` is the unchanged text after the "?". Reports the first error: in the order of the query, then missing
// parameters, then lists of numbers. The values read before it are written in any case.
//
// Whole numbers consist of decimal digits, booleans are "true" or "false", seconds are decimal digits with or without a
// fraction, and strings are UTF-8 of at most 1,024 bytes.
std::optional<QueryError> read_query(std::string_view query, std::initializer_list<Parameter> parameters);

// Empty if a "%" is not followed by two hexadecimal digits. "+" is a space.
std::optional<std::string> percent_decoded(std::string_view text);
// Encodes everything but letters, digits and "-._~".
std::string percent_encoded(std::string_view text);

Refusal refusal(const QueryError& error);

}  // namespace zeus::protocol
