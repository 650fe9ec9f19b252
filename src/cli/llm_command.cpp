#include "cli/llm_command.hpp"

#include "command_line/options.hpp"

namespace zeus::cli {

void LlmCommand::declare(Options& options) {
  options.example("zeus llm bench --url http://127.0.0.1:8000", "joules per token of the model that is served there");
  options.add_commands(parts_, chosen_);
}

int LlmCommand::run(Context& context) {
  return chosen_->run(context);
}

}  // namespace zeus::cli
