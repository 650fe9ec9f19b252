// Any words as a command's template: the template is filled or refused, and only its places change.
#include "run/command_template.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int fuzz_command_template(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const zeus::run::CommandTemplate command{{"x", text}};
    const auto filled =
        command.fill({.batch_size = 8, .learning_rate = 0.5, .seed = 1, .epochs = 2, .target_metric = 0.5});
    const bool places = command.asks_for("batch_size") || command.asks_for("learning_rate") ||
                        command.asks_for("seed") || command.asks_for("epochs") || command.asks_for("target_metric");
    if (places == (filled.at(1) == text)) {
      std::abort();
    }
  } catch (const zeus::Error&) {
    std::abort();
  }
  return 0;
}
