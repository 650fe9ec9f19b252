#include "words.hpp"

#include "draws.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace small_network {
namespace {

// Each text has four words of 40, of which the first 20 are said in a good mood.
std::vector<Tweet> moods(std::size_t count, std::uint64_t seed) {
  Draws draws{seed, 7};
  std::vector<Tweet> tweets;
  for (std::size_t i = 0; i < count; ++i) {
    const bool good = draws.below(2) == 1;
    std::string text;
    for (int word = 0; word < 4; ++word) {
      text += "word" + std::to_string(draws.below(20) + (good ? 0 : 20)) + " ";
    }
    tweets.push_back({.words = words_of(text), .good = good});
  }
  return tweets;
}

TEST(Words, AreWhatStandsBetweenSpaces) {
  EXPECT_EQ(words_of("").size(), 0U);
  EXPECT_EQ(words_of("  one  two ").size(), 2U);
  EXPECT_EQ(words_of("one two"), words_of(" one two "));
  EXPECT_NE(words_of("one")[0], words_of("two")[0]);
}

TEST(WordTraining, LearnsWhichWordsGoWithAMood) {
  const std::vector<Tweet> tweets = moods(2000, 1);
  const std::vector<Tweet> others = moods(1000, 2);
  WordTraining training{tweets, {.batch_size = 50, .learning_rate = 4.0}};
  EXPECT_LT(training.accuracy(others), 0.9);
  for (int epoch = 0; epoch < 5; ++epoch) {
    training.epoch();
  }
  EXPECT_GT(training.accuracy(others), 0.97);
}

TEST(WordTraining, LearnsNothingWhereThereIsNothingToLearn) {
  std::vector<Tweet> tweets = moods(2000, 1);
  Draws draws{3, 1};
  for (Tweet& text : tweets) {
    text.good = draws.below(2) == 1;
  }
  WordTraining training{tweets, {.batch_size = 50, .learning_rate = 4.0}};
  for (int epoch = 0; epoch < 5; ++epoch) {
    training.epoch();
  }
  EXPECT_NEAR(training.accuracy(moods(1000, 2)), 0.5, 0.35);
}

TEST(WordTraining, IsAFunctionOfItsSeedAndTakesAsManyStepsAsTheBatchSizeSays) {
  const std::vector<Tweet> tweets = moods(101, 1);
  const auto learned = [&](std::uint64_t seed) {
    WordTraining training{tweets, {.batch_size = 10, .learning_rate = 1.0, .seed = seed}};
    EXPECT_EQ(training.steps_per_epoch(), 11U);
    for (int step = 0; step < 11; ++step) {
      training.step();
    }
    return training.accuracy(tweets);
  };
  EXPECT_EQ(learned(1), learned(1));
  WordTraining whole{tweets, {.batch_size = 10, .learning_rate = 1.0, .seed = 1}};
  whole.epoch();
  EXPECT_EQ(whole.accuracy(tweets), learned(1));
  EXPECT_EQ((WordTraining{tweets, {.batch_size = 0}}.steps_per_epoch()), 101U);
  EXPECT_EQ((WordTraining{tweets, {.batch_size = 1000}}.steps_per_epoch()), 1U);
}

}  // namespace
}  // namespace small_network
