// The query of a request, read strictly: each parameter is declared, and one that is not declared, is there twice,
// lacks or does not fit its type refuses the request. Pure functions; any thread.
//
//   Ids gpus;
//   std::uint32_t limit_mw = 0;
//   std::optional<bool> block;  // may lack
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

// "0,2,10": numbers separated by commas, with spaces around them or not. Ascending, each once, and never none.
struct Ids {
  std::vector<std::uint32_t> numbers;

  friend bool operator==(const Ids&, const Ids&) = default;
};

// A parameter's name and where its value goes; it may lack where that is an optional. The name and the value must
// outlive it.
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
    ids,   // of a list of numbers in a query that is otherwise well formed: 400, as JSON
  };
  Kind kind = Kind::form;
  std::string text;

  friend bool operator==(const QueryError&, const QueryError&) = default;
};

// `query` is what comes after the "?", as it came. The first thing that is wrong is told, in the order of the query;
// then what lacks; then lists of numbers. Values are written all the same as far as they were read.
//
// Whole numbers are decimal digits alone, booleans "true" or "false", seconds decimal digits with or without a
// fraction, and strings UTF-8 of at most 1,024 bytes.
std::optional<QueryError> read_query(std::string_view query, std::initializer_list<Parameter> parameters);

// Nothing where a "%" is not followed by two hexadecimal digits. "+" is a space.
std::optional<std::string> percent_decoded(std::string_view text);
// All but letters, digits and "-._~".
std::string percent_encoded(std::string_view text);

Refusal refusal(const QueryError& error);

}  // namespace zeus::protocol
