#include "drivers/amdsmi/call.hpp"

namespace zeus::drivers::amdsmi {

Code Api::code_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::uninitialized:
      return Code::not_initialised;
    case Refusal::invalid_argument:
      return Code::invalid_argument;
    case Refusal::not_supported:
      return Code::not_supported;
    case Refusal::no_permission:
      return Code::no_permission;
    case Refusal::not_found:
    case Refusal::lost:
      return Code::not_found;
    case Refusal::timeout:
      return Code::timeout;
    case Refusal::memory:
      return Code::memory;
    case Refusal::unknown:
      break;
  }
  return Code::unknown;
}

}  // namespace zeus::drivers::amdsmi
