#include "protocol/error_body.hpp"

#include "records/json_value.hpp"

#include <gtest/gtest.h>

namespace zeus::protocol {
namespace {

TEST(ErrorBodyTest, AnErrorIsAnObjectWithItsText) {
  EXPECT_EQ(error_body("it \"failed\"\n"), R"({"error":"it \"failed\"\n"})");
  const Refusal refused = refusal(Error{ErrorKind::conflict, "GPU 0 is leased", "wait for it"});
  EXPECT_EQ(refused.status, Status::conflict);
  EXPECT_EQ(refused.body, R"({"error":"GPU 0 is leased: wait for it"})");
}

TEST(ErrorBodyTest, ReasonsHaveTheStatusesOfTheExistingDaemon) {
  EXPECT_EQ(status_of(Reason::unsupported), Status::bad_request);
  EXPECT_EQ(status_of(Reason::out_of_range), Status::bad_request);
  EXPECT_EQ(status_of(Reason::permission), Status::forbidden);
  EXPECT_EQ(status_of(Reason::timeout), Status::timeout);
  EXPECT_EQ(status_of(Reason::lost), Status::internal);
  EXPECT_EQ(status_of(Reason::unreliable), Status::internal);
  EXPECT_EQ(status_of(Reason::unknown), Status::internal);
}

TEST(ErrorBodyTest, ErrorsHaveStatusesByKind) {
  EXPECT_EQ(status_of(ErrorKind::invalid_argument), Status::bad_request);
  EXPECT_EQ(status_of(ErrorKind::permission_denied), Status::forbidden);
  EXPECT_EQ(status_of(ErrorKind::not_found), Status::not_found);
  EXPECT_EQ(status_of(ErrorKind::conflict), Status::conflict);
  EXPECT_EQ(status_of(ErrorKind::timeout), Status::timeout);
  EXPECT_EQ(status_of(ErrorKind::unavailable), Status::internal);
}

TEST(ErrorBodyTest, OfSeveralDevicesTheLargestStatusIsTheAnswers) {
  NumberedErrors errors;
  EXPECT_TRUE(errors.empty());
  errors.add(10, Status::bad_request, "out of range");
  errors.add(2, Status::internal, "lost");
  errors.add(3, Status::forbidden, "not permitted");
  EXPECT_FALSE(errors.empty());
  EXPECT_EQ(errors.refusal().status, Status::internal);
  EXPECT_EQ(errors.refusal().body, R"({"errors":{"2":"lost","3":"not permitted","10":"out of range"}})");
  EXPECT_EQ(numbered_errors(errors.refusal().body)->at(10), "out of range");
}

TEST(ErrorBodyTest, ClientsPrintABodyInOneLine) {
  EXPECT_EQ(refusal_text(R"({"error":"no\nsuch GPU"})"), "no\\nsuch GPU");
  EXPECT_EQ(refusal_text(R"({"errors":{"0":"lost","1":"gone"}})"), "0: lost; 1: gone");
  EXPECT_EQ(refusal_text("Query deserialize error: missing field `block`"),
            "Query deserialize error: missing field `block`");
  EXPECT_EQ(refusal_text(""), "");
  EXPECT_EQ(refusal_text("\x1b[2J"), "\\x1b[2J");
  EXPECT_LE(refusal_text(std::string(100000, 'x')).size(), 500U);
  EXPECT_EQ(numbered_errors(R"({"errors":{"x":"lost"}})"), std::nullopt);
  EXPECT_EQ(numbered_errors(R"({"errors":{"0":7}})"), std::nullopt);
  EXPECT_EQ(numbered_errors(R"({"errors":[]})"), std::nullopt);
}

}  // namespace
}  // namespace zeus::protocol
