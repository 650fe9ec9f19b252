#include "cli/working_line.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <ostream>
#include <streambuf>
#include <string>
#include <thread>

namespace zeus::cli {
namespace {

// Collects what was written. The clock wakes the drawing thread; tests wait here until it has written so far.
class Written : public std::streambuf {
 public:
  [[nodiscard]] std::string text() {
    const std::lock_guard lock{mutex_};
    return text_;
  }
  [[nodiscard]] bool comes_to(const std::string& ending) {
    for (int looks = 0; looks < 10'000; ++looks) {
      if (text().ends_with(ending)) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return false;
  }

 private:
  std::streamsize xsputn(const char* text, std::streamsize length) override {
    const std::lock_guard lock{mutex_};
    text_.append(text, static_cast<std::size_t>(length));
    return length;
  }
  int_type overflow(int_type character) override {
    const std::lock_guard lock{mutex_};
    text_ += traits_type::to_char_type(character);
    return character;
  }

  std::mutex mutex_;
  std::string text_;
};

class WorkingLineTest : public testing::Test {
 protected:
  void begin(bool live = true) {
    line_.emplace(screen_, clock_, live, [this] { return columns_; });
  }

  Written written_;
  std::ostream screen_{&written_};
  VirtualClock clock_;
  std::size_t columns_ = 79;
  std::optional<WorkingLine> line_;
};

TEST_F(WorkingLineTest, WritesNothingIfTheWorkEndsWithinTwoSeconds) {
  begin();
  line_->show("counting");
  clock_.advance(Seconds{1.99});
  line_->show("counting on");
  line_.reset();
  EXPECT_EQ(written_.text(), "");
}

TEST_F(WorkingLineTest, ShowsTheWorkAndItsTimeAfterTwoSeconds) {
  begin();
  line_->show("counting");
  clock_.advance(Seconds{2});
  EXPECT_TRUE(written_.comes_to("\r\033[Kcounting (2 s)")) << written_.text();
  clock_.advance(Seconds{1});
  EXPECT_TRUE(written_.comes_to("\r\033[Kcounting (3 s)")) << written_.text();
  clock_.advance(Seconds{0.5});
  line_->show("adding up");
  EXPECT_TRUE(written_.comes_to("\r\033[Kadding up (4 s)")) << written_.text();
}

TEST_F(WorkingLineTest, IsErasedInTheEndAndBeforeALineThatStays) {
  begin();
  line_->show("counting");
  clock_.advance(Seconds{5});
  ASSERT_TRUE(written_.comes_to("counting (5 s)"));
  line_->print("one is counted");
  EXPECT_TRUE(written_.comes_to("counting (5 s)\r\033[Kone is counted\n")) << written_.text();
  clock_.advance(Seconds{1});
  ASSERT_TRUE(written_.comes_to("one is counted\n\r\033[Kcounting (6 s)"));
  line_.reset();
  EXPECT_TRUE(written_.text().ends_with("counting (6 s)\r\033[K"));
}

TEST_F(WorkingLineTest, WithoutATerminalOnlyPermanentLinesAreWritten) {
  begin(false);
  line_->show("counting");
  clock_.advance(Seconds{60});
  line_->show("adding up");
  line_->print("one is counted");
  line_.reset();
  EXPECT_EQ(written_.text(), "one is counted\n");
}

TEST_F(WorkingLineTest, IsCutToTheTerminal) {
  columns_ = 6;
  begin();
  line_->show("counting");
  clock_.advance(Seconds{2});
  EXPECT_TRUE(written_.comes_to("\r\033[Kcounti")) << written_.text();
}

}  // namespace
}  // namespace zeus::cli
