// The models that a server offers at /v1/models, and what its program is by that list. Pure functions of the answer's
// bytes; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zeus::serving {

struct ServedModel {
  std::string id;
  std::string owner;  // "vllm", "sglang", "llamacpp" ...; empty if the server does not say

  friend bool operator==(const ServedModel&, const ServedModel&) = default;
};

// Throws a corrupt_data Error if the bytes are not such a list.
std::vector<ServedModel> read_models(std::string_view body);

// The only one. Errors: not_found if there is none; invalid_argument, with a list, if there are several.
const ServedModel& only_model(const std::vector<ServedModel>& models);

// Whether the server's program has "ignore_eos": answers are then as long as they are allowed to be.
bool has_ignore_eos(const ServedModel& model);

}  // namespace zeus::serving
