#include <zeus/fields.hpp>

// EXAMPLE

struct Names {
  int count = 0;
  template <typename Value, typename... Rule>
  void operator()(std::string_view name, Value& /*value*/, const Rule&... /*rule*/) {
    count += zeus::field::key_of<Value>(name) == "limit_w" ? 1 : 0;
    ++count;
  }
};

int main() {
  Slice slice;
  Names names;
  Slice::describe(names, slice);
  return names.count == 3 ? 0 : 1;
}
