#include "backends/commands/override_plan.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <utility>

namespace zeus::backends::commands {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Filled = std::vector<std::string>;

PlaceValues numbered() {
  return {2, 150'500, 150, 210, 1410, 1};
}

std::string why_not(std::string_view text) {
  try {
    (void)overrides_from_toml(text, "o.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    return error.what();
  }
  return "it is taken";
}

TEST(OverridePlan, HasWhatTheFileSays) {
  const OverridePlan plan = overrides_from_toml(R"(
[set_power_limit]
commands = ["smi -i {gpu_id} -pl {power_limit_w}", 'note "GPU {gpu_id}: {power_limit_mw} mW" x{gpu_id}{gpu_id}y']
error_pattern = "(?i)not supported"
timeout_s = 5

[set_gpu_locked_clocks]
commands = ["smi -lgc {min_clock_mhz},{max_clock_mhz}"]
[set_persistence_mode]
commands = ["smi -pm {enabled}"]
)",
                                                "o.toml");
  EXPECT_FALSE(plan.empty());
  const Override* const limit = plan.find(Operation::set_power_limit);
  ASSERT_NE(limit, nullptr);
  ASSERT_EQ(limit->commands.size(), 2U);
  EXPECT_EQ(limit->commands[0].fill(numbered()), (Filled{"smi", "-i", "2", "-pl", "150"}));
  EXPECT_EQ(limit->commands[1].fill(numbered()), (Filled{"note", "GPU 2: 150500 mW", "x22y"}));
  EXPECT_EQ(limit->patience, Seconds{5});
  EXPECT_EQ(limit->longest(), Seconds{12});
  EXPECT_TRUE(limit->error_pattern->is_in("sorry: Not Supported\n"));
  EXPECT_FALSE(limit->error_pattern->is_in("all is well\n"));
  const Override* const clocks = plan.find(Operation::set_gpu_locked_clocks);
  ASSERT_NE(clocks, nullptr);
  EXPECT_EQ(clocks->commands[0].fill(numbered()), (Filled{"smi", "-lgc", "210,1410"}));
  EXPECT_EQ(clocks->patience, Seconds{60});
  EXPECT_FALSE(clocks->error_pattern.has_value());
  EXPECT_EQ(plan.find(Operation::set_persistence_mode)->commands[0].fill(numbered()), (Filled{"smi", "-pm", "1"}));
  EXPECT_EQ(plan.find(Operation::reset_locked_clocks), nullptr);
}

TEST(OverridePlan, EachOperationHasATableOfItsOwn) {
  std::string text;
  for (const std::string_view name : operation_names) {
    text += "[" + std::string{name} + "]\ncommands = [\"" + std::string{name} + " {gpu_id}\"]\n";
  }
  const OverridePlan plan = overrides_from_toml(text, "o.toml");
  for (std::size_t i = 0; i < operation_count; ++i) {
    const auto operation = static_cast<Operation>(i);
    EXPECT_EQ(plan.find(operation)->commands[0].fill(numbered()), (Filled{std::string{to_string(operation)}, "2"}));
  }
}

TEST(OverridePlan, AnEmptyFileChangesNothing) {
  EXPECT_TRUE(overrides_from_toml("# nothing yet\n", "o.toml").empty());
}

TEST(OverridePlan, RefusesErrorsWithTheirPlace) {
  const std::string begin = "[set_power_limit]\n";
  const std::vector<std::pair<std::string, std::string>> refused{
      {"[set_power_limits]\ncommands = ['a']\n", "o.toml:1:2: there is no key 'set_power_limits'; did you mean"},
      {begin + "command = ['a']\n", "o.toml:2:1: there is no key 'command'; did you mean 'commands'?"},
      {begin + "commands = ['a']\nshell = true\n", "o.toml:3:1: there is no key 'shell'"},
      {begin, "o.toml:1:1: the key 'commands' is missing"},
      {"set_power_limit = 'smi'\n", "o.toml:1:19: 'set_power_limit' is \"smi\", but must be a table"},
      {begin + "commands = 'a'\n", "o.toml:2:12: 'commands' is \"a\", but must be a list"},
      {begin + "commands = []\n", "o.toml:2:12: 'commands' is an empty list"},
      {begin + "commands = ['a',\n 3]\n", "o.toml:3:2: 'commands' is 3, but must be a string"},
      {begin + "commands = ['a', '  ']\n", "o.toml:2:18: this command has no program"},
      {begin + "commands = ['\"\" a']\n", "o.toml:2:13: this command has no program"},
      {begin + "commands = ['a \"b']\n",
       "o.toml:2:13: this command cannot be split into words: a double quote is not closed"},
      {begin + "commands = ['a']\ntimeout_s = 0\n", "o.toml:3:13: 'timeout_s' is 0, but must be a whole number from 1"},
      {begin + "commands = ['a']\ntimeout_s = -1\n", "o.toml:3:13: 'timeout_s' is -1"},
      {begin + "commands = ['a']\ntimeout_s = 1.5\n", "o.toml:3:13: 'timeout_s' is 1.5"},
      {begin + "commands = ['a']\nerror_pattern = '('\n", "o.toml:3:17: 'error_pattern' is not a regular expression"},
      {begin + "commands = ['a']\nerror_pattern = 1\n", "o.toml:3:17: 'error_pattern' is 1, but must be a string"},
      {begin + "commands = ['a']\n" + begin + "commands = ['b']\n", "o.toml:3:"},
      {begin + "commands = ['a'\n[", "o.toml:3:"},
  };
  for (const auto& [text, why] : refused) {
    EXPECT_THAT(why_not(text), StartsWith(why)) << text;
  }
}

TEST(OverridePlan, BracesAreForPlacesOfTheOperation) {
  const auto with = [](const std::string& table, const std::string& word) {
    return why_not("[" + table + "]\ncommands = ['a " + word + "']\n");
  };
  EXPECT_EQ(with("set_power_limit", "{enabled}"),
            "o.toml:2:13: there is no '{enabled}' here; set_power_limit takes {gpu_id}, {power_limit_mw}, "
            "{power_limit_w} and no other braces");
  EXPECT_THAT(with("reset_locked_clocks", "{power_limit_w}"), HasSubstr("there is no '{power_limit_w}' here"));
  EXPECT_THAT(with("set_persistence_mode", "{min_clock_mhz}"), HasSubstr("there is no"));
  for (const char* const word : {"{", "}", "{}", "{{gpu_id}}", "{gpu_id", "gpu_id}", "{gpu_id}}", "{ gpu_id }",
                                 "{x{gpu_id}}", "\"{gpu_id\"", "{GPU_ID}"}) {
    EXPECT_THAT(with("set_power_limit", word), StartsWith("o.toml:2:13: ")) << word;
  }
}

TEST(OverridePlan, APlaceMayBeInAnyWordAlsoTheFirst) {
  const OverridePlan plan =
      overrides_from_toml("[reset_locked_clocks]\ncommands = ['/opt/card{gpu_id}/reset']\n", "o.toml");
  EXPECT_EQ(plan.find(Operation::reset_locked_clocks)->commands[0].fill(numbered()), Filled{"/opt/card2/reset"});
}

class OverrideFileOf : public testing::Test {
 protected:
  OverrideFileOf() {
    ::chmod(folder_.path().c_str(), 0755);
    std::ofstream{file_} << "[reset_locked_clocks]\ncommands = ['true']\n";
    ::chmod(file_.c_str(), 0644);
  }

  std::string why_not() {
    try {
      (void)load_overrides(file_, ::geteuid());
    } catch (const Error& error) {
      return error.what();
    }
    return "it is taken";
  }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "overrides.toml";
};

TEST_F(OverrideFileOf, OnesOwnIsTaken) {
  EXPECT_FALSE(load_overrides(file_, ::geteuid()).empty());
}

TEST_F(OverrideFileOf, RefusesAFileThatOthersMayWriteWithAdvice) {
  for (const mode_t mode : {0664U, 0646U}) {
    ::chmod(file_.c_str(), mode);
    EXPECT_THAT(why_not(), HasSubstr("other users may write to it; its commands run as user"));
  }
  ::chmod(file_.c_str(), 0644);
  ::chmod(folder_.path().c_str(), 0777);
  EXPECT_THAT(why_not(), HasSubstr("of its folder: other users may write to it"));
}

TEST_F(OverrideFileOf, ALinkIsNotFollowed) {
  std::filesystem::rename(file_, folder_.path() / "other");
  std::filesystem::create_symlink("other", file_);
  EXPECT_THAT(why_not(), HasSubstr("it is a link"));
}

TEST_F(OverrideFileOf, ReportsAMissingFile) {
  std::filesystem::remove(file_);
  EXPECT_THAT(why_not(), StartsWith("there is no file "));
}

TEST_F(OverrideFileOf, ReportsAnErrorWithTheFilesNameAndPlace) {
  std::ofstream{file_} << "[reset]\n";
  EXPECT_THAT(why_not(), StartsWith(file_.string() + ":1:2: there is no key 'reset'"));
}

}  // namespace
}  // namespace zeus::backends::commands
