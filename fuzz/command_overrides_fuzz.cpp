// Any text as a file of overrides: it is refused with a place in it, or each of its commands has a program and no
// braces are left where values were filled in.
#include "backends/commands/override_plan.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

namespace commands = zeus::backends::commands;

void check_override(const commands::Override& override) {
  if (override.commands.empty() || override.patience < zeus::Seconds{1}) {
    std::abort();
  }
  for (const commands::CommandWords& command : override.commands) {
    const auto words = command.fill({0, 1, 2, 3, 4, 1});
    if (words.empty() || words.front().empty()) {
      std::abort();
    }
    for (const std::string& word : words) {
      if (word.find_first_of(std::string_view{"{}\0", 3}) != std::string::npos) {
        std::abort();
      }
    }
  }
  if (override.error_pattern) {
    (void) override.error_pattern->is_in("Setting power limit is not supported for GPU 0\n\xff");
  }
}

}  // namespace

extern "C" int fuzz_command_overrides(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const commands::OverridePlan plan = commands::overrides_from_toml(text, "f");
    for (std::size_t i = 0; i < commands::operation_count; ++i) {
      if (const commands::Override* const override = plan.find(static_cast<commands::Operation>(i))) {
        check_override(*override);
      }
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::invalid_argument || !error.message().starts_with("f:")) {
      std::abort();
    }
  }
  return 0;
}
