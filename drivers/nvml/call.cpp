#include "drivers/nvml/call.hpp"

namespace zeus::drivers::nvml {

Return Api::code_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::uninitialized:
      return Return::uninitialized;
    case Refusal::invalid_argument:
      return Return::invalid_argument;
    case Refusal::not_supported:
      return Return::not_supported;
    case Refusal::no_permission:
      return Return::no_permission;
    case Refusal::not_found:
      return Return::not_found;
    case Refusal::timeout:
      return Return::timeout;
    case Refusal::lost:
      return Return::gpu_is_lost;
    case Refusal::memory:
      return Return::memory;
    case Refusal::unknown:
      break;
  }
  return Return::unknown;
}

std::int64_t stamp(const Session& session, Instant at) {
  return session.civil(at).microseconds_since_epoch;
}

Return give_text(std::string_view text, char* buffer, unsigned length) {
  if (text.size() >= length) {
    return Return::insufficient_size;
  }
  copy_text(text, buffer, length);
  return Return::success;
}

}  // namespace zeus::drivers::nvml
