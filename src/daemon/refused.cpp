#include "daemon/refused.hpp"

#include <fmt/format.h>

namespace zeus::daemon {

using protocol::Status;

Refused refused(const Error& error) {
  return {protocol::status_of(error.kind()), error.what()};
}

void refuse(service::Call& call, const Refusals& refusals) {
  protocol::NumberedErrors errors;
  for (const auto& [gpu, refused] : refusals) {
    errors.add(static_cast<std::uint32_t>(gpu), refused.status, refused.text);
  }
  call.refuse(errors.refusal());
}

void done_or_refuse(service::Call& call, const Refusals& refusals) {
  if (refusals.empty()) {
    call.done();
  } else {
    refuse(call, refusals);
  }
}

transport::Answer answer_of(const Error& error) {
  protocol::Refusal refusal = protocol::refusal(error);
  if (const auto* const own = dynamic_cast<const service::Refusal*>(&error)) {
    refusal.status = static_cast<Status>(own->status());
  }
  return service::answer_of(refusal);
}

std::optional<Refused> refusal_of(DeviceThread::End end, std::string_view device, const std::optional<Error>& error) {
  switch (end) {
    case DeviceThread::End::too_many:
      return Refused{Status::too_many, fmt::format("too many requests wait for {}", device)};
    case DeviceThread::End::late:
      return Refused{Status::timeout, fmt::format("{} has not answered in time; the call goes on", device)};
    case DeviceThread::End::stuck:
      return Refused{Status::stuck, fmt::format("{} does not answer: a call to its driver hangs", device)};
    case DeviceThread::End::abandoned:
      return Refused{Status::conflict, fmt::format("the lease of {} ended before its turn came", device)};
    case DeviceThread::End::done:
      break;
  }
  return error ? std::optional{refused(*error)} : std::nullopt;
}

}  // namespace zeus::daemon
