// Any bytes are prompts, or a refusal that names the line; each prompt becomes a request that is JSON. The same bytes
// are a list of models, or refused.

#include "fuzz/require.hpp"
#include "records/json_value.hpp"
#include "serving/prompts.hpp"
#include "serving/served_models.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace {

using zeus::fuzz::require;
using namespace zeus::serving;

constexpr std::size_t most_prompts = 16;

void read_as_prompts(std::string_view bytes, Route route) {
  try {
    for (const Prompt& prompt : read_prompts(bytes, route, most_prompts)) {
      require(!prompt.messages.empty());
      const RequestPlan plan{.route = route, .model = "m", .max_tokens = 1};
      const auto body = zeus::records::JsonValue::parse(request_body(plan, prompt, 0));
      require(body && body->find("max_tokens") != nullptr && body->find("stream") != nullptr);
    }
  } catch (const zeus::Error& error) {
    require(error.kind() == zeus::ErrorKind::corrupt_data);
  }
}

}  // namespace

extern "C" int fuzz_served_prompts(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  read_as_prompts(bytes, Route::chat);
  read_as_prompts(bytes, Route::completions);
  try {
    static_cast<void>(only_model(read_models(bytes)));
  } catch (const zeus::Error& error) {
    require(error.kind() != zeus::ErrorKind::internal);
  }
  return 0;
}
