#include "remote_jobs/served_keeper.hpp"

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_descriptor.hpp"
#include "transport/listener.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zeus::remote_jobs {
namespace {

// With the patience for a long history this would take a quarter of an hour.
TEST(ServedKeeper, InRealTimeAServerThatAcceptsAndNeverAnswersIsGivenUp) {
  const std::vector<FileDescriptor> silent = transport::listen_on_tcp("127.0.0.1:0");
  VirtualClock clock;
  const auto keeper =
      served_keeper({.address = server_address("http://" + transport::address_of(silent.at(0)), Environment{{}}),
                     .token = {},
                     .patience = Seconds{1}},
                    {}, clock);
  EXPECT_THROW((void)keeper->summaries([](const std::string& /*name*/, const Error& /*error*/) {}), Error);
  EXPECT_THROW(keeper->leave_out("a", 1, "a reason"), Error);
  EXPECT_THROW(keeper->forget("a"), Error);
}

}  // namespace
}  // namespace zeus::remote_jobs
