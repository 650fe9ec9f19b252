// A YAML document as plain values, for files that users write. Strict: anchors, aliases, tags, keys that occur twice
// and a second document are refused. yaml-cpp does the reading, and only yaml_value.cpp sees it. Pure functions; any
// thread.
#pragma once

#include <zeus/error.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace zeus::sweep {

struct YamlValue {
  enum class Kind { nothing, scalar, list, map };

  Kind kind = Kind::nothing;
  std::size_t line = 0;  // from 1
  std::string scalar = {};
  std::vector<YamlValue> members = {};  // of a list, or the values of a map
  std::vector<std::string> keys = {};   // of a map, in the order of the file
};

// `name` is what errors call the file. A string that is not such a document is a corrupt_data Error with name and line.
// An empty document is Kind::nothing.
YamlValue parse_yaml(const std::string& name, const std::string& text);

// The Error for a place in the file.
Error yaml_error(const std::string& name, std::size_t line, const std::string& what, const std::string& advice);

// Calls `use`: an Error of it about an argument becomes one about this place in the file.
template <typename Use>
auto at_place(const std::string& name, std::size_t line, Use use) {
  std::string what;
  std::string advice;
  try {
    return use();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_argument) {
      throw;
    }
    what = error.message();
    advice = error.advice();
  }
  throw yaml_error(name, line, what, advice);
}

// Writes one member of a list, so that parse_yaml() reads it back, with a line end after it.
std::string to_yaml(const YamlValue& member);

}  // namespace zeus::sweep
