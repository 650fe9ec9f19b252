#include "protocol/query.hpp"

#include "base/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace zeus::protocol {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The parameters of /gpu/set_power_limit.
struct Request {
  Ids gpu_ids;
  bool block = false;
  std::uint32_t power_limit_mw = 0;

  std::optional<QueryError> read(std::string_view query) {
    return read_query(query, {{"gpu_ids", gpu_ids}, {"block", block}, {"power_limit_mw", power_limit_mw}});
  }
};

std::string form_error(std::string_view query) {
  Request request;
  const std::optional<QueryError> error = request.read(query);
  if (!error || error->kind != QueryError::Kind::form) {
    ADD_FAILURE() << query << " is not an error of form";
    return {};
  }
  return error->text;
}

std::string ids_error(std::string_view list) {
  Ids ids;
  const std::optional<QueryError> error = read_query("gpu_ids=" + std::string{list}, {{"gpu_ids", ids}});
  if (!error || error->kind != QueryError::Kind::ids) {
    ADD_FAILURE() << list << " is not an error of ids";
    return {};
  }
  return error->text;
}

std::vector<std::uint32_t> ids_of(std::string_view list) {
  Ids ids;
  EXPECT_EQ(read_query("gpu_ids=" + std::string{list}, {{"gpu_ids", ids}}), std::nullopt) << list;
  return ids.numbers;
}

TEST(QueryTest, ReadsEachDeclaredParameterInAnyOrder) {
  Request request;
  EXPECT_EQ(request.read("block=true&power_limit_mw=250000&gpu_ids=0,2"), std::nullopt);
  EXPECT_THAT(request.gpu_ids.numbers, ElementsAre(0, 2));
  EXPECT_TRUE(request.block);
  EXPECT_EQ(request.power_limit_mw, 250000U);
}

TEST(QueryTest, WhatMayLackMay) {
  std::optional<Ids> ids;
  std::optional<Seconds> wait;
  EXPECT_EQ(read_query("", {{"gpu_ids", ids}, {"wait_s", wait}}), std::nullopt);
  EXPECT_FALSE(ids);
  EXPECT_EQ(read_query("&wait_s=2.5&&gpu_ids=3&", {{"gpu_ids", ids}, {"wait_s", wait}}), std::nullopt);
  EXPECT_THAT(ids->numbers, ElementsAre(3));
  EXPECT_EQ(wait, 2.5_s);
}

TEST(QueryTest, UnknownDuplicateAndMissingParametersAreRefusedInTheirWords) {
  EXPECT_THAT(form_error("gpu_ids=0&block=true&power_limit_mw=1&extra=1"), HasSubstr("unknown field `extra`"));
  EXPECT_THAT(form_error("gpu_ids=0&block=true&power_limit_mw=1&block=true"), HasSubstr("duplicate field `block`"));
  EXPECT_THAT(form_error("gpu_ids=0&power_limit_mw=1"), HasSubstr("missing field `block`"));
  EXPECT_THAT(form_error(""), HasSubstr("missing field `gpu_ids`"));
  EXPECT_THAT(form_error("GPU_IDS=0"), HasSubstr("unknown field"));
}

TEST(QueryTest, ReportsTheFirstError) {
  EXPECT_THAT(form_error("block=1&extra=1"), HasSubstr("`block`"));
  EXPECT_THAT(form_error("extra=1&block=1"), HasSubstr("`extra`"));
  EXPECT_THAT(form_error("gpu_ids=&block=true"), HasSubstr("missing field `power_limit_mw`"));
}

TEST(QueryTest, BooleansAreTrueOrFalseAlone) {
  for (const std::string_view value : {"1", "0", "True", "TRUE", "yes", "", " true", "true "}) {
    const std::string text = form_error("block=" + percent_encoded(value));
    EXPECT_THAT(text, HasSubstr("invalid")) << value;
    EXPECT_THAT(text, HasSubstr("`true` or `false`")) << value;
  }
  Request request{.block = true};
  EXPECT_EQ(request.read("gpu_ids=0&block=false&power_limit_mw=1"), std::nullopt);
  EXPECT_FALSE(request.block);
}

TEST(QueryTest, WholeNumbersAreDecimalDigitsThatFit) {
  for (const std::string_view value : {"-1", "1.5", "1e3", "0x10", "4294967296", "99999999999999999999999", "", "+1",
                                       "%2B1", "1%200", "nan", "%EF%BC%91"}) {
    EXPECT_THAT(form_error("power_limit_mw=" + std::string{value}), HasSubstr("invalid")) << value;
  }
  Request request;
  EXPECT_EQ(request.read("gpu_ids=0&block=true&power_limit_mw=4294967295"), std::nullopt);
  EXPECT_EQ(request.power_limit_mw, 4294967295U);
}

