#include "records/json_schema.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

namespace zeus::records {

namespace {

using Kind = JsonSchema::Kind;

void put_bound(JsonWriter& json, std::string_view key, double bound, bool whole) {
  constexpr double exactly = 9007199254740992.0;
  if (whole && std::abs(bound) <= exactly) {
    json.put(key, static_cast<std::int64_t>(bound));
  } else {
    json.put(key, bound);
  }
}

void put_bounds(JsonWriter& json, const JsonSchema& schema) {
  const bool whole = schema.kind == Kind::whole;
  if (schema.least) {
    put_bound(json, schema.above_least ? "exclusiveMinimum" : "minimum", *schema.least, whole);
  }
  if (schema.most) {
    put_bound(json, "maximum", *schema.most, whole);
  }
}

void put_type(JsonWriter& json, std::string_view type, bool nullable) {
  if (nullable) {
    json.put("type", std::vector<std::string_view>{type, "null"});
  } else {
    json.put("type", type);
  }
}

// null is not an enumerator.
void put_words(JsonWriter& json, const JsonSchema& schema) {
  std::vector<std::optional<std::string>> words{schema.words.begin(), schema.words.end()};
  if (schema.nullable) {
    words.emplace_back(std::nullopt);
  }
  json.put("enum", words);
}

bool is_named(const JsonSchema& schema) {
  return schema.kind == Kind::record;
}

void put_members(JsonWriter& json, const JsonSchema& schema) {
  switch (schema.kind) {
    case Kind::boolean:
      put_type(json, "boolean", schema.nullable);
      break;
    case Kind::whole:
      put_type(json, "integer", schema.nullable);
      put_bounds(json, schema);
      break;
    case Kind::number:
      put_type(json, "number", schema.nullable);
      put_bounds(json, schema);
      break;
    case Kind::string:
      put_type(json, "string", schema.nullable);
      if (schema.longest) {
        json.put("minLength", 1);
        json.put("maxLength", *schema.longest);
      }
      if (!schema.pattern.empty()) {
        json.put("pattern", schema.pattern);
      }
      break;
    case Kind::word:
      put_type(json, "string", schema.nullable);
      put_words(json, schema);
      break;
    case Kind::list:
      put_type(json, "array", schema.nullable);
      json.put("items", *schema.of);
      if (schema.fewest > 0) {
        json.put("minItems", schema.fewest);
      }
      if (schema.members) {
        json.put("maxItems", *schema.members);
      }
      break;
    case Kind::tuple:
      put_type(json, "array", schema.nullable);
      json.put_list("prefixItems", schema.kinds, [&](const SharedSchema& member) { json.value(*member); });
      json.put("minItems", schema.kinds.size());
      json.put("maxItems", schema.kinds.size());
      break;
    case Kind::map:
      put_type(json, "object", schema.nullable);
      json.put("additionalProperties", *schema.of);
      break;
    case Kind::record:
    case Kind::one_of:
      break;
  }
}

std::string reference(const JsonSchema& schema) {
  return "#/components/schemas/" + schema.name;
}

std::string definition_of(const JsonSchema& schema) {
  JsonWriter json;
  json.object([&] { write_definition_members(json, schema); });
  return json.take();
}

void collect(const SharedSchema& schema, std::map<std::string, SharedSchema>& into) {
  if (is_named(*schema)) {
    const auto [known, is_new] = into.emplace(schema->name, schema);
    if (!is_new) {
      if (definition_of(*known->second) != definition_of(*schema)) {
        throw Error{ErrorKind::internal, fmt::format("two records are called {}", schema->name)};
      }
      return;
    }
  }
  if (schema->of) {
    collect(schema->of, into);
  }
  for (const JsonSchema::Field& field : schema->fields) {
    collect(field.schema, into);
  }
  for (const SharedSchema& kind : schema->kinds) {
    collect(kind, into);
  }
}

}  // namespace

void SchemaFields::finish() {
  if (has_reasons_) {
    fields_.push_back(
        {"reason",
         std::make_shared<const JsonSchema>(
             JsonSchema{.kind = Kind::map, .of = std::make_shared<const JsonSchema>(JsonSchema{.kind = Kind::string})}),
         false});
  }
}

void write_json(JsonWriter& json, const JsonSchema& schema) {
  json.object([&] {
    if (schema.kind == Kind::record && schema.nullable) {
      json.put_list("oneOf", std::array{true, false}, [&](bool is_record) {
        json.object([&] {
          if (is_record) {
            json.put("$ref", reference(schema));
          } else {
            json.put("type", "null");
          }
        });
      });
    } else if (schema.kind == Kind::record) {
      json.put("$ref", reference(schema));
    } else if (schema.kind == Kind::one_of) {
      json.put_list("oneOf", schema.kinds, [&](const SharedSchema& kind) { write_json(json, *kind); });
    } else {
      put_members(json, schema);
    }
  });
}

void write_definition_members(JsonWriter& json, const JsonSchema& schema) {
  json.put("type", "object");
  json.put("properties", [&] {
    for (const JsonSchema::Field& field : schema.fields) {
      json.put(field.key, *field.schema);
    }
  });
  std::vector<std::string_view> required;
  for (const JsonSchema::Field& field : schema.fields) {
    if (field.required) {
      required.emplace_back(field.key);
    }
  }
  if (!required.empty()) {
    json.put("required", required);
  }
  json.put("additionalProperties", false);
}

std::vector<SharedSchema> records_of(const std::vector<SharedSchema>& schemas) {
  std::map<std::string, SharedSchema> all;
  for (const SharedSchema& schema : schemas) {
    collect(schema, all);
  }
  std::vector<SharedSchema> found;
  for (auto& [name, schema] : all) {
    found.push_back(std::move(schema));
  }
  return found;
}

}  // namespace zeus::records
