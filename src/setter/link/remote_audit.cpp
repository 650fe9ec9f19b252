#include "setter/link/remote_audit.hpp"

#include "setter/link/messages.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace zeus::setter {

void RemoteAudit::write_refusal(RefusedCall call) {
  const std::uint64_t dropped = dropped_;
  if (dropped > 0) {
    call.outcome += fmt::format(" (after {} that are not written)", dropped);
  }
  if (channel_.send_if_room(bytes_of(wire_refusal(call)))) {
    dropped_ -= dropped;
  } else {
    ++dropped_;
  }
}

void RemoteAudit::reopen() {
  const std::lock_guard lock{mutex_};
  WireError answer;
  if (channel_.send(bytes_of(AuditRequest{.kind = AuditKind::reopen})) &&
      channel_.receive(std::as_writable_bytes(std::span{&answer, 1})) == sizeof answer && is_valid(answer)) {
    if (const std::optional<Error> error = error_from(answer)) {
      throw Error{*error};
    }
    return;
  }
  throw Error{ErrorKind::unavailable, "the setter, which writes the audit log of zeusd, has ended"};
}

}  // namespace zeus::setter
