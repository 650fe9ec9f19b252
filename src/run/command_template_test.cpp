#include "run/command_template.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::run {
namespace {

using Words = std::vector<std::string>;

const TryValues full{.batch_size = 32, .learning_rate = 0.05, .seed = 7, .epochs = 10, .target_metric = 0.65};

TEST(CommandTemplate, FillsEachPlaceWhereverItStands) {
  const CommandTemplate command{
      {"train", "--batch={batch_size}", "{learning_rate}", "{seed}-{epochs}", "{target_metric}"}};
  EXPECT_EQ(command.fill(full), (Words{"train", "--batch=32", "0.05", "7-10", "0.65"}));
}

TEST(CommandTemplate, LeavesOtherBracesAlone) {
  const Words words{"sh", "-c", R"(echo ${HOME} {} {a,b} {"lr": 1} { batch_size } {batch_size {epoch} }{)"};
  EXPECT_EQ(CommandTemplate{words}.fill(full), words);
}

TEST(CommandTemplate, FillsAPlaceWithinBraces) {
  EXPECT_EQ(CommandTemplate{{R"({"batch":{batch_size}})"}}.fill(full), (Words{R"({"batch":32})"}));
  EXPECT_EQ(CommandTemplate{{"{{batch_size}}"}}.fill(full), (Words{"{32}"}));
}

TEST(CommandTemplate, DoesNotFillInItsOwnValues) {
  EXPECT_EQ(CommandTemplate{{"{{seed}atch_size}"}}.fill(full), (Words{"{7atch_size}"}));
}

TEST(CommandTemplate, NamesTheFlagForAMissingValue) {
  try {
    (void)CommandTemplate{{"train", "{learning_rate}"}}.fill({.seed = 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_STREQ(error.what(),
                 "the command asks for {learning_rate}, which this job does not have; give --learning-rate");
  }
}

TEST(CommandTemplate, KnowsWhatItAsksFor) {
  const CommandTemplate command{{"train", "-b{batch_size}"}};
  EXPECT_TRUE(command.asks_for("batch_size"));
  EXPECT_FALSE(command.asks_for("seed"));
}

TEST(CommandTemplate, RefusesNoCommand) {
  EXPECT_THROW(CommandTemplate{{}}, Error);
  EXPECT_THROW(CommandTemplate{{""}}, Error);
}

TEST(CommandTemplate, PutsItsValuesIntoTheEnvironment) {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(environment_of(full), (Variables{{"ZEUS_BATCH_SIZE", "32"},
                                             {"ZEUS_LEARNING_RATE", "0.05"},
                                             {"ZEUS_SEED", "7"},
                                             {"ZEUS_EPOCHS", "10"},
                                             {"ZEUS_TARGET_METRIC", "0.65"},
                                             {"ZEUS_HIGHER_IS_BETTER", "true"}}));
  EXPECT_EQ(environment_of({.seed = 3}), (Variables{{"ZEUS_SEED", "3"}}));
}

}  // namespace
}  // namespace zeus::run
