#include "daemon/refused.hpp"

#include <fmt/format.h>

namespace zeus::daemon {

using protocol::Status;

Refused refused(const Error& error) {
  return {protocol::status_of(error.kind()), error.what()};
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
