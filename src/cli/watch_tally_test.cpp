#include "cli/watch_tally.hpp"

#include "base/clock.hpp"
#include "cli/watch_answers.hpp"

#include <gtest/gtest.h>

namespace zeus::cli {
namespace {

// A node with clocks of its own, over a connection with a delay each way.
class Node {
 public:
  explicit Node(VirtualClock& clock, Seconds ahead = Seconds{0}) : clock_{clock}, ahead_{ahead} {}

  std::string instance = "first";
  std::uint64_t generation = 1;
  std::optional<Joules> wraps_at;
  Joules counter{1000};
  Watts power{200};

  NodeReadings answer(Seconds each_way = Seconds{0.001}) {
    NodeReadings told;
    told.asked = clock_.now();
    clock_.advance(each_way);
    told.daemon = "zeusd 0.1.0";
    told.instance = instance;
    told.daemon_now = clock_.now() + ahead_;
    told.daemon_wall =
        WallTime{clock_.wall().microseconds_since_epoch + static_cast<std::int64_t>(ahead_.value() * 1e6)};
    DeviceReading gpu;
    gpu.device.uuid = "GPU-1";
    gpu.device.power = power;
    gpu.counter =
        CounterReading{.at = *told.daemon_now, .value = counter, .wraps_at = wraps_at, .generation = generation};
    told.devices.push_back(gpu);
    clock_.advance(each_way);
    told.answered = clock_.now();
    told.wall = clock_.wall();
    return told;
  }
  void pass(Seconds time) {
    clock_.advance(time);
    counter = counter + power * time;
  }

 private:
  VirtualClock& clock_;
  Seconds ahead_;
};

class WatchTally : public testing::Test {
 protected:
  [[nodiscard]] WatchedDevice gpu() const { return tally_.node(clock_.now()).devices.at(0); }
  [[nodiscard]] double joules() const { return gpu().energy->joules.value(); }

