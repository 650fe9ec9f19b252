// A process that is killed anywhere inside a call leaves the session either as before that call or as after it.

#include "base/random.hpp"
#include "drivers/session/forked_child.hpp"
#include "drivers/session/gpu_spec.hpp"
#include "drivers/session/session.hpp"

#include <gtest/gtest.h>

namespace zeus::drivers {
namespace {

using namespace zeus::literals;

constexpr int kills = 1000;
constexpr std::uint64_t longest_life_us = 1500;

// True after every call: each call sets values that belong together.
bool whole(const Session& session) {
  const physics::Controls controls = session.gpu(0).controls();
  const GpuSettings settings = session.settings(0);
  const bool fresh = controls.ceiling == session.model(0).limits.max && !controls.clocks_locked;
  return (fresh || (controls.requested_limit == controls.ceiling && controls.lock_min == controls.lock_max &&
                    controls.lock_min.value() == controls.ceiling.value() + 500)) &&
         settings.persistence == settings.compute_mode && settings.memory_lock_min == settings.persistence + 7;
}

[[noreturn]] void work_until_killed(Session& session, std::uint64_t seed) {
  Random random{seed};
  while (true) {
    const double value = 100.0 + static_cast<double>(random.below(100));
    const auto mode = static_cast<std::uint32_t>(random.below(1000));
    session.change_controls(0, [&](physics::Controls& controls) {
      controls = {.requested_limit = Watts{value},
                  .ceiling = Watts{value},
                  .clocks_locked = true,
                  .lock_min = Megahertz{value + 500},
                  .lock_max = Megahertz{value + 500}};
    });
    session.change_settings(0, [&](GpuSettings& settings) {
      settings = {.persistence = mode, .compute_mode = mode, .memory_lock_min = mode + 7};
    });
    session.set_load(0,
                     physics::Load::square(physics::Demand::of_power(80_W), physics::Demand::of_power(Watts{value}),
                                           Seconds{0.01}, session.now()),
                     ::getpid());
    (void)session.counter(0, session.now());
    session.calls().add("call", session.now(), 1, 0, 0);
  }
}

TEST(SessionKill, AThousandKillsInsideCallsLeaveItWhole) {
  const SystemClock clock;
  Session session =
      Session::create({.gpus = parse_gpus("1xV100"), .spec = "1xV100", .name = {}, .table = {}, .faults = {}}, clock);
  session.change_settings(0, [](GpuSettings& settings) { settings.memory_lock_min = 7; });
  Random random{1};
  Joules last;
  Instant before = session.now();
  int written = 0;
  // With few writes, the kills would have interrupted nothing: on a busy machine it takes more of them.
  const Instant until = clock.now() + 60_s;
  for (int kill = 0; kill < kills || (written <= kills / 10 && clock.now() < until); ++kill) {
    const std::uint64_t calls = session.calls().count();
    ForkedChild child{[&]() -> bool { work_until_killed(session, static_cast<std::uint64_t>(kill)); }};
    ::usleep(static_cast<useconds_t>(random.below(longest_life_us)));
    child.kill();
    written += session.calls().count() > calls ? 1 : 0;
    const Instant now = session.now();
    const physics::Gpu gpu = session.gpu_at(0, now);
    ASSERT_TRUE(whole(session)) << "after kill " << kill;
    const Joules energy = gpu.energy(now);
    ASSERT_GE(energy, last) << "after kill " << kill;
    ASSERT_LE(energy, last + (now - before) * 1000_W) << "after kill " << kill;
    last = energy;
    before = now;
    session.change_controls(0, [](physics::Controls& controls) {
      controls = {
          .requested_limit = 200_W, .ceiling = 200_W, .clocks_locked = true, .lock_min = 700_MHz, .lock_max = 700_MHz};
    });
    ASSERT_EQ(session.gpu(0).controls().requested_limit, 200_W) << "after kill " << kill;
  }
  EXPECT_GT(written, kills / 10);
}

TEST(SessionKill, AHolderOfTheLockThatIsKilledPassesItOn) {
  const SystemClock clock;
  Session session =
      Session::create({.gpus = parse_gpus("1xV100"), .spec = "1xV100", .name = {}, .table = {}, .faults = {}}, clock);
  ForkedChild child{[&] {
    session.change_controls(0, [](physics::Controls&) { ::kill(::getpid(), SIGKILL); });
    return true;
  }};
  EXPECT_FALSE(child.well());
  session.change_controls(0, [](physics::Controls& controls) { controls.requested_limit = 123_W; });
  EXPECT_EQ(session.gpu(0).controls().requested_limit, 123_W);
}

}  // namespace
}  // namespace zeus::drivers
