#include "toml/toml_reader.hpp"

#include "toml/nearest.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace zeus::toml {

namespace {

enum class Colour { red, green };

constexpr auto names_of(Colour /*colour*/) {
  return std::array<field::Name<Colour>, 2>{{{Colour::red, "red"}, {Colour::green, "green"}}};
}

struct Wheel {
  int spokes = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("spokes", self.spokes, field::from_one);
  }
};

struct Bicycle {
  std::string name;
  std::optional<double> share;
  std::optional<bool> bell;
  std::optional<Colour> colour;
  std::optional<Watts> lamp;
  std::optional<std::uint64_t> number;
  std::vector<std::string> parts;
  std::vector<Wheel> wheels;
  std::optional<double> patience;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("name", self.name);
    fields("share", self.share, field::share);
    fields("bell", self.bell);
    fields("colour", self.colour);
    fields("lamp", self.lamp, field::above_zero);
    fields("number", self.number);
    fields("parts", self.parts, field::Rule{.members = 3});
    fields("wheels", self.wheels);
    fields("patience", self.patience, field::Rule{.null_is_infinite = true});
  }
};

Bicycle read(std::string_view text) {
  return record_from_toml<Bicycle>(text, "b.toml");
}

std::string refusal(std::string_view text) {
  try {
    (void)read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    return error.what();
  }
  return "nothing was refused";
}

// The smallest valid file, with the line under test as its fourth line.
std::string with(std::string_view line) {
  return "name = 'a'\nparts = []\nwheels = []\n" + std::string{line} + "\n";
}

TEST(TomlReader, ReadsARecordByItsDescription) {
  const Bicycle bicycle = read(R"(
# A comment.
name = "town"
share = 1          # a whole number is a number
bell = true
colour = "green"
lamp_w = 2.5
number = 7
parts = ["frame", 'C:\fork']
patience = inf

[[wheels]]
spokes = 36
[[wheels]]
spokes = 32
)");
  EXPECT_EQ(bicycle.name, "town");
  EXPECT_EQ(bicycle.share, 1.0);
  EXPECT_EQ(bicycle.bell, true);
  EXPECT_EQ(bicycle.colour, Colour::green);
  EXPECT_EQ(bicycle.lamp, Watts{2.5});
  EXPECT_EQ(bicycle.number, 7U);
  EXPECT_EQ(bicycle.parts, (std::vector<std::string>{"frame", R"(C:\fork)"}));
  EXPECT_EQ(bicycle.patience, std::numeric_limits<double>::infinity());
  ASSERT_EQ(bicycle.wheels.size(), 2U);
  EXPECT_EQ(bicycle.wheels[1].spokes, 32);
}

TEST(TomlReader, LeavesUnknownWhatIsLeftOut) {
  const Bicycle bicycle = read(with(""));
  EXPECT_FALSE(bicycle.share || bicycle.bell || bicycle.colour || bicycle.lamp || bicycle.number);
}

TEST(TomlReader, NamesTheKeyThatWasMeant) {
  EXPECT_EQ(refusal(with("  lamp-w = 2")), "b.toml:4:3: there is no key 'lamp-w'; did you mean 'lamp_w'?");
  EXPECT_EQ(refusal(with("colur = 'red'")), "b.toml:4:1: there is no key 'colur'; did you mean 'colour'?");
  EXPECT_EQ(refusal("name = 'a'\nparts = []\n\n[[wheels]]\nspoke = 3"),
            "b.toml:5:1: there is no key 'spoke'; did you mean 'spokes'?");
}

TEST(TomlReader, ListsTheKeysIfNoneIsSimilar) {
  EXPECT_EQ(
      refusal(with("basket = 1")),
      "b.toml:4:1: there is no key 'basket'; the keys are name, share, bell, colour, lamp_w, number, parts, wheels, "
      "patience");
}

TEST(TomlReader, ReportsMissingKeysAfterMisspeltOnes) {
  EXPECT_EQ(refusal("parts = []\nwheels = []"), "b.toml:1:1: the key 'name' is missing; add it");
  EXPECT_EQ(refusal("nam = 'a'"), "b.toml:1:1: there is no key 'nam'; did you mean 'name'?");
}