TEST(QueryTest, SecondsAreDecimalDigits) {
  Seconds wait;
  for (const std::string_view value : {"-1", "1e3", "inf", "nan", ".5", "5.", "", "1.5.2", "0x1"}) {
    const auto error = read_query("wait_s=" + std::string{value}, {{"wait_s", wait}});
    ASSERT_TRUE(error) << value;
    EXPECT_THAT(error->text, HasSubstr("invalid")) << value;
  }
  EXPECT_EQ(read_query("wait_s=0.25", {{"wait_s", wait}}), std::nullopt);
  EXPECT_EQ(wait, 0.25_s);
}

TEST(QueryTest, EncodingIsDecodedOnceAndRefusedIfItIsBroken) {
  Request request;
  EXPECT_EQ(request.read("gpu%5Fids=%30%2C1&block=tru%65&power_limit_mw=%31"), std::nullopt);
  EXPECT_THAT(request.gpu_ids.numbers, ElementsAre(0, 1));
  for (const std::string_view broken : {"%", "%2", "%zz", "%2g", "%%31"}) {
    EXPECT_THAT(form_error("gpu_ids=" + std::string{broken}), HasSubstr("invalid encoding")) << broken;
  }
  std::string name;
  EXPECT_EQ(read_query("name=a%2525+b", {{"name", name}}), std::nullopt);
  EXPECT_EQ(name, "a%25 b");
}

TEST(QueryTest, StringsAreUtf8OfBoundedLengthWithoutControlCharacters) {
  std::string name;
  EXPECT_EQ(read_query("name=%E2%82%AC", {{"name", name}}), std::nullopt);
  EXPECT_EQ(name, "\u20ac");
  EXPECT_TRUE(read_query("name=%FF", {{"name", name}}));
  EXPECT_TRUE(read_query("name=%00", {{"name", name}}));
  EXPECT_TRUE(read_query("name=a%0Ab", {{"name", name}}));
  EXPECT_FALSE(read_query("name=" + std::string(1024, 'x'), {{"name", name}}));
  EXPECT_TRUE(read_query("name=" + std::string(1025, 'x'), {{"name", name}}));
}

TEST(QueryTest, HugeQueriesAreRefusedWithAShortText) {
  EXPECT_LT(form_error(std::string(100000, 'x') + "=1").size(), 300U);
  EXPECT_LT(form_error("block=" + std::string(100000, '9')).size(), 300U);
  std::string many;
  for (int i = 0; i < 100000; ++i) {
    many += "block&";
  }
  EXPECT_THAT(form_error(many), HasSubstr("invalid"));
}

TEST(QueryTest, ListsOfNumbersAreTrimmedSortedAndEachOnce) {
  EXPECT_THAT(ids_of("0"), ElementsAre(0));
  EXPECT_THAT(ids_of("10,2,0,2"), ElementsAre(0, 2, 10));
  EXPECT_THAT(ids_of("1%2C0"), ElementsAre(0, 1));
  EXPECT_THAT(ids_of("%201%20,+0+"), ElementsAre(0, 1));
}

TEST(QueryTest, InvalidListsAreRefusedInAnotherForm) {
  for (const std::string_view list : {"", ",", "0,", ",0", "0,,1", "a", "-1", "1.0", "4294967296", "0 1", "%20"}) {
    EXPECT_THAT(ids_error(list), HasSubstr("gpu_ids")) << list;
  }
  std::string many;
  for (int i = 0; i < 5000; ++i) {
    many += "1,";
  }
  EXPECT_THAT(ids_error(many + "1"), HasSubstr("more than"));
}

TEST(QueryTest, AnswersAreTextForTheFormAndJsonForLists) {
  const Refusal form = refusal(QueryError{.kind = QueryError::Kind::form, .text = "missing field `block`"});
  EXPECT_EQ(form.status, Status::bad_request);
  EXPECT_EQ(form.content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(form.body, "Query deserialize error: missing field `block`");
  const Refusal ids = refusal(QueryError{.kind = QueryError::Kind::ids, .text = "gpu_ids has an empty item"});
  EXPECT_EQ(ids.status, Status::bad_request);
  EXPECT_EQ(ids.content_type, "application/json");
  EXPECT_EQ(ids.body, R"({"error":"gpu_ids has an empty item"})");
}

TEST(QueryTest, WhatIsEncodedIsDecodedAgain) {
  Random random{7};
  for (int round = 0; round < 200; ++round) {
    std::string bytes;
    for (std::uint64_t left = random.below(20); left > 0; --left) {
      bytes += static_cast<char>(random.below(256));
    }
    EXPECT_EQ(percent_decoded(percent_encoded(bytes)), bytes);
  }
}

}  // namespace
}  // namespace zeus::protocol
