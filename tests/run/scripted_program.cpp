#include "tests/run/scripted_program.hpp"

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "base/holder.hpp"
#include "drivers/session/session.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>

namespace zeus::truth {

namespace {

// A limit may change meanwhile.
constexpr Seconds longest_sleep{0.01};

volatile std::sig_atomic_t told_to_end = 0;

void print(std::size_t stream, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(stream == 0 ? STDOUT_FILENO : STDERR_FILENO, bytes.data(), bytes.size());
    if (written <= 0) {
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Its start-up begins with the process, before this point.
Instant began(Instant now) {
  const auto ticks = static_cast<double>(find_holder(FileTree{}, ::getpid()).value().started);
  return std::min(now, Instant{} + Seconds{(ticks + 0.5) / static_cast<double>(::sysconf(_SC_CLK_TCK))});
}

ScriptedTraining::Gpu first_gpu(drivers::Session& session) {
  return {
      .load = [&](const physics::Demand& demand) { session.set_load(0, physics::Load::constant(demand), ::getpid()); },
      .work = [&] { return session.gpu(0).totals(session.now()).work.value(); },
      .speed = [&] { return session.gpu(0).operating_point(session.now()).speed; },
      .energy = [&](Instant at) { return session.gpu(0).energy(at); }};
}

std::size_t arm_of(const Script& script, std::string_view batch_size) {
  const auto has_it = [&](const Arm& arm) { return fmt::format("{}", arm.batch_size) == batch_size; };
  return batch_size.empty() ? script.usual
                            : static_cast<std::size_t>(std::ranges::find_if(script.arms, has_it) - script.arms.begin());
}

}  // namespace

int train_in_real_time(const Script& script, const std::filesystem::path& took, std::string_view batch_size) {
  (void)std::signal(SIGTERM, [](int) { told_to_end = 1; });
  SystemClock clock;
  const Environment environment = Environment::of_process();
  drivers::Session session =
      drivers::Session::attach(environment.get(drivers::session_variable).value(), clock).value();
  // Each run has its own random draws.
  Random draws{script.seed, 4 + read_took(took).size()};
  const Instant now = clock.now();
  ScriptedTraining training{script,
                            arm_of(script, batch_size),
                            draws,
                            first_gpu(session),
                            printing(print),
                            [&](const Took& one) {
                              std::ofstream{took, std::ios::app}
                                  << fmt::format("{} {} {} {} {} {}\n", one.arm, one.epochs, one.whole ? 1 : 0,
                                                 one.cost.energy.value(), one.cost.time.value(), one.late.value());
                            },
                            began(now),
                            now};
  while (!training.is_over() && told_to_end == 0) {
    clock.sleep_until(std::min(training.next(), clock.now() + longest_sleep));
    training.live(clock.now());
  }
  training.end();
  return told_to_end == 0 ? 0 : ended_by_signal;
}

std::vector<Took> read_took(const std::filesystem::path& took) {
  std::vector<Took> all;
  std::ifstream file{took};
  Took one;
  double energy = 0.0;
  double time = 0.0;
  double late = 0.0;
  while (file >> one.arm >> one.epochs >> one.whole >> energy >> time >> late) {
    one.cost = {.energy = Joules{energy}, .time = Seconds{time}};
    one.late = Seconds{late};
    all.push_back(one);
  }
  return all;
}

}  // namespace zeus::truth
