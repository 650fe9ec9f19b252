#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace zeus {
namespace {

TEST(Error, SaysWhatHappenedAndWhatToDoOnOneLine) {
  const Error error{ErrorKind::not_found, "there is no GPU 7", "choose one of 0, 1"};
  EXPECT_STREQ(error.what(), "there is no GPU 7; choose one of 0, 1");
  EXPECT_EQ(error.kind(), ErrorKind::not_found);
  EXPECT_EQ(error.message(), "there is no GPU 7");
  EXPECT_EQ(error.advice(), "choose one of 0, 1");
  EXPECT_FALSE(error.cause());
}

TEST(Error, RemembersTheExceptionBeingHandledAsItsCause) {
  try {
    try {
      throw std::runtime_error{"disk on fire"};
    } catch (...) {
      throw Error{ErrorKind::unavailable, "cannot save the profile", "check the disk"};
    }
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot save the profile (because: disk on fire); check the disk");
    EXPECT_THROW(std::rethrow_exception(error.cause()), std::runtime_error);
  }
}

TEST(Error, DoesNotRepeatACauseThatItsMessageQuotes) {
  try {
    try {
      throw Error{ErrorKind::invalid_argument, "'0.31' is not the price of a kWh", "write 0.31EUR"};
    } catch (const Error& cause) {
      throw Error{cause.kind(), "job.toml: " + cause.message(), "docs/cli.md has the forms"};
    }
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "job.toml: '0.31' is not the price of a kWh; docs/cli.md has the forms");
    EXPECT_TRUE(error.cause());
  }
}

TEST(Error, IsOneLineWhateverItQuotes) {
  EXPECT_STREQ((Error{ErrorKind::not_found, "there is no job 'a\nb\x1b[2J'"}).what(),
               "there is no job 'a\\nb\\x1b[2J'");
  const Error error{ErrorKind::not_found, "there is no file " + std::string(100'000, 'a'), "check the path"};
  const std::string line = error.what();
  EXPECT_LT(line.size(), 450U);
  EXPECT_TRUE(line.starts_with("there is no file aaa"));
  EXPECT_TRUE(line.ends_with("aaa; check the path"));
  EXPECT_GT(error.message().size(), 100'000U);
}

TEST(Error, EveryKindHasItsOwnName) {
  const std::string internal{to_string(ErrorKind::internal)};
  for (int kind = 0; kind < static_cast<int>(ErrorKind::internal); ++kind) {
    EXPECT_NE(to_string(static_cast<ErrorKind>(kind)), internal);
    EXPECT_NE(to_string(static_cast<ErrorKind>(kind)), "unknown");
  }
}

}  // namespace
}  // namespace zeus
