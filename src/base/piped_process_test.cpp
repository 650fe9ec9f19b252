#include "base/piped_process.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus {
namespace {

struct PipedEnd {
  std::string output;
  int code = -1;
};

PipedEnd follow_to_end(PipedProcess& process) {
  PipedEnd end;
  const auto keep = [&](std::string_view bytes) { end.output += bytes; };
  std::optional<int> code;
  while (!code) {
    pollfd watched[] = {{.fd = process.output().get(), .events = POLLIN, .revents = 0},
                        {.fd = process.errors().get(), .events = POLLIN, .revents = 0},
                        {.fd = process.end().get(), .events = POLLIN, .revents = 0}};
    ::poll(watched, 3, -1);
    process.read(keep);
    if (watched[2].revents != 0) {
      code = process.exit_code();
    }
  }
  process.read(keep);
  end.code = *code;
  return end;
}

PipedProcess started(const std::string& script, const std::string& input = "") {
  return {{"/bin/sh", "-c", script}, Environment{Environment::Variables{{"NAME", "value"}}}, input};
}

TEST(PipedProcess, ReadsItsInputToTheEndAndWritesToBothStreams) {
  PipedProcess process = started("read line; echo $line $NAME; cat; echo last >&2; exit 3", "first\nsecond\n");
  process.close_input();
  const PipedEnd end = follow_to_end(process);
  EXPECT_EQ(end.output, "first value\nsecond\n");
  EXPECT_EQ(process.last_errors(), "last\n");
  EXPECT_EQ(end.code, 3);
}

TEST(PipedProcess, AnInputThatIsNotClosedHasNoEnd) {
  PipedProcess process = started("echo ready; cat; echo over");
  pollfd ready{.fd = process.output().get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&ready, 1, -1), 1);
  EXPECT_EQ(process.exit_code(), std::nullopt);
  process.close_input();
  EXPECT_EQ(follow_to_end(process).output, "ready\nover\n");
}

TEST(PipedProcess, OneThatPrintsWithoutEndIsReadInParts) {
  PipedProcess process = started("exec yes");
  pollfd ready{.fd = process.output().get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&ready, 1, -1), 1);
  process.read([](std::string_view) {});
  process.kill();
  EXPECT_EQ(follow_to_end(process).code, 128 + SIGKILL);
}

TEST(PipedProcess, HasAGroupOfItsOwnWhichIsKilledAsAWhole) {
  PipedProcess process = started("sleep 600 & cut -d' ' -f5 /proc/$$/stat; wait");
  pollfd ready{.fd = process.output().get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&ready, 1, -1), 1);
  process.kill();
  const PipedEnd end = follow_to_end(process);
  EXPECT_EQ(end.code, 128 + SIGKILL);
  EXPECT_NE(std::stoi(end.output), ::getpgrp());
}

TEST(PipedProcess, KeepsTheEndOfLongErrors) {
  PipedProcess process = started("i=0; while [ $i -lt 2000 ]; do echo error $i >&2; i=$((i+1)); done");
  EXPECT_EQ(follow_to_end(process).code, 0);
  EXPECT_TRUE(process.last_errors().ends_with("error 1999\n"));
  EXPECT_LE(process.last_errors().size(), 4096U);
}

TEST(PipedProcess, AnInputThatAPipeHasNoRoomForIsAnError) {
  EXPECT_THROW((PipedProcess{{"cat"}, Environment::of_process(), std::string(100'000, 'x')}), Error);
}

TEST(PipedProcess, AProgramThatIsNotThereIsAnError) {
  EXPECT_THROW((PipedProcess{{"/nowhere/program"}, Environment{}, ""}), Error);
}

}  // namespace
}  // namespace zeus
