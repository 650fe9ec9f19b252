#include "base/state_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace zeus {
namespace {

enum class Colour { red, green };

struct Inner {
  std::vector<bool> flags;
  std::optional<Watts> power;

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.flags, self.power);
  }
  friend bool operator==(const Inner&, const Inner&) = default;
};

struct Outer {
  int count = 0;
  std::uint64_t number = 0;
  std::string name;
  Colour colour = Colour::red;
  std::array<double, 2> doubles{};
  std::vector<Inner> inner;
  std::vector<std::pair<int, Joules>> pairs;

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    archive(self.count, self.number, self.name, self.colour, self.doubles, self.inner, self.pairs);
  }
  friend bool operator==(const Outer&, const Outer&) = default;
};

Outer example() {
  return {.count = -3,
          .number = std::numeric_limits<std::uint64_t>::max(),
          .name = "a b\n7 ",
          .colour = Colour::green,
          .doubles = {0.1, -std::numeric_limits<double>::infinity()},
          .inner = {{.flags = {true, false}, .power = Watts{250.0}}, {.flags = {}, .power = {}}},
          .pairs = {{1, Joules{1e-300}}}};
}

std::string written(const Outer& object) {
  StateWriter writer;
  writer(object);
  return writer.take();
}

TEST(StateText, GivesBackExactlyWhatWasWritten) {
  const std::string text = written(example());
  StateReader reader{text};
  Outer read;
  reader(read);
  EXPECT_EQ(read, example());
  EXPECT_TRUE(reader.done());
}

TEST(StateText, RefusesWhatIsCutOffAnywhere) {
  const std::string text = written(example());
  for (std::size_t length = 0; length < text.size(); ++length) {
    StateReader reader{std::string_view{text}.substr(0, length)};
    Outer read;
    EXPECT_THROW(reader(read), Error) << length;
  }
}

TEST(StateText, RefusesNumbersThatDoNotFitAndSizesThatCannotBe) {
  int small = 0;
  EXPECT_THROW(StateReader{"fffffffff "}(small), Error);
  std::vector<double> many;
  EXPECT_THROW(StateReader{"ffffffffffffffff 0 "}(many), Error);
}

}  // namespace
}  // namespace zeus
