#include "drivers/nvml/call.hpp"

namespace zeus::drivers::nvml {

Code Api::code_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::uninitialized:
      return Code::uninitialized;
    case Refusal::invalid_argument:
      return Code::invalid_argument;
    case Refusal::not_supported:
      return Code::not_supported;
    case Refusal::no_permission:
      return Code::no_permission;
    case Refusal::not_found:
      return Code::not_found;
    case Refusal::timeout:
      return Code::timeout;
    case Refusal::lost:
      return Code::gpu_is_lost;
    case Refusal::memory:
      return Code::memory;
    case Refusal::unknown:
      break;
  }
  return Code::unknown;
}

std::int64_t stamp(const Session& session, Instant at) {
  return session.civil(at).microseconds_since_epoch;
}

Code give_text(std::string_view text, char* buffer, unsigned length) {
  if (text.size() >= length) {
    return Code::insufficient_size;
  }
  copy_text(text, buffer, length);
  return Code::success;
}

}  // namespace zeus::drivers::nvml
