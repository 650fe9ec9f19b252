#include "drivers/session/truth_recorder.hpp"

#include "drivers/session/gpu_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

namespace zeus::drivers {
namespace {

using namespace zeus::literals;

TEST(TruthRecorder, WritesEveryChangeOfTheTrueEnergy) {
  VirtualClock clock{Instant{10'000'000'000}};
  Session session =
      Session::create({.gpus = parse_gpus("1xV100"), .spec = "1xV100", .name = {}, .table = {}, .faults = {}}, clock);
  TruthRecorder recorder{session};
  clock.advance(0.5_s);
  session.set_load(
      0, physics::Load::square(physics::Demand::of_power(80_W), physics::Demand::of_power(240_W), 0.2_s, session.now()),
      ::getpid());
  clock.advance(0.25_s);
  recorder.record();
  recorder.record();
  // 12.5 J idle at 25 W, then 8 J in the low half, 24 J in the high one, and 4 J in a quarter of the next.
  EXPECT_EQ(recorder.json(), R"({"gpus":[{"index":0,"energy_j":[[10.000000000,0.000000],[10.500000000,12.500000],)"
                             R"([10.600000000,20.500000],[10.700000000,44.500000],[10.750000000,48.500000]]}]})"
                             "\n");
}

TEST(TruthRecorder, ListsEveryGpu) {
  const VirtualClock clock{Instant{1'000'000'000}};
  const Session session =
      Session::create({.gpus = parse_gpus("2xA100"), .spec = "2xA100", .name = {}, .table = {}, .faults = {}}, clock);
  const TruthRecorder recorder{session};
  EXPECT_EQ(recorder.json(),
            "{\"gpus\":[{\"index\":0,\"energy_j\":[[1.000000000,0.000000]]},"
            "{\"index\":1,\"energy_j\":[[1.000000000,0.000000]]}]}\n");
}

}  // namespace
}  // namespace zeus::drivers
