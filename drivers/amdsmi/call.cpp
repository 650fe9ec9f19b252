#include "drivers/amdsmi/call.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace zeus::drivers::amdsmi {

std::optional<std::uint32_t> index_of(const Session& session, const void* handle) {
  const std::vector<std::uint32_t>& shown = session.shown_by(Vendor::amd);
  const std::optional<std::size_t> place = HandleTable<Processor>::instance().place_of(handle, shown.size());
  return place ? std::optional{shown[*place]} : std::nullopt;
}

std::optional<Code> struck(Session& session, std::string_view name, std::optional<std::uint32_t> gpu, Instant now) {
  const std::optional<Fault> fault = session.strike(name, gpu, now);
  if (!fault) {
    return std::nullopt;
  }
  if (fault->delay > Seconds{0}) {
    SystemClock& clock = Attachment::instance().clock();
    clock.sleep_until(clock.now() + fault->delay);
  }
  switch (fault->kind) {
    case FaultKind::permission:
      return Code::no_permission;
    case FaultKind::unsupported:
      return Code::not_supported;
    case FaultKind::timeout:
      return Code::timeout;
    case FaultKind::lost:
      return Code::not_found;
    default:
      return std::nullopt;
  }
}

Code code_of_exception() {
  try {
    throw;
  } catch (const Error& error) {
    switch (error.kind()) {
      case ErrorKind::invalid_argument:
        return Code::invalid_argument;
      case ErrorKind::permission_denied:
        return Code::no_permission;
      case ErrorKind::timeout:
        return Code::timeout;
      default:
        return Code::unknown;
    }
  } catch (const std::bad_alloc&) {
    return Code::memory;
  } catch (...) {
    return Code::unknown;
  }
}

void put_text(std::string_view text, char* buffer, std::size_t size) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(buffer, text.data(), length);
  buffer[length] = '\0';
}

}  // namespace zeus::drivers::amdsmi
