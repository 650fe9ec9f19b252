#include "drivers/session/call_log.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace zeus::drivers {
namespace {

TEST(CallLog, RecordsTheCallerTheFunctionAndTheResult) {
  const auto log = std::make_unique<CallLog>();
  log->add("nvmlDeviceGetPowerUsage", Instant{5}, 77, 2, 15);
  const std::vector<CallRecord> records = log->since(0);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].entry_point, "nvmlDeviceGetPowerUsage");
  EXPECT_EQ(records[0].at, Instant{5});
  EXPECT_EQ(records[0].process, 77);
  EXPECT_EQ(records[0].gpu, 2);
  EXPECT_EQ(records[0].result, 15);
}

TEST(CallLog, RemembersTheLatestCallsOnly) {
  const auto log = std::make_unique<CallLog>();
  for (std::uint64_t i = 0; i < CallLog::capacity + 10; ++i) {
    log->add("call", Instant{static_cast<std::int64_t>(i)}, 1, -1, 0);
  }
  const std::vector<CallRecord> records = log->since(0);
  ASSERT_EQ(records.size(), CallLog::capacity);
  EXPECT_EQ(records.front().number, 10U);
  EXPECT_EQ(records.front().gpu, -1);
  EXPECT_EQ(records.back().number, CallLog::capacity + 9);
  EXPECT_EQ(log->since(CallLog::capacity + 8).size(), 2U);
  EXPECT_EQ(log->count(), CallLog::capacity + 10);
}

TEST(CallLog, ShortensALongNameAndLeavesNothingOfAnEarlierOne) {
  const auto log = std::make_unique<CallLog>();
  log->add(std::string(200, 'a'), Instant{}, 1, 0, 0);
  for (std::uint64_t i = 1; i < CallLog::capacity; ++i) {
    log->add("b", Instant{}, 1, 0, 0);
  }
  EXPECT_EQ(log->since(0).front().entry_point, std::string(63, 'a'));
  log->add("short", Instant{}, 1, 0, 0);
  EXPECT_EQ(log->since(CallLog::capacity).front().entry_point, "short");
}

TEST(CallLog, ThreadsAddWithoutLosingOrMixingCalls) {
  const auto log = std::make_unique<CallLog>();
  constexpr int threads = 4;
  constexpr int calls = 500;
  {
    std::vector<std::jthread> workers;
    for (int thread = 0; thread < threads; ++thread) {
      workers.emplace_back([&log, thread] {
        for (int i = 0; i < calls; ++i) {
          log->add(std::string(static_cast<std::size_t>(thread) + 1, 'x'), Instant{}, thread, thread, thread);
        }
      });
    }
  }
  EXPECT_EQ(log->count(), threads * calls);
  const std::vector<CallRecord> records = log->since(0);
  EXPECT_EQ(records.size(), threads * calls);
  for (const CallRecord& record : records) {
    EXPECT_EQ(record.gpu, record.process);
    EXPECT_EQ(record.entry_point.size(), static_cast<std::size_t>(record.process) + 1);
  }
}

}  // namespace
}  // namespace zeus::drivers
