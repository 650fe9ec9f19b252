// The answers of zeus::Job and its tries to senseless input and to unusable stores.
#include "course.hpp"
#include "told_job.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>
#include <zeus/job.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace zeus {
namespace {

namespace course = test::course;

class BadInput : public testing::Test {
 protected:
  [[nodiscard]] JobOptions options() const { return test::told_options(folder_.path() / "jobs.sqlite"); }
  Job open(const JobDefinition& definition = test::told_definition()) const {
    return Job{"course", definition, options()};
  }

  test::TemporaryFolder folder_;
};

std::optional<ErrorKind> kind_of(const std::function<void()>& call, std::string* said = nullptr) {
  try {
    call();
  } catch (const Error& error) {
    if (said != nullptr) {
      *said = error.what();
    }
    return error.kind();
  }
  return std::nullopt;
}

TEST_F(BadInput, ADefinitionThatContradictsItselfIsRefused) {
  const auto refused = [&](const std::function<void(JobDefinition&)>& spoil) {
    JobDefinition definition = test::told_definition();
    spoil(definition);
    return kind_of([&] { open(definition); }) == ErrorKind::invalid_argument;
  };
  EXPECT_TRUE(refused([](JobDefinition& it) { it.batch_sizes.clear(); })) << "a default without sizes";
  EXPECT_TRUE(refused([](JobDefinition& it) { it.default_batch_size.reset(); })) << "sizes without a default";
  EXPECT_TRUE(refused([](JobDefinition& it) { it.default_batch_size = 48; })) << "a default that is not in the list";
  EXPECT_TRUE(refused([](JobDefinition& it) { it.batch_sizes.push_back(-1); }));
  EXPECT_TRUE(refused([](JobDefinition& it) { it.eta = 1.5; }));
  EXPECT_TRUE(refused([](JobDefinition& it) { it.beta = 0.0; }));
  EXPECT_TRUE(refused([](JobDefinition& it) { it.max_epochs = 0; }));
  EXPECT_TRUE(refused([](JobDefinition& it) { it.max_slowdown = 0.5; }));
  EXPECT_TRUE(refused([](JobDefinition& it) { it.policy = "luck"; }));
  EXPECT_TRUE(refused([](JobDefinition& it) { it.target->metric = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_EQ(kind_of([&] { Job("", test::told_definition(), options()); }), ErrorKind::invalid_argument);
}

TEST_F(BadInput, DevicesElsewhereHaveToBeDescribed) {
  const auto refused = [&](const std::function<void(JobDevices&)>& spoil) {
    JobOptions options = this->options();
    spoil(*options.elsewhere);
    return kind_of([&] { Job("course", test::told_definition(), options); }) == ErrorKind::invalid_argument;
  };
  EXPECT_TRUE(refused([](JobDevices& it) { it = {}; }));
  EXPECT_TRUE(refused([](JobDevices& it) { it.power_limits.clear(); }));
  EXPECT_TRUE(refused([](JobDevices& it) { it.power_limits.emplace_back(-1.0); }));
  EXPECT_TRUE(refused([](JobDevices& it) { it.max_power = {}; }));
  EXPECT_TRUE(refused([](JobDevices& it) { it.count = 0; }));
  JobOptions options = this->options();
  options.profile_time = {};
  EXPECT_EQ(kind_of([&] { Job("course", test::told_definition(), options); }), ErrorKind::invalid_argument);
}

// Two of them would each set the limits, and charge the other's try.
TEST_F(BadInput, InsideOfARunAJobOfThisMachineIsRefused) {
  JobOptions options = this->options();
  options.elsewhere.reset();
  ASSERT_EQ(::setenv("ZEUS_PROGRESS", "/dev/null", 1), 0);
  std::string said;
  EXPECT_EQ(kind_of([&] { Job("course", test::told_definition(), options); }, &said), ErrorKind::conflict);
  ::unsetenv("ZEUS_PROGRESS");
  EXPECT_NE(said.find("zeus run"), std::string::npos) << said;
}

TEST_F(BadInput, AJobThatIsNotThereIsNotFoundAndOneThatIsOtherwiseIsAConflict) {
  EXPECT_EQ(kind_of([&] { Job("course", options()); }), ErrorKind::not_found) << "there is no store";
  open();
  EXPECT_EQ(kind_of([&] { Job("another", options()); }), ErrorKind::not_found);
  EXPECT_EQ(Job("course", options()).definition().default_batch_size, course::default_batch_size);
  JobDefinition other = test::told_definition();
  other.eta = 0.7;
  std::string said;
  EXPECT_EQ(kind_of([&] { open(other); }, &said), ErrorKind::conflict);
  EXPECT_NE(said.find("eta"), std::string::npos) << said;
}

TEST_F(BadInput, WhatADefinitionLeavesOpenIsAsTheJobHasIt) {
  open(test::told_definition("grid"));
  JobDefinition less = test::told_definition();
  less.max_epochs.reset();
  const JobDefinition kept = open(less).definition();
  EXPECT_EQ(kept.policy, "grid");
  EXPECT_EQ(kept.max_epochs, course::most_epochs);
}

TEST_F(BadInput, ATryThatIsOverSaysSo) {
  Job job = open();
  std::optional<Try> first = job.next_try();
  ASSERT_TRUE(first);
  EXPECT_EQ(kind_of([&] { first->measured({course::profile(64, Watts{120})}); }), ErrorKind::invalid_argument)
      << "a limit that was not requested";
  EXPECT_EQ(kind_of([&] { first->took(Seconds{-1}, std::nullopt); }), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of([&] { first->took(Seconds{1}, test::exactly(Joules{-1})); }), ErrorKind::invalid_argument);
  first->fail();
  EXPECT_TRUE(first->over());
  EXPECT_FALSE(first->next_epoch());
  first->report(1.0);
  first->begin_step();
  std::optional<Try> later = job.next_try();
  while (!later) {
    later = job.next_try();
  }
  EXPECT_EQ(kind_of([&] { (void)first->batch_size(); }), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of([&] { first->begin_step(); }), ErrorKind::invalid_argument);
}

TEST_F(BadInput, WhatWasMovedFromAndATryWithoutItsJobSaySo) {
  std::optional<Job> job = open();
  Job moved = std::move(*job);
  EXPECT_EQ(kind_of([&] { (void)job->next_try(); }), ErrorKind::invalid_argument);
  EXPECT_EQ(kind_of([&] { (void)job->summary(); }), ErrorKind::invalid_argument);
  job = std::move(moved);
  std::optional<Try> first = job->next_try();
  Try kept = std::move(*first);
  EXPECT_EQ(kind_of([&] { (void)first->next_epoch(); }), ErrorKind::invalid_argument);
  first.reset();
  EXPECT_FALSE(kept.over()) << "a moved-from object ends nothing";
  job.reset();
  EXPECT_EQ(kind_of([&] { (void)kept.next_epoch(); }), ErrorKind::invalid_argument);
}

TEST_F(BadInput, TwoOpenersOfOneJobEachHaveARecurrenceOfTheirOwn) {
  Job one = open();
  Job other = open();
  std::optional<Try> first = one.next_try();
  std::optional<Try> second = other.next_try();
  ASSERT_TRUE(first && second);
  test::train(*first);
  test::train(*second);
  first.reset();
  second.reset();
  test::recur(one);
  test::recur(other);
  EXPECT_TRUE(one.reached());
  EXPECT_TRUE(other.reached());
  EXPECT_EQ(one.summary().reached, 2U);
}

TEST_F(BadInput, AStoreAndAServerAtOnceAndAServerThatCannotBeAreRefused) {
  std::string said;
  JobOptions both = options();
  both.server = "http://127.0.0.1:1";
  EXPECT_EQ(kind_of([&] { Job("course", test::told_definition(), both); }, &said), ErrorKind::invalid_argument);
  EXPECT_NE(said.find("both are named"), std::string::npos) << said;
  JobOptions nowhere = both;
  nowhere.store.clear();
  nowhere.server = "somewhere";
  EXPECT_EQ(kind_of([&] { Job("course", test::told_definition(), nowhere); }), ErrorKind::invalid_argument);
  nowhere.server_patience = Seconds{-1};
  EXPECT_EQ(kind_of([&] { Job("course", test::told_definition(), nowhere); }, &said), ErrorKind::invalid_argument);
  EXPECT_NE(said.find("patience"), std::string::npos) << said;
}

TEST_F(BadInput, AStoreThatIsNoneIsRefused) {
  JobOptions options = this->options();
  std::ofstream{options.store} << "this is not a store and never was; it is only long enough to be checked";
  EXPECT_EQ(kind_of([&] { Job("course", test::told_definition(), options); }), ErrorKind::corrupt_data);
  options.store = "/proc/zeus/jobs.sqlite";
  EXPECT_TRUE(kind_of([&] { Job("course", test::told_definition(), options); }));
}

// Like a full disk: no file may grow.
TEST_F(BadInput, WhereTheStoreCannotBeWrittenATrainingGoesOnAndTheNextOneIsRefused) {
  Job job = open();
  std::optional<Try> attempt = job.next_try();
  ASSERT_TRUE(attempt);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit full = before;
  full.rlim_cur = 1;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  test::train(*attempt);
  const bool went_on = attempt->next_epoch() || attempt->over();
  attempt.reset();
  EXPECT_FALSE(job.next_try()) << "the recurrence is over";
  const bool reached = job.reached();
  const std::string why = job.unrecorded();
  const std::optional<ErrorKind> next = kind_of([&] { (void)job.next_try(); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  static_cast<void>(std::signal(SIGXFSZ, handler));
  EXPECT_TRUE(went_on);
  EXPECT_TRUE(reached);
  EXPECT_NE(why.find("full"), std::string::npos) << why;
  EXPECT_EQ(next, ErrorKind::unavailable);
}

}  // namespace
}  // namespace zeus
