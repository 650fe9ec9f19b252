#include "control/guardian_process.hpp"

#include "control/guard_duty.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

namespace zeus::control {

GuardianProcess::GuardianProcess(Plan plan) : plan_{std::move(plan)} {
}

void GuardianProcess::watch() {
  const std::lock_guard guard{mutex_};
  if (companion_ && owner_ == ::getpid() && companion_->is_there()) {
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
    if (answer == guard_is_ready) {
      companion_ = std::move(started);
      owner_ = ::getpid();
      return;
    }
    started->kill();
  } catch (const Error&) {
    throw Error{ErrorKind::unavailable, "the guardian, which puts GPUs back when this process dies, cannot be started",
                "nothing is set without it; install Zeus completely, or name the program in ZEUS_GUARDIAN"};
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
