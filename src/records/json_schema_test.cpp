#include "records/json_schema.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace zeus::records {
namespace {

enum class Color { red, green };
constexpr auto names_of(Color /*color*/) {
  return std::array<field::Name<Color>, 2>{{{Color::red, "red"}, {Color::green, "green"}}};
}

struct Wheel {
  static constexpr std::string_view kind = "wheel";
  int spokes = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("spokes", self.spokes, field::from_one);
  }
};

struct Bell {
  static constexpr std::string_view kind = "bell";
  Color color = Color::red;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("color", self.color);
  }
};

struct Bicycle {
  std::vector<Wheel> wheels;
  std::optional<Watts> power;
  std::optional<std::string> owner;
  std::variant<Bell, Wheel> extra;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("wheels", self.wheels, field::Rule{.members = 3});
    fields("power", self.power, field::above_zero);
    fields("owner", self.owner, field::Rule{.reason = "it has no owner"});
    fields("extra", self.extra);
    fields("bought_with", std::optional<Bell>{}, field::Rule{.left_out = true});
  }
};

std::string definition(const JsonSchema& schema) {
  JsonWriter json;
  json.object([&] { write_definition_members(json, schema); });
  return json.take();
}

TEST(JsonSchema, SaysWhatARecordLooksLike) {
  EXPECT_EQ(definition(json_schema<Bicycle>()),
            R"({"type":"object","properties":{)"
            R"("wheels":{"type":"array","items":{"$ref":"#/components/schemas/Wheel"},"maxItems":3},)"
            R"("power_w":{"type":["number","null"],"exclusiveMinimum":0.0},)"
            R"("owner":{"type":["string","null"]},)"
            R"("extra":{"oneOf":[{"$ref":"#/components/schemas/Bell"},{"$ref":"#/components/schemas/Wheel"}]},)"
            R"("bought_with":{"oneOf":[{"$ref":"#/components/schemas/Bell"},{"type":"null"}]},)"
            R"("reason":{"type":"object","additionalProperties":{"type":"string"}}},)"
            R"("required":["wheels","power_w","owner","extra"],"additionalProperties":false})");
  EXPECT_EQ(definition(json_schema<Wheel>()),
            R"({"type":"object","properties":{"spokes":{"type":"integer","minimum":1,"maximum":2147483647}},)"
            R"("required":["spokes"],"additionalProperties":false})");
  EXPECT_EQ(json_line(json_schema<std::optional<Color>>()),
            R"({"type":["string","null"],"enum":["red","green",null]})");
}

TEST(JsonSchema, NamesRecordsByTheirTypes) {
  EXPECT_EQ(type_name<Wheel>(), "Wheel");
  EXPECT_EQ(json_schema<Wheel>().name, "Wheel");
}

TEST(JsonSchema, KnowsTwoRecordsOfOneName) {
  // As part of a variant, a wheel writes its kind; alone it does not.
  EXPECT_THROW(records_of({shared_schema<Bicycle>()}), Error);
  EXPECT_EQ(records_of({shared_schema<Wheel>(), shared_schema<Wheel>()}).size(), 1U);
}

}  // namespace
}  // namespace zeus::records
