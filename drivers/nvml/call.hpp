// What every entry point does around its own work: refuses an uninitialised library and what is no handle, lets the
// faults of the session strike, turns what is thrown into a return code, and writes the call down. Any thread.
#pragma once

#include "drivers/nvml/abi.hpp"
#include "drivers/session/attachment.hpp"
#include "drivers/session/handle_table.hpp"
#include "physics/gpu.hpp"
#include "physics/sensors.hpp"

#include <concepts>
#include <optional>
#include <string_view>

namespace zeus::drivers::nvml {

// What a call about one GPU works on.
struct Gpu {
  Session& session;
  std::uint32_t index = 0;
  Instant now;

  [[nodiscard]] physics::Gpu view() const { return session.gpu_at(index, now); }
  [[nodiscard]] const physics::GpuModel& model() const { return session.model(index); }
};

// Which GPU of the session a handle stands for; nothing for a pointer that is no handle.
std::optional<std::uint32_t> index_of(const Session& session, const Device* device);
// Nothing, or what the fault that strikes this call makes it return.
std::optional<Return> struck(Session& session, std::string_view name, std::optional<std::uint32_t> gpu, Instant now);
// Of the exception being handled.
Return return_of_exception();
// Microseconds since 1970 on the session's clock.
std::int64_t stamp(const Session& session, Instant at);

// Copies a text with its zero, as far as the client's buffer takes it.
Return give_text(std::string_view text, char* buffer, unsigned length);

template <typename T>
Return give(T* out, T value) {
  *out = value;
  return Return::success;
}

template <typename Work>
  requires std::is_invocable_r_v<Return, Work, Session&, Instant>
Return system_call(std::string_view name, Work&& work) {
  const Attachment& attachment = Attachment::instance();
  Session* const session = attachment.session();
  if (session == nullptr) {
    return Return::uninitialized;
  }
  const Instant now = session->now();
  Return result = Return::unknown;
  try {
    const std::optional<Return> fault = struck(*session, name, std::nullopt, now);
    result = fault ? *fault : work(*session, now);
  } catch (...) {
    result = return_of_exception();
  }
  session->calls().add(name, now, attachment.process(), -1, static_cast<std::int32_t>(result));
  return result;
}

// `out` are the pointers that must not be null.
template <typename Work, typename... Out>
  requires std::is_invocable_r_v<Return, Work, const Gpu&>
Return device_call(std::string_view name, const Device* device, Work&& work, const Out*... out) {
  const Attachment& attachment = Attachment::instance();
  Session* const session = attachment.session();
  if (session == nullptr) {
    return Return::uninitialized;
  }
  const Instant now = session->now();
  const std::optional<std::uint32_t> index = index_of(*session, device);
  Return result = Return::invalid_argument;
  if (index && (true && ... && (out != nullptr))) {
    try {
      const std::optional<Return> fault = struck(*session, name, index, now);
      result = fault ? *fault : work(Gpu{*session, *index, now});
    } catch (...) {
      result = return_of_exception();
    }
  }
  session->calls().add(name, now, attachment.process(), index ? static_cast<std::int32_t>(*index) : -1,
                       static_cast<std::int32_t>(result));
  return result;
}

}  // namespace zeus::drivers::nvml
