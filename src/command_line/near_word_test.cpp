#include "command_line/near_word.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zeus::command_line {
namespace {

const std::vector<std::string> flags = {"--interval", "--duration", "--csv", "--json", "--batch-sizes", "--gpus"};

TEST(NearWord, FindsWhatWasMistyped) {
  EXPECT_EQ(near_word("--intervall", flags), "--interval");
  EXPECT_EQ(near_word("--duraiton", flags), "--duration");
  EXPECT_EQ(near_word("--batch_sizes", flags), "--batch-sizes");
  EXPECT_EQ(near_word("--batchsize", flags), "--batch-sizes");
  EXPECT_EQ(near_word("--gpu", flags), "--gpus");
  EXPECT_EQ(near_word("mesure", std::vector<std::string>{"monitor", "measure"}), "measure");
}

TEST(NearWord, FindsWhatWasOnlyBegun) {
  EXPECT_EQ(near_word("exp", std::vector<std::string>{"import", "export"}), "export");
}

TEST(NearWord, GuessesNothingWhereNothingIsNear) {
  EXPECT_EQ(near_word("--learning-rate", flags), std::nullopt);
  EXPECT_EQ(near_word("x", std::vector<std::string>{"run", "jobs"}), std::nullopt);
  EXPECT_EQ(near_word("", flags), std::nullopt);
  EXPECT_EQ(near_word(std::string(100'000, '-'), flags), std::nullopt);
}

}  // namespace
}  // namespace zeus::command_line
