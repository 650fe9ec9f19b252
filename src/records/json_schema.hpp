// The JSON schema of a record, made from its description (zeus/fields.hpp): for documents that say what a service takes
// and answers. It describes exactly what records/json_reader.hpp reads and json_writer.hpp writes. Plain values and
// pure functions; any thread.
#pragma once

#include "base/clock.hpp"
#include "records/json_writer.hpp"

#include <zeus/fields.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace zeus::records {

struct JsonSchema {
  enum class Kind { boolean, whole, number, string, word, list, tuple, map, record, one_of };
  struct Field;

  Kind kind = Kind::string;
  std::string name = {};  // of a record, and of a variant of records
  bool nullable = false;
  // For numbers; for the members of a list of numbers.
  std::optional<double> least = {};
  std::optional<double> most = {};
  bool above_least = false;
  std::optional<std::size_t> longest = {};                    // for a string, in characters
  std::string pattern = {};                                   // for a string
  std::vector<std::string> words = {};                        // for an enumerator: one of these
  std::size_t fewest = 0;                                     // for a list, at least
  std::optional<std::size_t> members = {};                    // for a list, at most
  std::shared_ptr<const JsonSchema> of = {};                  // for each member of a list or a map
  std::vector<Field> fields;                                  // for a record, in order
  std::vector<std::shared_ptr<const JsonSchema>> kinds = {};  // for a variant: its records; for a tuple: its members
};

struct JsonSchema::Field {
  std::string key;
  std::shared_ptr<const JsonSchema> schema;
  bool required = true;
};

using SharedSchema = std::shared_ptr<const JsonSchema>;

// As a JSON Schema. Records and variants appear as references: "#/components/schemas/NAME".
void write_json(JsonWriter& json, const JsonSchema& schema);
// The members of a record's definition, whose fields may be references.
void write_definition_members(JsonWriter& json, const JsonSchema& schema);
// The records that it consists of, including itself, each once, ascending by name. Two different records with one name
// are an internal Error.
std::vector<SharedSchema> records_of(const std::vector<SharedSchema>& schemas);

// The name of a type without its namespaces.
template <typename Type>
constexpr std::string_view type_name() {
  // "... type_name() [with Type = zeus::protocol::Beat; ...]", "... [Type = zeus::protocol::Beat]"
  constexpr std::string_view function{__PRETTY_FUNCTION__};
  constexpr std::string_view before{"Type = "};
  constexpr std::size_t begin = function.find(before) + before.size();
  constexpr std::string_view name = function.substr(begin, function.find_first_of(";]", begin) - begin);
  constexpr std::size_t last = name.rfind(':');
  return last == std::string_view::npos ? name : name.substr(last + 1);
}

template <typename Value>
JsonSchema json_schema(const field::Rule& rule = {});

// Called by a record's description with each of its fields.
class SchemaFields {
 public:
  explicit SchemaFields(std::vector<JsonSchema::Field>& fields) : fields_{fields} {}

  void version(int number, std::string_view key = "version") {
    JsonSchema schema{.kind = JsonSchema::Kind::whole};
    schema.least = schema.most = number;
    fields_.push_back({std::string{key}, std::make_shared<const JsonSchema>(std::move(schema)), true});
  }
  template <typename Value>
  void operator()(std::string_view name, const Value& /*value*/, const field::Rule& rule = {}) {
    fields_.push_back({field::key_of<Value>(name, rule), std::make_shared<const JsonSchema>(json_schema<Value>(rule)),
                       !rule.left_out});
    has_reasons_ = has_reasons_ || rule.reason.has_value();
  }
  template <typename Record>
  void operator()(std::string_view /*name*/, Record& record, field::Beside /*beside*/) {
    if constexpr (field::is_variant<std::remove_const_t<Record>>) {
      is_variant_beside_ = true;
      add_kinds(record);
    } else {
      Record::describe(*this, record);
    }
  }

  // The last field says why others are null.
  void finish();
  // True if a field is a variant: the object then has the fields that all its records share, and may have the rest.
  [[nodiscard]] bool has_variant() const { return is_variant_beside_; }

 private:
  template <typename... Kinds>
  void add_kinds(const std::variant<Kinds...>& /*one*/) {
    JsonSchema kind{.kind = JsonSchema::Kind::word};
    (kind.words.emplace_back(Kinds::kind), ...);
    fields_.push_back({"kind", std::make_shared<const JsonSchema>(std::move(kind)), true});
    const auto add = [this]<typename Kind>(const Kind*) {
      std::vector<JsonSchema::Field> its;
      SchemaFields fields{its};
      Kind record{};
      Kind::describe(fields, record);
      for (JsonSchema::Field& field : its) {
        if (std::ranges::find(fields_, field.key, &JsonSchema::Field::key) == fields_.end()) {
          field.required = false;
          fields_.push_back(std::move(field));
        }
      }
    };
    (add(static_cast<const Kinds*>(nullptr)), ...);
  }

