// What every entry point does around its own work: refuses an uninitialised library and what is no handle, lets the
// faults of the session strike, turns what is thrown into a status code, and writes the call down. Any thread.
#pragma once

#include "drivers/amdsmi/abi.hpp"
#include "drivers/session/attachment.hpp"
#include "drivers/session/handle_table.hpp"
#include "physics/gpu.hpp"
#include "physics/sensors.hpp"

#include <optional>
#include <string_view>
#include <type_traits>

namespace zeus::drivers::amdsmi {

// What a call about one GPU works on.
struct Gpu {
  Session& session;
  std::uint32_t index = 0;
  Instant now;

  [[nodiscard]] physics::Gpu view() const { return session.gpu_at(index, now); }
  [[nodiscard]] const physics::GpuModel& model() const { return session.model(index); }
};

// Which GPU of the session a handle stands for; nothing for a pointer that is no handle.
std::optional<std::uint32_t> index_of(const Session& session, const void* handle);
// Nothing, or what the fault that strikes this call makes it return.
std::optional<Code> struck(Session& session, std::string_view name, std::optional<std::uint32_t> gpu, Instant now);
// Of the exception being handled.
Code code_of_exception();
// As much of a text as fits, with a zero behind.
void put_text(std::string_view text, char* buffer, std::size_t size);

template <typename Work>
  requires std::is_invocable_r_v<Code, Work, Session&>
Code system_call(std::string_view name, Work&& work) {
  const Attachment& attachment = Attachment::instance();
  Session* const session = attachment.session();
  if (session == nullptr) {
    return Code::not_initialised;
  }
  const Instant now = session->now();
  Code result = Code::unknown;
  try {
    const std::optional<Code> fault = struck(*session, name, std::nullopt, now);
    result = fault ? *fault : work(*session);
  } catch (...) {
    result = code_of_exception();
  }
  session->calls().add(name, now, attachment.process(), -1, static_cast<std::int32_t>(result));
  return result;
}

// `out` are the pointers that must not be null.
template <typename Work, typename... Out>
  requires std::is_invocable_r_v<Code, Work, const Gpu&>
Code gpu_call(std::string_view name, const Processor* processor, Work&& work, const Out*... out) {
  const Attachment& attachment = Attachment::instance();
  Session* const session = attachment.session();
  if (session == nullptr) {
    return Code::not_initialised;
  }
  const Instant now = session->now();
  const std::optional<std::uint32_t> index = index_of(*session, processor);
  Code result = Code::invalid_argument;
  if (index && (true && ... && (out != nullptr))) {
    try {
      const std::optional<Code> fault = struck(*session, name, index, now);
      result = fault ? *fault : work(Gpu{*session, *index, now});
    } catch (...) {
      result = code_of_exception();
    }
  }
  session->calls().add(name, now, attachment.process(), index ? static_cast<std::int32_t>(*index) : -1,
                       static_cast<std::int32_t>(result));
  return result;
}

}  // namespace zeus::drivers::amdsmi
