#include "run/job_draft.hpp"

#include "run/job_file.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zeus::run {

namespace {

WatchedRun watched(std::vector<std::string> command, const std::string& output) {
  OutputStudy study;
  study.hear(0, output);
  study.finish();
  return {.command = std::move(command), .name = "nightly", .time = Seconds{12.34}, .proposal = study.propose()};
}

std::string output() {
  std::string text;
  for (int epoch = 0; epoch < 6; ++epoch) {
    for (int step = 1; step <= 20; ++step) {
      text += "step " + std::to_string(step) + " loss 0.5\n";
    }
    text += "{'epoch': " + std::to_string(epoch) + ", 'val_acc': 0." + std::to_string(epoch + 2) + "}\n";
  }
  return text;
}

// The text with its last part uncommented.
std::string uncommented(std::string text) {
  const std::size_t part = text.find("# command = ");
  std::string rest = text.substr(part);
  text = text.substr(0, part);
  const std::size_t command = text.find("command = ");
  text.erase(command, text.find('\n', command) - command);
  for (std::size_t mark = 0; (mark = rest.find("# ", mark)) != std::string::npos; ++mark) {
    if (mark == 0 || rest[mark - 1] == '\n') {
      rest.erase(mark, 2);
    }
  }
  return text + rest;
}

TEST(JobDraft, IsAJobFileThatReportsWhatWasSeen) {
  const std::vector<std::string> command{"python", "train.py", "--name", "a \"b\" \\ \x01", "--bs=64"};
  const JobSettings job = job_from_toml(job_draft(watched(command, output())), "nightly.toml");
  EXPECT_EQ(job.command, command);
  EXPECT_EQ(job.metric_regex, "val_acc': *([-+.0-9e]+|nan|inf)");
  EXPECT_EQ(job.higher_is_better, true);
  EXPECT_EQ(job.step_regex, R"(step +(\d+))");
  EXPECT_FALSE(job.epoch_regex) << "each metric ends one";
  EXPECT_FALSE(job.target_metric || job.batch_sizes) << "which one run does not show";
}

TEST(JobDraft, ChoosesTheBatchSizeOnceThatIsUncommented) {
  const std::string text = job_draft(watched({"python", "train.py", "--batch-size", "64"}, output()));
  const JobSettings job = job_from_toml(uncommented(text), "nightly.toml");
  EXPECT_EQ(job.command, (std::vector<std::string>{"python", "train.py", "--batch-size", "{batch_size}"}));
  EXPECT_EQ(job.batch_sizes, (std::vector{16, 32, 64, 128, 256}));
  EXPECT_EQ(job.default_batch_size, 64);
  EXPECT_EQ(job.target_metric, 0.5) << "what it had come to after two thirds of its epochs";
  EXPECT_EQ(job.max_epochs, 12);
  EXPECT_NO_THROW((void)checked(options_of(merged(job, {.job = "nightly"}))));
}

TEST(JobDraft, ChoosesTheBatchSizeAtOnceIfThatIsAccepted) {
  const WatchedRun run = watched({"python", "train.py", "--batch-size", "64"}, output());
  const std::string draft = job_draft(run);
  const JobSettings by_hand = job_from_toml(uncommented(draft), "nightly.toml");
  const JobSettings accepted = job_from_toml(job_draft(run, Suggestions::accepted), "nightly.toml");
  EXPECT_FALSE(why_nothing_to_accept(run));
  EXPECT_EQ(accepted.command, by_hand.command);
  EXPECT_EQ(accepted.batch_sizes, by_hand.batch_sizes);
  EXPECT_EQ(accepted.default_batch_size, by_hand.default_batch_size);
  EXPECT_EQ(accepted.target_metric, by_hand.target_metric);
  EXPECT_EQ(accepted.max_epochs, by_hand.max_epochs);
  EXPECT_EQ(accepted.metric_regex, by_hand.metric_regex);
}

TEST(JobDraft, CannotBeAcceptedWithoutABatchSizeOrAMetric) {
  EXPECT_NE(why_nothing_to_accept(watched({"python", "train.py"}, output()))->find("batch size"), std::string::npos);
  EXPECT_NE(why_nothing_to_accept(watched({"train", "-b", "8"}, "hello\n"))->find("metric"), std::string::npos);
}

TEST(JobDraft, OfASilentCommandExplainsWhatIsMissing) {
  const WatchedRun silent = watched({"true"}, "");
  const std::string text = job_draft(silent);
  EXPECT_EQ(job_from_toml(text, "nightly.toml").command, std::vector<std::string>{"true"});
  for (const char* const key : {"# metric_regex = ", "# epoch_regex = ", "# step_regex = "}) {
    EXPECT_NE(text.find(key), std::string::npos) << key;
  }
  EXPECT_EQ(draft_summary(silent),
            "  metric     none was found\n  epochs     none were found\n  steps      none were found\n");
}

TEST(JobDraft, SaysWhichLinesMatchAndInWhichUnitStepsCome) {
  EXPECT_EQ(draft_summary(watched({"true"}, output())),
            "  metric     val_acc, higher is better: 6 values, from 0.2 to 0.7\n"
            "             val_acc': *([-+.0-9e]+|nan|inf)\n"
            "             | {'epoch': 0, 'val_acc': 0.2}\n"
            "             | {'epoch': 5, 'val_acc': 0.7}\n"
            "  epochs     6: each value of the metric ends one\n"
            "  steps      120, numbered from 1 to 20, again in each epoch\n"
            "             step +(\\d+)\n"
            "             | step 1 loss 0.5\n"
            "             | step 20 loss 0.5\n");
}

TEST(BatchSizePlaceTest, IsFoundInTheUsualForms) {
  const auto place = [](const std::vector<std::string>& command) { return batch_size_place(command); };
  EXPECT_EQ(place({"t", "--batch_size=8"})->words.back(), "--batch_size={batch_size}");
  EXPECT_EQ(place({"t", "-b", "8"})->words.back(), "{batch_size}");
  EXPECT_EQ(place({"t", "-b", "8"})->batch_size, 8);
  EXPECT_FALSE(place({"t", "--batch-size", "auto"}));
  EXPECT_FALSE(place({"t", "--batch-size"}));
  EXPECT_FALSE(place({"t", "8"}));
}

}  // namespace

}  // namespace zeus::run
