// Sets the clocks of this machine's GPUs under leases, following a pipeline plan.
#include "control/lease.hpp"
#include "device/gpu.hpp"
#include "library/machine.hpp"
#include "pacing/clock_follower.hpp"

#include <zeus/error.hpp>
#include <zeus/pipeline.hpp>

#include <fmt/format.h>

#include <utility>

namespace zeus {

namespace {

// Without progress for this long, the clock is put back: longer than any computation or pause for a checkpoint.
constexpr Seconds lease_term{900};

class LeasedClock final : public pacing::DrivenClock {
 public:
  explicit LeasedClock(control::Lease lease) : lease_{std::move(lease)} {}

  void lock(Megahertz clock) override {
    lease_.lock_clocks(ClockDomain::graphics, {.minimum = clock, .maximum = clock});
  }
  [[nodiscard]] std::optional<Megahertz> running() override {
    const device::Clocks clocks = lease_.gpu().clocks();
    return clocks.sm ? std::optional{*clocks.sm} : std::nullopt;
  }
  void renew() override { lease_.renew(); }
  void put_back() override { lease_.release(); }

 private:
  control::Lease lease_;
};

std::unique_ptr<pacing::ClockFollower> follower_of(std::vector<PipelineInstruction> instructions,
                                                   const PipelineClocksOptions& options) {
  const library::Machine& machine = library::this_machine();
  if (options.gpu < 0 || static_cast<std::size_t>(options.gpu) >= machine.gpus.size()) {
    throw Error{ErrorKind::not_found, fmt::format("there is no GPU {}", options.gpu),
                fmt::format("{} can be seen here; `zeus devices` lists them", machine.gpus.size())};
  }
  const auto& gpu = *machine.gpus[static_cast<std::size_t>(options.gpu)].gpu;
  auto clock = std::make_unique<LeasedClock>(
      library::lease_book().acquire(gpu.identity().uuid, lease_term, {.of_lessor = control::LessorPatience::a_moment}));
  return std::make_unique<pacing::ClockFollower>(std::move(instructions), std::move(clock), machine.clock,
                                                 options.lead);
}

}  // namespace

PipelineClocks::PipelineClocks(std::vector<PipelineInstruction> instructions, const Options& options)
    : PipelineClocks{follower_of(std::move(instructions), options)} {
}

}  // namespace zeus
