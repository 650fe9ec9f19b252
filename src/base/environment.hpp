// The process environment as an argument: only programs (and the library's composition root) take the real one.
// A value, immutable once made; safe to read from any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace zeus {

class Environment {
 public:
  using Variables = std::map<std::string, std::string, std::less<>>;

  Environment() = default;
  explicit Environment(Variables variables) : variables_{std::move(variables)} {}

  // A copy of what the process has now.
  [[nodiscard]] static Environment of_process();

  // Nothing if the variable is not set; an empty string if it is set but empty.
  [[nodiscard]] std::optional<std::string> get(std::string_view name) const;
  [[nodiscard]] const Variables& variables() const { return variables_; }

 private:
  Variables variables_;
};

}  // namespace zeus
