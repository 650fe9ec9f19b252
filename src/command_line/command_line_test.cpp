#include "command_line/command_line.hpp"

#include "command_line/options.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::command_line {
namespace {

using Words = std::vector<std::string>;

// What was read by a command with one option of each kind.
struct Read {
  std::vector<int> gpus;
  std::optional<double> share;
  std::optional<std::string> file;
  std::vector<Seconds> times;
  bool json = false;
  std::string page;
  std::string way;
  std::string observed;
  std::optional<int> pair;
  std::optional<int> other;
  std::string name;
  Words command;
};

struct Nothing {};

class Example final : public CommandWith<Nothing> {
 public:
  explicit Example(Read& read) : read_{&read} {}
  [[nodiscard]] std::string name() const override { return "example"; }
  [[nodiscard]] std::string summary() const override { return "Has one of each sort"; }
  void declare(Options& options) override {
    options.add_option("NAME", read_->name, "A name").required();
    options.add_option("CMD", read_->command, "A command");
    options.add_option("--gpus", read_->gpus, "GPUs").delimiter(',').rule(field::from_zero);
    options.add_option("--share", read_->share, "A share").rule(field::share);
    options.add_option("--file", read_->file, "A file").path();
    options.add_option("--html", read_->page, "A page").also("--report").path();
    options.add_option("--at", read_->times, "Times");
    options.add_flag("--json", read_->json, "JSON");
    options.add_option("--way", read_->way, "A way").among({"linear", "sqrt"});
    options.add_flag("--observe", read_->observed, "limits", "Observe").among({"limits", "passive"});
    Option pair = options.add_option("--pair", read_->pair, "One of two");
    Option other = options.add_option("--other", read_->other, "The other");
    pair.goes_with(other);
  }
  int run(Nothing& /*context*/) override { return exit_ok; }

 private:
  Read* read_;
};

class CommandLine : public testing::Test {
 protected:
  Read read(const Words& words) {
    read_ = {};
    CommandsWith<Nothing> commands;
    commands.push_back(std::make_unique<Example>(read_));
    CommandWith<Nothing>* chosen = nullptr;
    CommandSyntax program;
    program.name = "zeus";
    program.path = program.name;
    Options{program}.add_commands(commands, chosen);
    asked_ = read_command_line(program, words).what;
    return read_;
  }

  std::string why_not(Words words) {
    words.insert(words.begin(), "example");
    try {
      (void)read(words);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
      return error.what();
    }
    return "it is taken";
  }

  Asked::For asked_ = Asked::For::run;

