#include "command_line/program.hpp"

#include "command_line/completions.hpp"
#include "command_line/options.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <stdexcept>

namespace zeus::command_line {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Context {
  std::ostream& out;
  std::ostream& err;
};

// Ends as its one argument tells it to.
class Obedient final : public CommandWith<Context> {
 public:
  [[nodiscard]] std::string name() const override { return "obey"; }
  [[nodiscard]] std::string summary() const override { return "Does what it is told"; }
  void declare(Options& options) override { options.add_option("WHAT", what_, "What to do").required(); }
  [[nodiscard]] int failure_code() const override { return 9; }
  int run(Context& context) override {
    if (what_ == "fail") {
      throw Error{ErrorKind::unavailable, "the disk is full", "free some space"};
    }
    if (what_ == "break") {
      throw std::runtime_error{"unforeseen"};
    }
    context.out << what_ << '\n';
    return 7;
  }

 private:
  std::string what_;
};

class ProgramOfAnyName : public testing::Test {
 protected:
  ProgramOfAnyName() {
    commands_.push_back(std::make_unique<Obedient>());
    syntax_.name = "keeper";
    syntax_.path = syntax_.name;
    syntax_.summary = "Keeps things.";
    syntax_.more = "docs/keeper.md says more.";
    Options{syntax_}.add_commands(commands_, chosen_);
  }

  int run(const std::vector<std::string>& arguments) {
    out_.str({});
    err_.str({});
    Context context{out_, err_};
    return run_program(syntax_, "1.2", arguments, chosen_, context);
  }

  CommandsWith<Context> commands_;
  CommandWith<Context>* chosen_ = nullptr;
  CommandSyntax syntax_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ProgramOfAnyName, RunsTheCommandThatIsNamed) {
  EXPECT_EQ(run({"obey", "well"}), 7);
  EXPECT_EQ(out_.str(), "well\n");
}

TEST_F(ProgramOfAnyName, SpeaksUnderItsOwnName) {
  EXPECT_EQ(run({"--version"}), exit_ok);
  EXPECT_EQ(out_.str(), "keeper 1.2\n");
  EXPECT_EQ(run({"obye"}), exit_bad_usage);
  EXPECT_EQ(err_.str(),
            "keeper: there is no command 'obye'; did you mean `obey`? `keeper --help` lists what there is\n");
  EXPECT_EQ(run({"obey", "fail"}), 9);
  EXPECT_EQ(err_.str(), "keeper: the disk is full; free some space\n");
  EXPECT_EQ(run({"obey", "break"}), 9);
  EXPECT_EQ(err_.str(), "keeper: unforeseen; this is a defect in keeper, please report it\n");
}

TEST_F(ProgramOfAnyName, HelpEndsWithWhereMoreIs) {
  EXPECT_EQ(run({"help", "obey"}), exit_ok);
  EXPECT_THAT(out_.str(), HasSubstr("keeper obey [OPTIONS] WHAT"));
  EXPECT_THAT(out_.str(), HasSubstr("\ndocs/keeper.md says more.\n"));
}

TEST_F(ProgramOfAnyName, CompletionsAreItsOwn) {
  for (const std::string& shell : shells_with_completions()) {
    const std::string script = completions(syntax_, shell);
    EXPECT_THAT(script, HasSubstr("made by `keeper completions " + shell + "`")) << shell;
    EXPECT_THAT(script, Not(HasSubstr("zeus"))) << shell;
  }
}

}  // namespace
}  // namespace zeus::command_line
