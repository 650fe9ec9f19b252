#include "control/guardian_process.hpp"

#include "control/guard_duty.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace zeus::control {

GuardianProcess::GuardianProcess(Plan plan) : plan_{std::move(plan)} {
}

void GuardianProcess::watch(const std::string& gpu) {
  const std::lock_guard guard{mutex_};
  // A GPU that it does not see may have come since.
  if (companion_ && owner_ == ::getpid() && companion_->is_there() && seen_.contains(gpu)) {
    return;
  }
  companion_.reset();
  const Holder me = this_holder(plan_.machine);
  std::optional<std::string> answer;
  try {
    auto started = std::make_unique<CompanionProcess>(
        plan_.program, std::vector<std::string>{std::filesystem::absolute(plan_.folder).string(),
                                                std::to_string(me.pid), std::to_string(me.started)});
    answer = started->read_line(plan_.patience);
    if (answer && (answer == guard_is_ready || answer->starts_with(std::string{guard_is_ready} + ' '))) {
      std::istringstream words{answer->substr(guard_is_ready.size())};
      seen_ = {std::istream_iterator<std::string>{words}, {}};
      companion_ = std::move(started);
      owner_ = ::getpid();
    } else {
      started->kill();
    }
  } catch (const Error&) {
    throw Error{ErrorKind::unavailable, "the guardian, which puts GPUs back when this process dies, cannot be started",
                "nothing is set without it; install Zeus completely, or name the program in ZEUS_GUARDIAN"};
  }
  if (companion_ && seen_.contains(gpu)) {
    return;
  }
  if (companion_) {
    throw Error{ErrorKind::unavailable,
                fmt::format("the guardian {}, which puts GPUs back when this process dies, does not see {}",
                            plan_.program.string(), gpu),
                "nothing is set without it; in `zeus virtual`, add --shared"};
  }
  throw Error{ErrorKind::unavailable,
              fmt::format("the guardian {}, which puts GPUs back when this process dies, did not become ready: {}",
                          plan_.program.string(), answer.value_or("it ended, or hangs in the driver")),
              "nothing is set without it; `zeus doctor` shows what works here"};
}

void GuardianProcess::notice() noexcept {
  const std::lock_guard guard{mutex_};
  if (companion_ && owner_ == ::getpid()) {
    companion_->nudge();
  }
}

}  // namespace zeus::control
