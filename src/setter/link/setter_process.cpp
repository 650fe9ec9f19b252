#include "setter/link/setter_process.hpp"

#include "setter/link/messages.hpp"
#include "setter/link/remote_seat.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace zeus::setter {

namespace fs = std::filesystem;

namespace {

fs::path find_setter(const fs::path& beside, const std::string& name) {
  std::vector<std::string> tried;
  for (const fs::path& place : {beside / name, beside / "../libexec/zeus" / name}) {
    fs::path candidate = place.lexically_normal();
    if (::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    tried.push_back(candidate.string());
  }
  throw Error{ErrorKind::not_found,
              fmt::format("the setter, which sets GPUs for zeusd, is not installed (tried {})", fmt::join(tried, ", ")),
              "install zeusd completely"};
}

constexpr Seconds time_for_last_words{5.0};

}  // namespace

SetterProcess::SetterProcess(const fs::path& beside, const SetterPlan& plan) {
  const fs::path program = find_setter(beside, plan.commands ? "zeus_command_setter" : "zeus_setter");
  std::vector<std::string> arguments{plan.gpu_backend, plan.sets ? "sets" : "reads", plan.logs_all ? "debug" : "info",
                                     plan.audit_log.value_or("")};
  if (plan.commands) {
    arguments.push_back(*plan.commands);
  }
  std::array<Channel, 2> ends = Channel::pair();
  channel_ = std::move(ends[0]);
  child_ = std::make_unique<SocketChild>(program, arguments, ends[1].socket());
}

std::vector<SetterProcess::Gpu> SetterProcess::take_gpus() {
  std::vector<Gpu> gpus;
  while (true) {
    Greeting greeting;
    FileDescriptor with;
    const std::optional<std::size_t> size = channel_.receive(std::as_writable_bytes(std::span{&greeting, 1}), &with);
    if (size != sizeof greeting || !is_valid(greeting) || (greeting.kind != GreetingKind::failed && !with)) {
      // Its end of the socket may be closed before it has said why.
      static_cast<void>(end(time_for_last_words));
      throw Error{ErrorKind::unavailable, "the setter, which sets GPUs for zeusd, ended before it was ready",
                  "its last words are above"};
    }
    if (greeting.kind == GreetingKind::failed) {
      throw Error{error_from(greeting.error).value_or(Error{ErrorKind::internal, "the setter cannot work"})};
    }
    if (greeting.kind == GreetingKind::ready) {
      audit_ = std::make_shared<RemoteAudit>(Channel{std::move(with)});
      return gpus;
    }
    gpus.push_back(
        {greeting.uuid.text(), std::make_shared<RemoteSeat>(Channel{std::move(with)}, Seconds{greeting.longest})});
  }
}

bool SetterProcess::end(Seconds patience) {
  audit_.reset();
  channel_.end();
  return child_->wait(patience);
}

}  // namespace zeus::setter