TEST(TomlReader, RefusesOtherTypesWithTheExpectedOne) {
  EXPECT_EQ(refusal(with("share = '0.5'")),
            "b.toml:4:9: 'share' is \"0.5\", but must be a number from 0 to 1; leave out the quotation marks");
  EXPECT_EQ(refusal(with("share = [1]")), "b.toml:4:9: 'share' is a list, but must be a number from 0 to 1");
  EXPECT_EQ(refusal(with("bell = 1")), "b.toml:4:8: 'bell' is 1, but must be true or false");
  EXPECT_EQ(refusal("name = 5"), "b.toml:1:8: 'name' is 5, but must be a string; put it in quotation marks");
  EXPECT_EQ(refusal("parts = 'a'"), "b.toml:1:9: 'parts' is \"a\", but must be a list; write [\"a\"]");
  EXPECT_EQ(refusal(with("number = 1.5")).substr(0, 56), "b.toml:4:10: 'number' is 1.5, but must be a whole number");
  EXPECT_EQ(refusal(with("number = 1979-05-27")).substr(0, 36), "b.toml:4:10: 'number' is a time, but");
  EXPECT_EQ(refusal(with("colour = 'gren'")),
            "b.toml:4:10: 'colour' is \"gren\", but must be one of red, green; did you mean 'green'?");
}

TEST(TomlReader, HoldsNumbersToTheirBounds) {
  EXPECT_EQ(refusal(with("share = 7")), "b.toml:4:9: 'share' is 7, but must be a number from 0 to 1");
  EXPECT_EQ(refusal(with("share = nan")), "b.toml:4:9: 'share' is nan, but must be a number from 0 to 1");
  EXPECT_EQ(refusal(with("lamp_w = 0")), "b.toml:4:10: 'lamp_w' is 0, but must be a number above 0");
  EXPECT_NE(refusal(with("number = -1")), "nothing was refused");
  EXPECT_EQ(refusal("parts = ['a', 'b', 'c', 'd']"), "b.toml:1:9: 'parts' is a list, but must be a list of at most 3");
}

TEST(TomlReader, RefusesWhatIsGivenTwice) {
  EXPECT_EQ(refusal("name = 'a'\nname = 'b'"), "b.toml:2:8: 'name' appears a second time; keep one of the two");
  EXPECT_EQ(refusal("[name]\n[name]").substr(0, 35), "b.toml:2:1: 'name' appears a second");
}

TEST(TomlReader, ReportsWhereAStringIsNotToml) {
  EXPECT_EQ(refusal("name = 'a'\nshare = 1 2").substr(0, 34), "b.toml:2:11: this is not TOML: exp");
  EXPECT_EQ(refusal("name = a").substr(0, 30), "b.toml:1:8: this is not TOML: ");
  EXPECT_EQ(refusal("\xff").substr(0, 30), "b.toml:1:1: this is not TOML: ");
  for (const std::string_view header : {"[=", "[[#", "[\x15", "[[\x7f]]"}) {
    EXPECT_EQ(refusal(std::string{"name = 'a'\n"}.append(header)).substr(0, 9), "b.toml:2:") << header;
  }
  for (const char* const letter : {"\u00a0", "\u00e9", "\u0324", "\u1780", "\u2100", "\u3042"}) {
    EXPECT_EQ(refusal(std::string{"name = 'a'\n"} + letter + " = 1").substr(0, 9), "b.toml:2:") << letter;
    EXPECT_EQ(refusal(std::string{"name "} + letter + "= 1").substr(0, 9), "b.toml:1:") << letter;
  }
  const std::string deep(1000, '[');
  EXPECT_EQ(refusal("name = " + deep).substr(0, 7), "b.toml:");
}

TEST(Nearest, AcceptsDashesForUnderscoresAndSuggestsNothingDissimilar) {
  const std::vector<std::string> known{"batch_sizes", "beta", "eta"};
  EXPECT_EQ(nearest("batch-sizes", known), "batch_sizes");
  EXPECT_EQ(nearest("ETA", known), "eta");
  EXPECT_EQ(nearest("betta", known), "beta");
  EXPECT_EQ(nearest("window", known), std::nullopt);
  EXPECT_EQ(nearest("", known), std::nullopt);
  EXPECT_EQ(nearest(std::string(100000, 'a'), known), std::nullopt);
}

}  // namespace

}  // namespace zeus::toml
