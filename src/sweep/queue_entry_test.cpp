#include "sweep/queue_entry.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"
#include "sweep/command_filling.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zeus::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> commands_of(const QueueEntry& entry) {
  std::vector<std::string> commands;
  for (std::size_t i = 0; i < task_count(entry); ++i) {
    const Task task = task_at(entry, i);
    commands.push_back(filled(task.command, task.parameters));
  }
  return commands;
}

std::string refused_queue(const std::string& text) {
  try {
    parse_queue("queue.yaml", text);
  } catch (const Error& error) {
    return error.what();
  }
  return "read";
}

TEST(QueueEntry, ALineIsACommand) {
  const auto entries = parse_queue("q", "- echo hi\n- ls -l\n");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_THAT(commands_of(entries[1]), ElementsAre("ls -l"));
}

TEST(QueueEntry, ListsAreMultipliedOutAlsoForCommandsThatDoNotUseThem) {
  const auto entries = parse_queue("q",
                                   "- command:\n"
                                   "    - seq {{ low }} {{ high }}\n"
                                   "    - bye\n"
                                   "  low: [1, 2]\n"
                                   "  high: [3, 4]\n");
  EXPECT_THAT(commands_of(entries.front()),
              ElementsAre("seq 1 3", "seq 1 4", "seq 2 3", "seq 2 4", "bye", "bye", "bye", "bye"));
}

TEST(QueueEntry, LimitsClocksSeedsAndRepetitionsAreParametersToo) {
  const auto entries = parse_queue("q",
                                   "- command: t {{ bs }} {{ power_limit }} {{ seed }} {{ repetition }}\n"
                                   "  bs: [8]\n"
                                   "  zeus: {gpus: 2, power_limits: [100, 150], seeds: [7, 9], repetitions: 2}\n");
  EXPECT_THAT(commands_of(entries.front()), ElementsAre("t 8 100 7 1", "t 8 100 7 2", "t 8 100 9 1", "t 8 100 9 2",
                                                        "t 8 150 7 1", "t 8 150 7 2", "t 8 150 9 1", "t 8 150 9 2"));
  EXPECT_EQ(task_at(entries.front(), 4).power_limit, Watts{150});
  EXPECT_EQ(entries.front().settings.gpus, 2);
}

TEST(QueueEntry, SlotsAreOneUnlessTheEntryAsksForMore) {
  const auto entries = parse_queue("q", "- a\n- command: b {{ slots }}\n  slots: 3\n");
  EXPECT_EQ(task_at(entries[0], 0).slots, 1);
  EXPECT_EQ(task_at(entries[1], 0).slots, 3);
  EXPECT_THAT(commands_of(entries[1]), ElementsAre("b 3"));
}

TEST(QueueEntry, WhatIsConsumedCanBeQueuedAgain) {
  const std::string text =
      "- \"echo 'a: b' # not a comment\"\n"
      "- command: [one, 'two: {{ x }}']\n"
      "  x: ['null', \"line\\nline\", 0.10]\n"
      "  zeus: {gpus: 1, power_limits: [100.5], clocks: 1200, seeds: [1, 2], repetitions: 3, metric_regex: 'acc "
      "([0-9.]+)',\n"
      "         epoch_regex: ^epoch, target_metric: 0.9, higher_is_better: false, settle: 2.5}\n";
  for (const QueueEntry& entry : parse_queue("q", text)) {
    const auto again = parse_queue("q", to_yaml(entry));
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again.front(), entry) << to_yaml(entry);
    EXPECT_EQ(records::record_from_json<QueueEntry>(records::json_line(entry), {.refusal = "no"}), entry);
  }
}

TEST(QueueEntry, WhatCannotBeIsRefusedWithItsLine) {
  EXPECT_THAT(refused_queue("command: a\n"), HasSubstr("it is not a list"));
  EXPECT_THAT(refused_queue("- bs: [1]\n"), HasSubstr("queue.yaml:1: an entry has no command"));
  EXPECT_THAT(refused_queue("- command: a\n  bs:\n"), HasSubstr("'bs' is not a value"));
  EXPECT_THAT(refused_queue("- command: a\n  bs: []\n"), HasSubstr("the list of 'bs' is empty"));
  EXPECT_THAT(refused_queue("- command: a\n  bs: [[1]]\n"), HasSubstr("'bs' is not a value"));
  EXPECT_THAT(refused_queue("- \"a\\0b\"\n"),
              HasSubstr("queue.yaml:1: it has a byte that is not UTF-8, or a control character"));
  EXPECT_THAT(refused_queue("- command: a\n  seed: 1\n"), HasSubstr("the parameter 'seed' is filled in by Zeus"));
  EXPECT_THAT(refused_queue("- command: a\n  zeus: {gpu: 1}\n"),
              HasSubstr("'zeus' has no key 'gpu'; its keys are clocks"));
  EXPECT_THAT(refused_queue("- command: a\n  zeus: {gpus: many}\n"),
              HasSubstr("'gpus' of 'zeus' is not a whole number"));
  EXPECT_THAT(refused_queue("- command: a\n  zeus: {power_limits: [.nan]}\n"), HasSubstr("is not a number from 1"));
}

TEST(QueueEntry, MoreRunsThanAMillionAreRefused) {
  std::string list = "[0";
  for (int i = 1; i < 1001; ++i) {
    list += ", " + std::to_string(i);
  }
  const auto entries = parse_queue("q", "- command: a\n  x: " + list + "]\n  y: " + list + "]\n");
  EXPECT_THROW(static_cast<void>(task_count(entries.front())), Error);
}

TEST(CommandFilling, FillsNamesAndReplacesInThem) {
  const std::vector<Parameter> parameters{{"model", "a/b/c"}, {"bs", "8"}};
  EXPECT_EQ(filled("run {{ model }} {{bs}}", parameters), "run a/b/c 8");
  EXPECT_EQ(filled(R"({{ replace model "/" "--" }}.log)", parameters), "a--b--c.log");
  EXPECT_EQ(filled("${HOME} {x} }}", parameters), "${HOME} {x} }}");
}

TEST(CommandFilling, WhatStandsForNothingIsRefused) {
  const std::vector<Parameter> parameters{{"bs", "8"}};
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      return filled(text, parameters);
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal("{{ size }}"), "no parameter is called 'size'; there are bs");
  EXPECT_THAT(refusal("{{ bs"), HasSubstr("double braces are not closed"));
  EXPECT_THAT(refusal("{{ upper bs }}"), HasSubstr("is neither a name nor `replace`"));
  EXPECT_THAT(refusal("{{ replace bs \"8 }}"), HasSubstr("is neither a name nor `replace`"));
}

}  // namespace
}  // namespace zeus::sweep