  VirtualClock clock_{Instant{1'000'000'000'000}, WallTime{1'700'000'000'000'000}};
  NodeTally tally_{"node:4938", clock_.now()};
};

TEST_F(WatchTally, CountsFromTheFirstReadingOn) {
  Node node{clock_};
  tally_.take(node.answer());
  EXPECT_EQ(joules(), 0.0);
  node.pass(Seconds{10});
  tally_.take(node.answer());
  EXPECT_NEAR(joules(), 2000.0, 1e-6);
  EXPECT_EQ(gpu().energy->began_anew, 0);
  EXPECT_NEAR((gpu().energy->to - gpu().energy->from).value(), 10.002, 1e-9);
}

TEST_F(WatchTally, UsesOurTimeIfANodesClockIsThreeSecondsAhead) {
  Node node{clock_, Seconds{3}};
  const Instant before = clock_.now();
  tally_.take(node.answer(Seconds{0.2}));
  const WatchedNode seen = tally_.node(clock_.now());
  EXPECT_NEAR(seen.clock_offset->value(), 3.0, 1e-6);
  EXPECT_NEAR(seen.clock_doubt->value(), 0.2, 1e-9);
  EXPECT_NEAR((gpu().energy->from - before).value(), 0.2, 1e-6);
}

TEST_F(WatchTally, TrustsTheQuickestAnswerOfTheLastHalfMinuteForTheOffset) {
  Node node{clock_, Seconds{-5}};
  tally_.take(node.answer(Seconds{0.001}));
  node.pass(Seconds{1});
  NodeReadings slow = node.answer(Seconds{0.001});
  slow.asked = slow.asked - Seconds{0.8};  // lost and sent again on its way there
  tally_.take(slow);
  EXPECT_NEAR(tally_.node(clock_.now()).clock_offset->value(), -5.0, 1e-5);
  node.pass(Seconds{31});
  slow = node.answer(Seconds{0.001});
  slow.asked = slow.asked - Seconds{0.8};
  tally_.take(slow);
  EXPECT_NEAR(tally_.node(clock_.now()).clock_offset->value(), -4.6, 1e-5);
  EXPECT_NEAR(tally_.node(clock_.now()).clock_doubt->value(), 0.401, 1e-6);
}

TEST_F(WatchTally, CountsOnOverARestartOfTheDaemon) {
  Node node{clock_};
  tally_.take(node.answer());
  tally_.fail("connection refused");
  EXPECT_EQ(tally_.node(clock_.now()).missing, "connection refused");
  EXPECT_EQ(gpu().power, std::nullopt);
  EXPECT_EQ(gpu().power_reason, "its node is missing");
  node.pass(Seconds{4});
  node.instance = "second";
  node.generation = 7;  // counted by another start of the daemon
  tally_.take(node.answer());
  EXPECT_NEAR(joules(), 800.0, 1e-6);
  EXPECT_EQ(gpu().energy->began_anew, 0);
  EXPECT_EQ(tally_.node(clock_.now()).restarts, 1);
  EXPECT_EQ(tally_.node(clock_.now()).missing, std::nullopt);
}

TEST_F(WatchTally, NeitherFallsNorCountsTwiceWhenACounterStartsAgain) {
  Node node{clock_};
  tally_.take(node.answer());
  node.pass(Seconds{5});
  tally_.take(node.answer());
  node.instance = "second";
  node.counter = Joules{0};
  node.pass(Seconds{1});
  tally_.take(node.answer());
  EXPECT_NEAR(joules(), 1000.0, 1e-6);
  EXPECT_EQ(gpu().energy->began_anew, 1);
  node.pass(Seconds{2});
  tally_.take(node.answer());
  EXPECT_NEAR(joules(), 1400.0, 1e-6);
}

TEST_F(WatchTally, DetectsByGenerationAndDistanceThatACounterStartedAgain) {
  Node node{clock_};
  tally_.take(node.answer());
  node.generation = 2;
  node.pass(Seconds{1});
  tally_.take(node.answer());
  EXPECT_EQ(joules(), 0.0);
  EXPECT_EQ(gpu().energy->began_anew, 1);
  node.instance = "second";
  node.counter = Joules{5e6};  // no GPU uses so much in a second
  node.pass(Seconds{1});
  tally_.take(node.answer());
  EXPECT_EQ(joules(), 0.0);
  EXPECT_EQ(gpu().energy->began_anew, 2);
}

TEST_F(WatchTally, FollowsACounterOverItsEnd) {
  Node node{clock_};
  node.wraps_at = Joules{1100};
  tally_.take(node.answer());
  clock_.advance(Seconds{1});
  node.counter = Joules{100};
  tally_.take(node.answer());
  EXPECT_NEAR(joules(), 200.0, 1e-6);
  EXPECT_EQ(gpu().energy->began_anew, 0);
}

TEST_F(WatchTally, CountsAPackageByWhenItsCounterBegan) {
  CounterTally counter;
  counter.add({.at = Instant{0}, .value = Joules{10}, .began_ns = 5}, "first");
  counter.add({.at = Instant{1'000'000'000}, .value = Joules{60}, .began_ns = 5}, "second");
  EXPECT_NEAR(counter.energy()->joules.value(), 50.0, 1e-9);
  EXPECT_NEAR(counter.power()->value(), 50.0, 1e-9);
  counter.add({.at = Instant{2'000'000'000}, .value = Joules{70}, .began_ns = 6}, "second");
  EXPECT_NEAR(counter.energy()->joules.value(), 50.0, 1e-9);
  EXPECT_EQ(counter.power(), std::nullopt);
}

TEST_F(WatchTally, PassesOverAReadingThatItHasSeen) {
  CounterTally counter;
  counter.add({.at = Instant{0}, .value = Joules{10}}, "first");
  counter.add({.at = Instant{1'000'000'000}, .value = Joules{60}}, "first");
  counter.add({.at = Instant{1'000'000'000}, .value = Joules{60}}, "first");
  EXPECT_NEAR(counter.energy()->joules.value(), 50.0, 1e-9);
  EXPECT_NEAR(counter.power()->value(), 50.0, 1e-9);
}

TEST_F(WatchTally, MissesANodeThatIsSilentForThreeSeconds) {
  Node node{clock_};
  EXPECT_EQ(tally_.node(clock_.now()).missing, "it has not answered yet");
  tally_.take(node.answer());
  clock_.advance(Seconds{2});
  EXPECT_EQ(tally_.node(clock_.now()).missing, std::nullopt);
  clock_.advance(Seconds{1});
  EXPECT_EQ(tally_.node(clock_.now()).missing, "it does not answer");
  EXPECT_NEAR(tally_.node(clock_.now()).missing_for->value(), 3.0, 1e-9);
}

TEST_F(WatchTally, KeepsTheJoulesOfAGpuThatIsNoLongerReported) {
  Node node{clock_};
  tally_.take(node.answer());
  node.pass(Seconds{1});
  tally_.take(node.answer());
  NodeReadings without = node.answer();
  without.devices.clear();
  tally_.take(without);
  EXPECT_NEAR(joules(), 200.0, 1e-6);
  EXPECT_EQ(gpu().power, std::nullopt);
}

TEST(WatchAnswers, NameAGpusHolderOrWhyNoneIsKnown) {
  protocol::DiscoveryAnswer discovery;
  discovery.gpus.push_back({.id = 0, .name = "NVIDIA \x1b[2J A100"});
  protocol::Readings readings;
  readings.gpus.resize(2);
  readings.gpus[1].id = 1;
  protocol::LeaseList leases;
  leases.leases.push_back({.holder = {.token = "ann"}, .gpus = {{.id = 1}}});
  const auto devices = devices_of(readings, discovery, holders_of(leases), {});
  EXPECT_EQ(devices.at(0).device.name, "NVIDIA \\x1b[2J A100");
  EXPECT_EQ(devices.at(0).device.holder, std::nullopt);
  EXPECT_EQ(devices.at(0).device.holder_reason, "no process has a lease of it");
  EXPECT_EQ(devices.at(1).device.holder, "the token of ann");
  const auto unknown = devices_of(readings, discovery, Holders{.of = {}, .unknown = "it answers 403"}, {});
  EXPECT_EQ(unknown.at(1).device.holder_reason, "it answers 403");
}

TEST(WatchAnswers, ReportWhatIsMissingForAnUnreadableGpu) {
  protocol::DiscoveryAnswer discovery;
  discovery.gpus.push_back({.id = 3, .uuid = "GPU-3"});
  const auto devices = devices_of(protocol::Readings{}, discovery, {}, {{3, "its driver has not answered for 4 s"}});
  EXPECT_EQ(devices.at(0).device.uuid, "GPU-3");
  EXPECT_EQ(devices.at(0).device.power_reason, "its driver has not answered for 4 s");
}

TEST(WatchAnswers, GoAsFarAsTheExistingDaemonDoes) {
  protocol::DiscoveryAnswer discovery;
  discovery.gpus.push_back({.id = 0, .name = "A100"});
  discovery.cpus.push_back({.id = 0, .dram_available = true});
  ExistingAnswers answers;
  answers.power.emplace().power.of[0] = Watts{150};
  answers.energy.emplace().of[0].energy = Joules{500};
  answers.cpus.emplace().of[0] = {.package = protocol::WholeMicrojoules{Joules{20}}, .dram = std::nullopt};
  const auto devices = devices_of(answers, discovery, Instant{7});
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[0].device.power, Watts{150});
  EXPECT_EQ(devices[0].counter->value, Joules{500});
  EXPECT_EQ(devices[0].counter->at, Instant{7});
  EXPECT_EQ(devices[0].device.limit_reason, "it is not reported");
  EXPECT_EQ(devices[0].device.holder_reason, "this daemon knows no leases");
  EXPECT_EQ(devices[1].counter->value, Joules{20});
  EXPECT_EQ(devices[2].device.kind, DeviceKind::memory);
  EXPECT_FALSE(devices[2].counter);
}

}  // namespace
}  // namespace zeus::cli
