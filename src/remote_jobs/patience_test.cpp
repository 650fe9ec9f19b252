#include "remote_jobs/patience.hpp"
#include "tests/support/stepped_clock.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

namespace zeus::remote_jobs {
namespace {

class PatientlyAsked : public testing::Test {
 protected:
  // Of a server that fails so often with this error; nothing if the last failure came through.
  std::optional<int> ask(int failures, ErrorKind kind = ErrorKind::unavailable, bool in_a_hurry = false) {
    const std::function<bool()> hurry = [in_a_hurry] { return in_a_hurry; };
    asked_ = 0;
    try {
      return patiently(clock_, hurry, [&] {
        if (asked_++ < failures) {
          throw Error{kind, "it does not answer"};
        }
        return 7;
      });
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      return std::nullopt;
    }
  }

  test::SteppedClock clock_;
  int asked_ = 0;
};

TEST_F(PatientlyAsked, AServerThatComesBackWithinThreeSecondsAnswers) {
  const Instant began = clock_.now();
  EXPECT_EQ(ask(10), 7);
  EXPECT_NEAR((clock_.now() - began).value(), 2.0, 1e-9);
}

TEST_F(PatientlyAsked, AServerThatStaysAwayIsGivenUpAfterThreeSeconds) {
  const Instant began = clock_.now();
  EXPECT_EQ(ask(1000), std::nullopt);
  EXPECT_NEAR((clock_.now() - began).value(), 3.0, 0.2);
}

TEST_F(PatientlyAsked, ARefusalAndAUserWhoWantsToStopEndItAtOnce) {
  EXPECT_EQ(ask(1, ErrorKind::permission_denied), std::nullopt);
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(ask(1, ErrorKind::unavailable, true), std::nullopt);
  EXPECT_EQ(asked_, 1);
}

}  // namespace
}  // namespace zeus::remote_jobs
