#include "run/line_splitter.hpp"

#include <gtest/gtest.h>

namespace zeus::run {
namespace {

using Lines = std::vector<std::string>;

Lines split(const std::vector<std::string>& pieces) {
  Lines lines;
  const auto sink = [&](std::string_view line) { lines.emplace_back(line); };
  LineSplitter splitter;
  for (const std::string& piece : pieces) {
    splitter.feed(piece, sink);
  }
  splitter.finish(sink);
  return lines;
}

TEST(LineSplitter, EndsLinesAtFeedsAndReturns) {
  EXPECT_EQ(split({"one\ntwo\r\nthree\rfour"}), (Lines{"one", "two", "three", "four"}));
}

TEST(LineSplitter, DoesNotCareHowTheBytesCome) {
  const std::string text = "epoch 1\r\n\x1b[32macc\x1b[0m 0.5\n\x1b]0;title\a 45%|#\r last";
  const Lines expected{"epoch 1", "acc 0.5", " 45%|#", " last"};
  EXPECT_EQ(split({text}), expected);
  std::vector<std::string> bytes;
  for (const char byte : text) {
    bytes.emplace_back(1, byte);
  }
  EXPECT_EQ(split(bytes), expected);
}

TEST(LineSplitter, LeavesEscapeSequencesOut) {
  EXPECT_EQ(split({"\x1b[1;31mred\x1b[0m\x1b[K\x1b[2A!\n"}), (Lines{"red!"}));
  EXPECT_EQ(split({"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n"}), (Lines{"link"}));
}

TEST(LineSplitter, DoesNotLoseTheNextLineToABrokenEscape) {
  EXPECT_EQ(split({"\x1b[12\nnext\n\x1b]title without end\nlast\n"}), (Lines{"next", "last"}));
}

TEST(LineSplitter, KeepsTheBeginningOfALineWithoutEnd) {
  LineSplitter splitter;
  Lines lines;
  const auto sink = [&](std::string_view line) { lines.emplace_back(line); };
  const std::string megabyte(1 << 20, 'x');
  for (int i = 0; i < 8; ++i) {
    splitter.feed(megabyte, sink);
  }
  EXPECT_TRUE(lines.empty());
  EXPECT_TRUE(splitter.has_cut());
  splitter.feed("\nafter\n", sink);
  EXPECT_EQ(lines, (Lines{std::string(LineSplitter::longest_line, 'x'), "after"}));
}

}  // namespace
}  // namespace zeus::run
