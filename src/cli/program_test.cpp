#include "cli/program.hpp"

#include "command_line/options.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/program_run.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace zeus::cli {
namespace {

using test::ProgramRun;

// A command that does what its one argument says.
class Obedient final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "obey"; }
  [[nodiscard]] std::string summary() const override { return "Does what it is told"; }
  void declare(Options& options) override { options.add_option("what", what_, "What to do").required(); }
  int run(Context& context) override {
    if (what_ == "misuse") {
      throw Error{ErrorKind::invalid_argument, "that makes no sense", "ask for something else"};
    }
    if (what_ == "combine") {
      throw BadUsage{"these do not go together", "leave one out"};
    }
    if (what_ == "fail") {
      throw Error{ErrorKind::unavailable, "the disk is full", "free some space"};
    }
    if (what_ == "break") {
      throw std::runtime_error{"unforeseen"};
    }
    context.out << what_ << '\n';
    return what_ == "seven" ? 7 : exit_ok;
  }

 private:
  std::string what_;
};

ProgramRun run_obedient(const std::vector<std::string>& arguments) {
  Commands commands;
  commands.push_back(std::make_unique<Obedient>());
  return test::run_program(commands, arguments);
}

TEST(Program, PrintsItsVersion) {
  const ProgramRun outcome = run_obedient({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "zeus 1.2.3\n");
  EXPECT_EQ(outcome.err, "");
}

TEST(Program, HelpListsTheCommands) {
  const ProgramRun outcome = run_obedient({"--help"});
  EXPECT_EQ(outcome.code, 0);
  test::expect_golden("cli/program_help.txt", outcome.out);
}

TEST(Program, ItsNameAloneSaysWhatToDoFirst) {
  const ProgramRun outcome = run_obedient({});
  EXPECT_EQ(outcome.code, exit_ok);
  EXPECT_EQ(outcome.err, "");
  test::expect_golden("cli/first_steps.txt", outcome.out);
}

TEST(Program, HelpOnACommandIsTheCommandsHelp) {
  EXPECT_EQ(run_obedient({"help"}).out, run_obedient({"--help"}).out);
  EXPECT_EQ(run_obedient({"help", "obey"}).out, run_obedient({"obey", "--help"}).out);
  EXPECT_EQ(run_obedient({"help", "obye"}).err,
            "zeus: there is no command 'obye'; did you mean `obey`? `zeus --help` lists what there is\n");
  EXPECT_EQ(run_obedient({"help", "obey", "well"}).code, exit_bad_usage);
}

TEST(Program, PassesTheCommandsExitCodeOn) {
  EXPECT_EQ(run_obedient({"obey", "seven"}).code, 7);
  EXPECT_EQ(run_obedient({"obey", "well"}).out, "well\n");
}

TEST(Program, BadUsageIsOneLineAndExitCodeTwo) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"disobey"}, {"--no-such-flag"}, {"obey"}, {"obey", "a", "b"}, {"obey", "misuse"}}) {
    const ProgramRun outcome = run_obedient(arguments);
    EXPECT_EQ(outcome.code, exit_bad_usage);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
}

TEST(Program, ACombinationThatTheCommandRefusesNamesItsHelp) {
  const ProgramRun outcome = run_obedient({"obey", "combine"});
  EXPECT_EQ(outcome.code, exit_bad_usage);
  EXPECT_EQ(outcome.err, "zeus: these do not go together; leave one out; `zeus obey --help` has more\n");
}

TEST(Program, AFailureIsOneLineThatSaysWhatToDo) {
  const ProgramRun outcome = run_obedient({"obey", "fail"});
  EXPECT_EQ(outcome.code, exit_failure);
  EXPECT_EQ(outcome.err, "zeus: the disk is full; free some space\n");
}

TEST(Program, AnUnforeseenExceptionIsReportedAsADefect) {
  const ProgramRun outcome = run_obedient({"obey", "break"});
  EXPECT_EQ(outcome.code, exit_failure);
  EXPECT_EQ(outcome.err, "zeus: unforeseen; this is a defect in zeus, please report it\n");
}

}  // namespace
}  // namespace zeus::cli
