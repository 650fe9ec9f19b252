#include "base/line_program.hpp"

#include <gtest/gtest.h>

#include <string>

namespace zeus {
namespace {

using Talk = LineProgram::Outcome;

const Environment for_lines{{{"PATH", "/usr/bin:/bin"}}};
constexpr Seconds talk_patience{600};

TEST(LineProgram, IsTalkedWithLineByLine) {
  LineProgram program{"while read -r line; do echo \"got $line\"; done", for_lines};
  std::string line;
  for (const std::string said : {"one", "", "two words"}) {
    ASSERT_EQ(program.write(said, talk_patience), Talk::done);
    ASSERT_EQ(program.read(line, talk_patience), Talk::done);
    EXPECT_EQ(line, "got " + said);
  }
  EXPECT_FALSE(program.has_more());
}

TEST(LineProgram, ReadsWhatIsPrintedWhileItWrites) {
  // Both pipes would fill, and each side wait for the other.
  LineProgram program{"cat", for_lines};
  const std::string said(30'000, 'x');
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(program.write(said, talk_patience), Talk::done);
  }
  for (int i = 0; i < 4; ++i) {
    std::string line;
    ASSERT_EQ(program.read(line, talk_patience), Talk::done);
    EXPECT_EQ(line, said);
  }
}

TEST(LineProgram, SaysHowItsEndCame) {
  std::string line;
  LineProgram wrong{"echo bye; exit 3", for_lines};
  EXPECT_EQ(wrong.read(line, talk_patience), Talk::done);
  EXPECT_EQ(wrong.read(line, talk_patience), Talk::ended);
  EXPECT_EQ(wrong.why_ended(), "ended with exit code 3");
  EXPECT_EQ(wrong.why_ended(), "ended with exit code 3");
  EXPECT_EQ(wrong.write("still there?", talk_patience), Talk::ended);
  LineProgram killed{"kill -9 $$", for_lines};
  EXPECT_EQ(killed.read(line, talk_patience), Talk::ended);
  EXPECT_EQ(killed.why_ended(), "was ended by signal 9");
}

TEST(LineProgram, WaitsNoLongerThanItsPatienceInRealTime) {
  LineProgram program{"exec sleep 600", for_lines};
  std::string line;
  EXPECT_EQ(program.read(line, Seconds{0.05}), Talk::timed_out);
  // What it does not read fills its pipe.
  Talk outcome = Talk::done;
  for (int i = 0; i < 100 && outcome == Talk::done; ++i) {
    outcome = program.write(std::string(60'000, 'x'), Seconds{0.05});
  }
  EXPECT_EQ(outcome, Talk::timed_out);
}

TEST(LineProgram, RefusesALineWithoutEnd) {
  LineProgram program{"exec cat /dev/zero", for_lines};
  std::string line;
  EXPECT_EQ(program.read(line, talk_patience), Talk::too_long);
}

}  // namespace
}  // namespace zeus
