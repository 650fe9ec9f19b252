#include "records/json_reader.hpp"
#include "records/json_value.hpp"
#include "records/json_writer.hpp"

#include "base/random.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace zeus::records {
namespace {

struct Part {
  std::optional<Watts> limit;
  std::vector<int> sizes;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("limit", self.limit, field::Rule{.least = 0.0, .reason = "it cannot be read"});
    fields("sizes", self.sizes, field::Rule{.least = 1.0, .most = 9.0, .members = 3});
  }
};

struct Whole {
  std::string name;
  std::vector<Part> parts;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("name", self.name);
    fields("parts", self.parts);
  }
};

std::string refusal(std::string_view text) {
  try {
    static_cast<void>(record_from_json<Whole>(text, {.refusal = "this is not a whole", .advice = "mend it"}));
    return "none";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
    EXPECT_EQ(error.advice(), "mend it");
    return error.message();
  }
}

TEST(JsonWriter, WritesOnOneLineOrIndented) {
  const auto write = [](JsonWriter json) {
    json.object([&] {
      json.put("empty", [] {});
      json.put("list", std::vector<int>{1, -2});
      json.put_list("none", std::vector<int>{}, [](int) {});
      json.put("inner", [&] { json.put("yes", true); });
      json.put("unknown", std::optional<Watts>{});
    });
    return json.take();
  };
  EXPECT_EQ(write(JsonWriter{}), R"({"empty":{},"list":[1,-2],"none":[],"inner":{"yes":true},"unknown":null})");
  EXPECT_EQ(write(JsonWriter{JsonWriter::Layout::indented}), R"({
  "empty": {},
  "list": [
    1,
    -2
  ],
  "none": [],
  "inner": {
    "yes": true
  },
  "unknown": null
})");
}

TEST(JsonWriter, ReasonsStandAtTheEndOfTheirObject) {
  JsonWriter json;
  json.object([&] {
    json.put_unknown("a", "lost");
    json.put("inner", [&] { json.put("b", std::optional<int>{}, "gone"); });
    json.put("c", std::optional<int>{3}, "never said");
  });
  EXPECT_EQ(json.take(), R"({"a":null,"inner":{"b":null,"reason":{"b":"gone"}},"c":3,"reason":{"a":"lost"}})");
  EXPECT_EQ(json_line(Part{}), R"({"limit_w":null,"sizes":[],"reason":{"limit_w":"it cannot be read"}})");
}

TEST(JsonWriter, StringsAreEscapedAndInvalidUtf8IsReplaced) {
  EXPECT_EQ(json_line("a\"\\\n\x01\x7f\u00e9"), "\"a\\\"\\\\\\n\\u0001\x7f\u00e9\"");
  EXPECT_EQ(json_line(std::string{"a\xff"}), "\"a\ufffd\"");
}

