#include "daemon/power_stream.hpp"

#include "tests/support/hand_loop.hpp"

#include <gmock/gmock.h>

namespace zeus::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct KeptStream final : transport::Stream {
  std::vector<std::string> pieces;
  bool has_gone = false;

  bool offer(const std::shared_ptr<const std::string>& piece) override {
    pieces.push_back(*piece);
    return true;
  }
  void end() override {}
  [[nodiscard]] bool is_over() const override { return has_gone; }
};

class PowerStreamTest : public ::testing::Test {
 protected:
  PowerStreamTest() {
    loop_.tick = [this](Instant now) { stream_.tick(now); };
  }

  std::shared_ptr<KeptStream> listener() {
    auto made = std::make_shared<KeptStream>();
    stream_.add(made);
    return made;
  }
  void read(std::function<void(PowerStream::Sample)> done) {
    ++reads_;
    if (it_hangs_) {
      late_ = std::move(done);
    } else {
      done(sample());
    }
  }
  [[nodiscard]] PowerStream::Sample sample() const {
    return {.is_known = is_known_, .value = power_, .event = is_known_ ? power_ : "not known"};
  }

  VirtualClock clock_{Instant{1'000'000'000'000}};
  test::HandLoop loop_{clock_};
  int reads_ = 0;
  bool it_hangs_ = false;
  bool is_known_ = true;
  std::string power_ = "200";
  std::function<void(PowerStream::Sample)> late_;
  PowerStream stream_{loop_, Seconds{0.1}, [this](auto done) { read(std::move(done)); }};
};

TEST_F(PowerStreamTest, SendsAFreshFirstSampleAndEveryChange) {
  const auto one = listener();
  EXPECT_THAT(one->pieces, ElementsAre("data: 200\n\n"));
  loop_.advance(Seconds{0.25});
  EXPECT_THAT(one->pieces, ::testing::SizeIs(1));
  power_ = "210";
  loop_.advance(Seconds{0.1});
  EXPECT_THAT(one->pieces, ElementsAre("data: 200\n\n", "data: 210\n\n"));
}

TEST_F(PowerStreamTest, ItIsReadOnceAPeriodHoweverManyListen) {
  std::vector<std::shared_ptr<KeptStream>> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(listener());
  }
  loop_.advance(Seconds{1.05});
  EXPECT_EQ(reads_, 11);
  EXPECT_EQ(stream_.listeners(), 100U);
}

TEST_F(PowerStreamTest, SendsConstantPowerEverySecond) {
  const auto one = listener();
  for (int i = 0; i < 5; ++i) {
    const std::size_t before = one->pieces.size();
    loop_.advance(Seconds{1});
    EXPECT_GT(one->pieces.size(), before);
  }
}

TEST_F(PowerStreamTest, ReadsNothingWithoutListenersAndStartsAgainWithOne) {
  const auto one = listener();
  loop_.advance(Seconds{0.35});
  one->has_gone = true;
  loop_.advance(Seconds{0.1});
  const int before = reads_;
  loop_.advance(Seconds{10});
  EXPECT_EQ(reads_, before);
  EXPECT_EQ(stream_.listeners(), 0U);
  const auto other = listener();
  EXPECT_EQ(reads_, before + 1);
  EXPECT_THAT(other->pieces, ElementsAre("data: 200\n\n"));
}

TEST_F(PowerStreamTest, AnUnknownPowerIsACommentUntilTheFirstSample) {
  is_known_ = false;
  const auto one = listener();
  EXPECT_THAT(one->pieces, ElementsAre(": not known\n\n"));
  is_known_ = true;
  loop_.advance(Seconds{0.1});
  EXPECT_THAT(one->pieces, ElementsAre(": not known\n\n", "data: 200\n\n"));
}

TEST_F(PowerStreamTest, AReadThatHangsIsNoSilence) {
  const auto one = listener();
  it_hangs_ = true;
  loop_.advance(Seconds{0.1});
  const auto late = listener();
  loop_.advance(Seconds{1.9});
  EXPECT_EQ(reads_, 2) << "one at a time";
  EXPECT_THAT(one->pieces, ElementsAre("data: 200\n\n", HasSubstr(": "), HasSubstr(": ")));
  EXPECT_THAT(late->pieces, ::testing::Not(IsEmpty()));
  it_hangs_ = false;
  std::exchange(late_, nullptr)(sample());
  EXPECT_EQ(one->pieces.back(), "data: 200\n\n");
  EXPECT_EQ(late->pieces.back(), "data: 200\n\n");
}

}  // namespace
}  // namespace zeus::daemon
