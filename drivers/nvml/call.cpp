#include "drivers/nvml/call.hpp"

#include <zeus/error.hpp>

#include <cstring>
#include <new>

namespace zeus::drivers::nvml {

std::optional<std::uint32_t> index_of(const Session& session, const Device* device) {
  const std::vector<std::uint32_t>& shown = session.shown_by(Vendor::nvidia);
  const std::optional<std::size_t> place = HandleTable<Device>::instance().place_of(device, shown.size());
  return place ? std::optional{shown[*place]} : std::nullopt;
}

std::optional<Return> struck(Session& session, std::string_view name, std::optional<std::uint32_t> gpu, Instant now) {
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
      return Return::no_permission;
    case FaultKind::unsupported:
      return Return::not_supported;
    case FaultKind::timeout:
      return Return::timeout;
    case FaultKind::lost:
      return Return::gpu_is_lost;
    default:
      return std::nullopt;
  }
}

Return return_of_exception() {
  try {
    throw;
  } catch (const Error& error) {
    switch (error.kind()) {
      case ErrorKind::invalid_argument:
        return Return::invalid_argument;
      case ErrorKind::permission_denied:
        return Return::no_permission;
      case ErrorKind::not_found:
        return Return::not_found;
      case ErrorKind::timeout:
        return Return::timeout;
      default:
        return Return::unknown;
    }
  } catch (const std::bad_alloc&) {
    return Return::memory;
  } catch (...) {
    return Return::unknown;
  }
}

std::int64_t stamp(const Session& session, Instant at) {
  return session.civil(at).microseconds_since_epoch;
}

Return give_text(std::string_view text, char* buffer, unsigned length) {
  if (text.size() >= length) {
    return Return::insufficient_size;
  }
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  return Return::success;
}

}  // namespace zeus::drivers::nvml