TEST(JsonWriter, NumbersShowWhetherTheyAreWhole) {
  EXPECT_EQ(json_line(2.0), "2.0");
  EXPECT_EQ(json_line(2), "2");
  EXPECT_EQ(json_line(1e-5), "1e-05");
  EXPECT_EQ(json_line(1e22), "1e+22");
  EXPECT_EQ(json_line(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(json_line(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(json_line(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(json_line(std::nan("")), "null");
}

TEST(JsonValue, EveryFiniteNumberComesBackBitByBit) {
  Random random{1};
  for (int i = 0; i < 100'000; ++i) {
    const auto number = std::bit_cast<double>(random.bits());
    if (std::isfinite(number)) {
      const std::optional<double> read = JsonValue::parse(json_line(number)).value().number();
      ASSERT_EQ(std::bit_cast<std::uint64_t>(read.value()), std::bit_cast<std::uint64_t>(number)) << number;
    }
  }
}

TEST(JsonValue, OfAKeyThatIsThereTwiceTheLastOneIsFound) {
  const JsonValue json = JsonValue::parse(R"({"b":1,"a":2,"b":3})").value();
  EXPECT_EQ(json["b"].whole<int>(), 3);
  EXPECT_EQ(json["a"].whole<int>(), 2);
}

TEST(JsonValue, WholeNumbersAreThoseWithoutAFractionThatFit) {
  EXPECT_EQ(JsonValue::parse("-3").value().whole<int>(), -3);
  EXPECT_FALSE(JsonValue::parse("-3").value().whole<unsigned>());
  EXPECT_FALSE(JsonValue::parse("3.0").value().whole<int>());
  EXPECT_FALSE(JsonValue::parse("4294967296").value().whole<int>());
  EXPECT_FALSE(JsonValue::parse("18446744073709551616").value().whole<std::uint64_t>());
}

TEST(JsonValue, IsEmptyIfTheInputIsNotJson) {
  const std::string deep = std::string(64, '[') + std::string(64, ']');
  EXPECT_TRUE(JsonValue::parse(deep));
  for (const std::string& text : {std::string{}, std::string{"{"}, std::string{"1 2"}, std::string{"1e999"},
                                  std::string{"\"\xff\""}, "[" + deep + "]", std::string(100'000, '[')}) {
    EXPECT_FALSE(JsonValue::parse(text)) << text.substr(0, 20);
  }
}

TEST(JsonReader, SaysWhereARecordIsWrong) {
  EXPECT_EQ(refusal("{"), "this is not a whole: it is not JSON");
  EXPECT_EQ(refusal("[]"), "this is not a whole");
  EXPECT_EQ(refusal(R"({"name":"a"})"), "this is not a whole: it has no 'parts'");
  EXPECT_EQ(refusal(R"({"name":1,"parts":[]})"), "this is not a whole: its 'name' is not a string");
  EXPECT_EQ(refusal(R"({"name":"a","parts":[],"more":1})"), "this is not a whole: it has an unknown key 'more'");
  EXPECT_EQ(refusal(R"({"name":"a","parts":[{"limit_w":null,"sizes":[]},{"sizes":[]}]})"),
            "this is not a whole: it has no 'parts[1].limit_w'");
  EXPECT_EQ(refusal(R"({"name":"a","parts":[{"limit_w":-1,"sizes":[]}]})"),
            "this is not a whole: its 'parts[0].limit_w' is not a number from 0");
  EXPECT_EQ(refusal(R"({"name":"a","parts":[{"limit_w":1,"sizes":[5,10]}]})"),
            "this is not a whole: its 'parts[0].sizes[1]' is not a whole number from 1 to 9");
  EXPECT_EQ(refusal(R"({"name":"a","parts":[{"limit_w":1,"sizes":[1,2,3,4]}]})"),
            "this is not a whole: its 'parts[0].sizes' is not a list of at most 3");
}

enum class Word { known };
constexpr auto names_of(Word /*word*/) {
  return std::array<field::Name<Word>, 1>{{{Word::known, "known"}}};
}

struct Spoken {
  std::optional<Word> word;
  std::optional<Word> left_out;
  std::vector<Word> words;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("word", self.word);
    fields("left_out", self.left_out, field::Rule{.left_out = true});
    fields("words", self.words);
  }
};

TEST(JsonReader, ReadsTheKnownPartOfANewerVersion) {
  constexpr JsonForm strict{.refusal = "no"};
  constexpr JsonForm newer{.refusal = "no", .newer = true};
  constexpr std::string_view more = R"({"word":null,"words":["known"],"more":{"a":1}})";
  EXPECT_THROW(record_from_json<Spoken>(more, strict), Error);
  EXPECT_EQ(record_from_json<Spoken>(more, newer).words.size(), 1U);
  constexpr std::string_view unknown = R"({"word":"later","left_out":"later","words":[]})";
  EXPECT_THROW(record_from_json<Spoken>(unknown, strict), Error);
  EXPECT_EQ(record_from_json<Spoken>(unknown, newer).word, std::nullopt);
  EXPECT_EQ(record_from_json<Spoken>(unknown, newer).left_out, std::nullopt);
  EXPECT_EQ(record_from_json<Spoken>(R"({"word":"known","words":[]})", newer).word, Word::known);
  // Required keys and types stay required.
  EXPECT_THROW(record_from_json<Spoken>(R"({"word":7,"words":[]})", newer), Error);
  EXPECT_THROW(record_from_json<Spoken>(R"({"word":null,"words":["later"]})", newer), Error);
  EXPECT_THROW(record_from_json<Spoken>(R"({"words":[]})", newer), Error);
}

}  // namespace
}  // namespace zeus::records
