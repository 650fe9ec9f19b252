// zeus::Job decides and records like `zeus run`: both run the same course with jobs::Driver and leave the same history,
// even if they take turns on one store.
#include "course.hpp"
#include "told_job.hpp"

#include "base/clock.hpp"
#include "base/file_tree.hpp"
#include "jobs/driver.hpp"
#include "store/open_store.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace zeus {
namespace {

namespace course = test::course;

// The course as a training that the driver starts and ends.
class CourseTry final : public jobs::Try {
 public:
  void start(int batch_size, std::uint64_t seed) override {
    batch_size_ = batch_size;
    seed_ = seed;
    state_ = {};
    taken_ = {};
    measured_.clear();
    to_measure_.clear();
  }
  void hold(Watts limit) override { state_.limit = limit; }
  void leave() override { state_.limit.reset(); }
  void measure(const std::vector<Watts>& limits, const Known& /*known*/) override {
    to_measure_ = limits;
    state_.measuring = true;
    state_.disturbed = limits.size() > 1;
    state_.limit = limits.size() == 1 ? std::optional{limits.front()} : std::nullopt;
  }
  std::vector<Event> go_on() override {
    if (state_.exit_code) {
      return {};
    }
    if (state_.measuring) {
      take(course::measuring, course::measuring_energy);
      measured_ = course::profiles(batch_size_, to_measure_);
      state_.measuring = false;
      state_.disturbed = false;
      return {};
    }
    const LimitProfile one = course::profile(batch_size_, state_.limit.value());
    take(one.epoch_time, one.average_power * one.epoch_time);
    state_.epochs++;
    state_.beside_steps = 0.0;
    state_.metric = course::metric(batch_size_, seed_, state_.epochs);
    return {MetricSeen{.value = *state_.metric}, EpochOver{.epochs = state_.epochs}};
  }
  void stop() override { state_.exit_code = 0; }
  State state() override { return state_; }
  std::vector<records::LimitProfile> measured() override { return measured_; }
  Taken taken_so_far() override { return taken_; }
  Taken close() override { return taken_; }

 private:
  void take(Seconds time, Joules energy) {
    taken_.time += time;
    if (taken_.gpus.empty()) {
      taken_.gpus.push_back({.gpu = "elsewhere", .energy = test::exactly({})});
    }
    taken_.gpus.front().energy.value += energy;
  }

  int batch_size_ = 0;
  std::uint64_t seed_ = 0;
  State state_;
  Taken taken_;
  std::vector<Watts> to_measure_;
  std::vector<records::LimitProfile> measured_;
};

class SameDecisions : public testing::TestWithParam<const char*> {
 protected:
  // Like `zeus run`, without the command.
  void recur_by_driver(const std::filesystem::path& path) {
    const auto store = store::open_store(path.string(), store::Access::create, clock_);
    const jobs::Site site = jobs::this_site(clock_, FileTree{});
    const records::JobDevice device{
        .model = "V100", .gpus = 1, .max_power = course::max_power, .power_limits = course::limits};
    jobs::Job job = jobs::Job::open(*store, site, "course",
                                    {.batch_sizes = course::batch_sizes,
                                     .default_batch_size = course::default_batch_size,
                                     .target = records::JobTarget{.metric = course::target},
                                     .max_epochs = course::most_epochs,
                                     .policy = GetParam(),
                                     .seed = 7,
                                     .max_slowdown = {},
                                     .device = device});
    CourseTry training;
    jobs::Driver driver{std::make_unique<jobs::KeptRecurrence>(job, job.begin(device)),
                        device,
                        training,
                        {.stops_at_target = true},
                        clock_,
                        [](const jobs::DriverEvent&) {},
                        [](const Error&) { throw; }};
    driver.run();
  }
  void recur_by_job(const std::filesystem::path& path) {
    Job job{"course", test::told_definition(GetParam()), test::told_options(path)};
    test::recur(job);
  }
  std::vector<std::string> history(const std::filesystem::path& path) {
    const auto store = store::open_store(path.string(), store::Access::read_only, clock_);
    std::vector<std::string> bodies;
    for (const records::JobEntry& entry : store->entries(store->find("course")->id, 0, 10'000)) {
      bodies.push_back(records::to_json(entry.body));
    }
    return bodies;
  }

  SystemClock clock_;
  test::TemporaryFolder folder_;
};

TEST_P(SameDecisions, TenRecurrencesLeaveTheSameHistory) {
  constexpr int recurrences = 10;
  for (int i = 0; i < recurrences; ++i) {
    recur_by_driver(folder_.path() / "driver.sqlite");
    recur_by_job(folder_.path() / "job.sqlite");
    i % 2 == 0 ? recur_by_job(folder_.path() / "turns.sqlite") : recur_by_driver(folder_.path() / "turns.sqlite");
  }
  const std::vector<std::string> expected = history(folder_.path() / "driver.sqlite");
  EXPECT_GT(expected.size(), 3U * recurrences);
  EXPECT_EQ(history(folder_.path() / "job.sqlite"), expected);
  EXPECT_EQ(history(folder_.path() / "turns.sqlite"), expected);
}

INSTANTIATE_TEST_SUITE_P(Policies, SameDecisions, testing::Values("lookahead", "zeus", "grid"));

}  // namespace
}  // namespace zeus