 private:
  Read read_;
};

TEST_F(CommandLine, IsReadAsPeopleWriteIt) {
  const Read one = read({"example", "nightly", "--gpus", "0,3", "--share=0.5", "--json", "--at", "1s", "200ms"});
  EXPECT_EQ(one.name, "nightly");
  EXPECT_EQ(one.gpus, (std::vector{0, 3}));
  EXPECT_EQ(one.share, 0.5);
  EXPECT_TRUE(one.json);
  EXPECT_EQ(one.times, (std::vector{Seconds{1}, Seconds{0.2}}));
  const Read two = read({"example", "--at=1", "--at", "2", "--gpus", "1", "2", "--json=false", "--observe", "n"});
  EXPECT_EQ(two.times, (std::vector{Seconds{1}, Seconds{2}}));
  EXPECT_EQ(two.gpus, (std::vector{1, 2}));
  EXPECT_FALSE(two.json);
  EXPECT_EQ(two.observed, "limits");
  EXPECT_EQ(read({"example", "n", "--observe=passive"}).observed, "passive");
}

TEST_F(CommandLine, AnOptionOfTwoNamesIsOneOptionAndAnswersUnderTheNameThatWasUsed) {
  EXPECT_EQ(read({"example", "n", "--html", "page"}).page, "page");
  EXPECT_EQ(read({"example", "n", "--report=page"}).page, "page");
  const std::string more = "; `zeus example --help` lists what there is";
  EXPECT_EQ(why_not({"n", "--html", "a", "--report", "b"}), "--report is given twice; give it once" + more);
  EXPECT_EQ(why_not({"n", "--report", ""}), "--report is empty; give a value, or leave it out" + more);
  EXPECT_EQ(why_not({"n", "--report"}), "--report has no value; write --report FILE" + more);
  EXPECT_EQ(why_not({"n", "--repor", "x"}), "there is no flag '--repor'; did you mean `--report`? " + more.substr(2));
}

TEST_F(CommandLine, WordsAfterTwoDashesBelongToTheCommand) {
  const Read one = read({"example", "n", "--", "sh", "--json", "", "--", "--gpus"});
  EXPECT_EQ(one.command, (Words{"sh", "--json", "", "--", "--gpus"}));
  EXPECT_FALSE(one.json);
  EXPECT_TRUE(one.gpus.empty());
}

TEST_F(CommandLine, AFlagOfOursAfterTheFirstWordOfTheCommandIsRefused) {
  for (const std::string flag : {"--json", "--share=0.5", "--report"}) {
    EXPECT_EQ(why_not({"n", "train.sh", flag}),
              "'" + flag.substr(0, flag.find('=')) +
                  "' follows the command; flags of your own command come after two dashes, and those of Zeus before "
                  "them: zeus example [OPTIONS] NAME [-- CMD...]");
  }
  EXPECT_TRUE(read({"example", "n", "@job", "--json"}).json) << "a job's name begins no command";
  EXPECT_EQ(read({"example", "n", "train.sh", "--", "--json"}).command, (Words{"train.sh", "--json"}));
}

TEST_F(CommandLine, HelpCanBeAskedForAnywhereBeforeTwoDashes) {
  (void)read({"--help"});
  EXPECT_EQ(asked_, Asked::For::help);
  (void)read({"example", "n", "-h"});
  EXPECT_EQ(asked_, Asked::For::help);
  (void)read({"--version"});
  EXPECT_EQ(asked_, Asked::For::version);
  (void)read({"example", "n", "--", "-h"});
  EXPECT_EQ(asked_, Asked::For::run);
  EXPECT_EQ(why_not({"n", "--help=false"}), "--help takes no value; write --help alone");
}

TEST_F(CommandLine, AnEmptyValueIsNoValue) {
  const std::string advice = " is empty; give a value, or leave it out; `zeus example --help` lists what there is";
  EXPECT_EQ(why_not({"n", "--gpus", ""}), "--gpus" + advice);
  EXPECT_EQ(why_not({"n", "--gpus="}), "--gpus" + advice);
  EXPECT_EQ(why_not({"n", "--gpus", "0,,1"}), "--gpus" + advice);
  EXPECT_EQ(why_not({"n", "--gpus", "0,"}), "--gpus" + advice);
  EXPECT_EQ(why_not({"n", "--share", ""}), "--share" + advice);
  EXPECT_EQ(why_not({"n", "--file", ""}), "--file" + advice);
  EXPECT_EQ(why_not({"n", "--json="}), "--json" + advice);
  EXPECT_EQ(why_not({""}), "NAME is empty; give a value; `zeus example --help` lists what there is");
}

TEST_F(CommandLine, TheErrorForAnInvalidValueNamesItsOptionAndTheExpectedForm) {
  EXPECT_EQ(why_not({"n", "--gpus", "0,-1"}),
            "--gpus: '-1' is not a whole number from 0; `zeus example --help` lists what there is");
  EXPECT_EQ(why_not({"n", "--share", "nan"}),
            "--share: 'nan' is not a number from 0 to 1; `zeus example --help` lists what there is");
  EXPECT_EQ(why_not({"n", "--json=maybe"}),
            "--json: 'maybe' is not true or false; `zeus example --help` lists what there is");
}

TEST_F(CommandLine, SuggestsTheIntendedWordForAMistypedOne) {
  EXPECT_EQ(why_not({"n", "--shar", "0.5"}),
            "there is no flag '--shar'; did you mean `--share`? `zeus example --help` lists what there is");
  EXPECT_EQ(
      why_not({"n", "--way", "squrt"}),
      "--way: 'squrt' is not one of linear, sqrt; did you mean `sqrt`? `zeus example --help` lists what there is");
  EXPECT_EQ(
      why_not({"n", "--observe=pasive"}),
      "--observe: 'pasive' is not one of limits, passive; did you mean `passive`? `zeus example --help` lists what "
      "there is");
  try {
    (void)read({"exmaple"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "there is no command 'exmaple'; did you mean `example`? `zeus --help` lists what there is");
  }
}

TEST_F(CommandLine, ExplainsFlagsOfACommandGivenWithoutTwoDashes) {
  EXPECT_EQ(why_not({"n", "python", "train.py", "--lr", "1"}),
            "there is no flag '--lr'; flags of your own command come after two dashes: zeus example [OPTIONS] NAME [-- "
            "CMD...]");
}

TEST_F(CommandLine, WhatLacksIsNamed) {
  const std::string usage = "usage: zeus example [OPTIONS] NAME [-- CMD...]; `zeus example --help` lists what there is";
  EXPECT_EQ(why_not({}), "NAME is missing; " + usage);
  EXPECT_EQ(why_not({"n", "--file"}),
            "--file has no value; write --file FILE; `zeus example --help` lists what there is");
  EXPECT_EQ(why_not({"n", "--file", "--json"}),
            "--file has no value; write --file FILE; `zeus example --help` lists what there is");
  EXPECT_EQ(why_not({"--file", "--", "n"}),
            "--file has no value; write --file FILE; `zeus example --help` lists what there is");
  EXPECT_EQ(why_not({"n", "--pair", "1"}),
            "--pair needs --other; give both, or neither; `zeus example --help` lists what there is");
  EXPECT_EQ(why_not({"n", "--share", "0", "--share", "1"}),
            "--share is given twice; give it once; `zeus example --help` lists what there is");
}

TEST_F(CommandLine, AMessageQuotesALineAtMost) {
  std::string huge(100'000, 'a');
  huge += "\x1b[2J\n";
  for (const Words& words : {Words{"n", "--gpus", huge}, Words{"n", "--" + huge}, Words{"n", "--way", huge}}) {
    const std::string line = why_not(words);
    EXPECT_LT(line.size(), 300U);
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace zeus::command_line
