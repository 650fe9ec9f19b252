#include "cli/program.hpp"

#include "command_line/options.hpp"
#include "tests/support/golden.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

namespace zeus::cli {
namespace {

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

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

Outcome run(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  VirtualClock clock;
  const Environment environment;
  Context context{out, err, clock, environment};
  Commands commands;
  commands.push_back(std::make_unique<Obedient>());
  const int code = run_program("1.2.3", commands, arguments, context);
  return {code, out.str(), err.str()};
}

TEST(Program, PrintsItsVersion) {
  const Outcome outcome = run({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "zeus 1.2.3\n");
  EXPECT_EQ(outcome.err, "");
}

TEST(Program, HelpListsTheCommands) {
  const Outcome outcome = run({"--help"});
  EXPECT_EQ(outcome.code, 0);
  test::expect_golden("cli/program_help.txt", outcome.out);
}

TEST(Program, ItsNameAloneSaysWhatToDoFirst) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.code, exit_ok);
  EXPECT_EQ(outcome.err, "");
  test::expect_golden("cli/first_steps.txt", outcome.out);
}

TEST(Program, HelpOnACommandIsTheCommandsHelp) {
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  EXPECT_EQ(run({"help", "obey"}).out, run({"obey", "--help"}).out);
  EXPECT_EQ(run({"help", "obye"}).err,
            "zeus: there is no command 'obye'; did you mean `obey`? `zeus --help` lists what there is\n");
  EXPECT_EQ(run({"help", "obey", "well"}).code, exit_bad_usage);
}

TEST(Program, PassesTheCommandsExitCodeOn) {
  EXPECT_EQ(run({"obey", "seven"}).code, 7);
  EXPECT_EQ(run({"obey", "well"}).out, "well\n");
}

TEST(Program, BadUsageIsOneLineAndExitCodeTwo) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"disobey"}, {"--no-such-flag"}, {"obey"}, {"obey", "a", "b"}, {"obey", "misuse"}}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, exit_bad_usage);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
}

TEST(Program, AFailureIsOneLineThatSaysWhatToDo) {
  const Outcome outcome = run({"obey", "fail"});
  EXPECT_EQ(outcome.code, exit_failure);
  EXPECT_EQ(outcome.err, "zeus: the disk is full; free some space\n");
}

TEST(Program, AnUnforeseenExceptionIsReportedAsADefect) {
  const Outcome outcome = run({"obey", "break"});
  EXPECT_EQ(outcome.code, exit_failure);
  EXPECT_EQ(outcome.err, "zeus: unforeseen; this is a defect in zeus, please report it\n");
}

}  // namespace
}  // namespace zeus::cli
