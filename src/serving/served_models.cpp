#include "serving/served_models.hpp"

#include "base/printable.hpp"
#include "records/json_value.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace zeus::serving {

namespace {

constexpr std::size_t most_listed = 10;

[[noreturn]] void refuse_models() {
  throw Error{ErrorKind::corrupt_data, "what the server answers at /v1/models is not a list of models",
              "check that it speaks OpenAI's HTTP at this URL, or name the model by --model"};
}

std::string names_of(const std::vector<ServedModel>& models) {
  std::string names;
  for (std::size_t i = 0; i < std::min(models.size(), most_listed); ++i) {
    names += (names.empty() ? "" : ", ") + in_quotes(models[i].id);
  }
  return names + (models.size() > most_listed ? ", ..." : "");
}

}  // namespace

std::vector<ServedModel> read_models(std::string_view body) {
  const std::optional<records::JsonValue> json = records::JsonValue::parse(body);
  const records::JsonValue* const data = json ? json->find("data") : nullptr;
  if (data == nullptr || data->list() == nullptr) {
    refuse_models();
  }
  std::vector<ServedModel> models;
  for (const records::JsonValue& model : *data->list()) {
    const records::JsonValue* const id = model.find("id");
    const records::JsonValue* const owner = model.find("owned_by");
    if (id == nullptr || id->string() == nullptr) {
      refuse_models();
    }
    models.push_back({.id = *id->string(),
                      .owner = owner != nullptr && owner->string() != nullptr ? *owner->string() : std::string{}});
  }
  return models;
}

const ServedModel& only_model(const std::vector<ServedModel>& models) {
  if (models.empty()) {
    throw Error{ErrorKind::not_found, "the server lists no model", "name the model by --model"};
  }
  if (models.size() > 1) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the server has several models: {}", names_of(models)),
                "name one by --model"};
  }
  return models.front();
}

bool has_ignore_eos(const ServedModel& model) {
  constexpr std::array<std::string_view, 3> programs{"vllm", "sglang", "llamacpp"};
  return std::ranges::find(programs, model.owner) != programs.end();
}

}  // namespace zeus::serving
