#include "sweep/yaml_value.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace zeus::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    parse_yaml("queue.yaml", text);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::corrupt_data ? error.what() : "another kind of error";
  }
  return "read";
}

TEST(YamlValue, ListsMappingsAndWordsKeepTheirOrderAndSpelling) {
  const YamlValue value = parse_yaml("f", "- run\n- bs: [8, 0.10, 'x y']\n  lr: 1e-3\n");
  ASSERT_EQ(value.kind, YamlValue::Kind::list);
  ASSERT_EQ(value.members.size(), 2U);
  EXPECT_EQ(value.members[0].scalar, "run");
  EXPECT_THAT(value.members[1].keys, ElementsAre("bs", "lr"));
  EXPECT_EQ(value.members[1].members[0].members[1].scalar, "0.10");
  EXPECT_EQ(value.members[1].members[0].members[2].scalar, "x y");
  EXPECT_EQ(value.members[1].line, 2U);
}

TEST(YamlValue, AnEmptyFileIsNothing) {
  EXPECT_EQ(parse_yaml("f", "").kind, YamlValue::Kind::nothing);
  EXPECT_EQ(parse_yaml("f", "# only a comment\n").kind, YamlValue::Kind::nothing);
}

TEST(YamlValue, AnchorsAndAliasesAreRefusedBeforeTheyCanMultiply) {
  EXPECT_THAT(refusal("- &a [x]\n- *a\n"), HasSubstr("queue.yaml:1: anchors and aliases are not read here"));
  std::string laughs = "a0: &a0 [lol, lol]\n";
  for (int i = 1; i < 30; ++i) {
    laughs += fmt::format("a{0}: &a{0} [*a{1}, *a{1}]\n", i, i - 1);
  }
  EXPECT_THAT(refusal(laughs), HasSubstr("anchors and aliases"));
}

TEST(YamlValue, WhatIsAmbiguousIsRefusedWithItsLine) {
  EXPECT_THAT(refusal("- command: a\n  bs: 1\n  bs: 2\n"), HasSubstr("queue.yaml:3: the key 'bs' occurs twice"));
  EXPECT_THAT(refusal("- !!python/object:os.system [ls]\n"), HasSubstr("the tag"));
  EXPECT_THAT(refusal("- a\n---\n- b\n"), HasSubstr("second document"));
  EXPECT_THAT(refusal("- {{ name }}\n"), HasSubstr("a key is not a word"));
  EXPECT_THAT(refusal("- a: b: c\n"), HasSubstr("it is not YAML"));
  EXPECT_THAT(refusal("- a\n- b\xc1\n"), HasSubstr("queue.yaml:2: it has a byte that is not UTF-8"));
  EXPECT_THAT(refusal(std::string{"- a\0b\n", 6}), HasSubstr("or a control character"));
  EXPECT_THAT(refusal(std::string(100, '[')), HasSubstr("queue.yaml:1:"));
}

TEST(YamlValue, WhatIsWrittenIsReadBackTheSame) {
  for (const std::string word : {"plain", "null", "~", "8", "0x10", "a: b", "# no comment", "{{ x }}", "two\nlines\n",
                                 "it's \"quoted\"", " blank ", "-", "*a", "&b", "!t", "%d", "@at", "tab\there"}) {
    const YamlValue read =
        parse_yaml("f", to_yaml(YamlValue{.kind = YamlValue::Kind::scalar, .line = 0, .scalar = word}));
    ASSERT_EQ(read.members.size(), 1U) << word;
    EXPECT_EQ(read.members.front().kind, YamlValue::Kind::scalar) << word;
    EXPECT_EQ(read.members.front().scalar, word);
  }
}

}  // namespace
}  // namespace zeus::sweep