  std::vector<JsonSchema::Field>& fields_;
  bool has_reasons_ = false;
  bool is_variant_beside_ = false;
};

template <typename Record>
std::vector<JsonSchema::Field> fields_of() {
  std::vector<JsonSchema::Field> all;
  SchemaFields fields{all};
  Record record{};
  Record::describe(fields, record);
  fields.finish();
  return all;
}

template <typename... Kinds>
JsonSchema schema_of_kinds(const std::variant<Kinds...>* /*type*/) {
  JsonSchema schema{.kind = JsonSchema::Kind::one_of};
  const auto add = [&schema]<typename Kind>(const Kind*) {
    JsonSchema one{.kind = JsonSchema::Kind::record, .name = std::string{type_name<Kind>()}};
    JsonSchema word{.kind = JsonSchema::Kind::word};
    word.words.emplace_back(Kind::kind);
    one.fields = fields_of<Kind>();
    one.fields.insert(one.fields.begin(), {"kind", std::make_shared<const JsonSchema>(std::move(word)), true});
    schema.kinds.push_back(std::make_shared<const JsonSchema>(std::move(one)));
  };
  (add(static_cast<const Kinds*>(nullptr)), ...);
  return schema;
}

// A type with a format of its own has a function json_schema_of(const Value*).
template <typename Value>
JsonSchema json_schema(const field::Rule& rule) {
  using Kind = JsonSchema::Kind;
  JsonSchema schema;
  const auto bound = [&] {
    if (rule.least > std::numeric_limits<double>::lowest()) {
      schema.least = rule.least;
      schema.above_least = rule.above_least;
    }
    if (rule.most < std::numeric_limits<double>::max()) {
      schema.most = rule.most;
    }
  };
  if constexpr (std::is_same_v<Value, bool>) {
    schema.kind = Kind::boolean;
  } else if constexpr (requires { json_schema_of(static_cast<const Value*>(nullptr)); }) {
    schema = json_schema_of(static_cast<const Value*>(nullptr));
  } else if constexpr (std::is_same_v<Value, WallTime>) {
    schema.kind = Kind::string;
    schema.pattern = R"(^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$)";
  } else if constexpr (std::integral<Value>) {
    schema.kind = Kind::whole;
    bound();
    // No bound is written beyond the integers that a double holds exactly.
    constexpr double least = static_cast<double>(std::numeric_limits<Value>::lowest());
    schema.least = schema.least ? std::max(*schema.least, least) : least;
    if (sizeof(Value) < sizeof(std::int64_t)) {
      constexpr double most = static_cast<double>(std::numeric_limits<Value>::max());
      schema.most = schema.most ? std::min(*schema.most, most) : most;
    }
  } else if constexpr (std::floating_point<Value>) {
    schema.kind = Kind::number;
    bound();
    schema.nullable = rule.null_is_infinite;
  } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
    schema.kind = Kind::string;
  } else if constexpr (std::is_enum_v<Value>) {
    schema.kind = Kind::word;
    for (const auto& one : names_of(Value{})) {
      schema.words.emplace_back(one.name);
    }
  } else if constexpr (field::is_optional<Value>) {
    schema = json_schema<typename Value::value_type>(rule);
    schema.nullable = true;
  } else if constexpr (field::Measured<Value>) {
    schema.kind = Kind::number;
    bound();
  } else if constexpr (field::is_list<Value>) {
    schema.kind = Kind::list;
    schema.fewest = rule.fewest;
    schema.members = rule.members;
    schema.of = std::make_shared<const JsonSchema>(json_schema<typename Value::value_type>(rule));
  } else if constexpr (requires { typename Value::mapped_type; }) {
    schema.kind = Kind::map;
    schema.of = std::make_shared<const JsonSchema>(json_schema<typename Value::mapped_type>(rule));
  } else if constexpr (field::is_variant<Value>) {
    schema = schema_of_kinds(static_cast<const Value*>(nullptr));
  } else {
    schema.kind = Kind::record;
    schema.name = std::string{type_name<Value>()};
    schema.fields = fields_of<Value>();
  }
  return schema;
}

template <typename Value>
SharedSchema shared_schema() {
  return std::make_shared<const JsonSchema>(json_schema<Value>());
}

}  // namespace zeus::records
