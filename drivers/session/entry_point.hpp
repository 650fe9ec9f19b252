// What every vendor's entry points do around their own work: they refuse calls to an uninitialised library and invalid
// handles, apply the faults of the session, turn exceptions into codes, and log the call. In a forked child the library
// is not initialised (Attachment). Any thread; no exception reaches the client.
//
// An Api is what differs between vendors:
//   Code: the type that entry points return, with Code::success;
//   Handle: what a client's handle of a GPU points to;
//   vendor: whose GPUs the library shows;
//   code_of(Refusal): the code for a refusal.
#pragma once

#include "drivers/session/attachment.hpp"
#include "drivers/session/handle_table.hpp"
#include "physics/gpu.hpp"
#include "physics/sensors.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace zeus::drivers {

// The arguments of a call about one GPU.
struct Gpu {
  Session& session;
  std::uint32_t index = 0;
  Instant now;

  [[nodiscard]] physics::Gpu view() const { return session.gpu_at(index, now); }
  [[nodiscard]] const physics::GpuModel& model() const { return session.model(index); }

  // `limit` is within what the model allows; a fault may enforce less.
  void set_limit(Watts limit) const;
  // False, and without effect, if no clock of the model is in the range.
  [[nodiscard]] bool lock_clocks(Megahertz low, Megahertz high) const;
  void unlock_clocks() const;
};

// Why a call is refused, before it becomes a vendor's code.
enum class Refusal {
  uninitialized,
  invalid_argument,
  not_supported,
  no_permission,
  not_found,
  timeout,
  lost,
  memory,
  unknown
};

// The refusal by the fault that hits this call, after the delay of that fault; nothing if no fault hits it, or if the
// fault only delays.
std::optional<Refusal> struck(Session& session, std::string_view name, std::optional<std::uint32_t> gpu, Instant now);
// For the exception being handled.
Refusal refusal_of_exception();

// Copies as much of a string as fits, with its zero byte. `size` is at least 1.
void copy_text(std::string_view text, char* buffer, std::size_t size);
// Rounded, and held between 0 and 100.
unsigned percent(double share);

template <typename Api>
class EntryPoint {
 public:
  using Code = typename Api::Code;
  using Handle = typename Api::Handle;

  // An entry point that is about no particular GPU: work(session, now).
  template <typename Work>
    requires std::is_invocable_r_v<Code, Work, Session&, Instant>
  static Code system_call(std::string_view name, Work&& work) {
    Session* const session = Attachment::instance().session();
    if (session == nullptr) {
      return Api::code_of(Refusal::uninitialized);
    }
    const Instant now = session->now();
    return logged(*session, name, std::nullopt, now,
                  guarded(*session, name, std::nullopt, now, [&] { return work(*session, now); }));
  }

  // An entry point about the GPU of a handle: work(gpu). `out` are the pointers that must not be null.
  template <typename Work, typename... Out>
    requires std::is_invocable_r_v<Code, Work, const Gpu&>
  static Code gpu_call(std::string_view name, const Handle* handle, Work&& work, const Out*... out) {
    Session* const session = Attachment::instance().session();
    if (session == nullptr) {
      return Api::code_of(Refusal::uninitialized);
    }
    const Instant now = session->now();
    const std::vector<std::uint32_t>& shown = session->shown_by(Api::vendor);
    const std::optional<std::size_t> place = HandleTable<Handle>::instance().place_of(handle, shown.size());
    const std::optional<std::uint32_t> index = place ? std::optional{shown[*place]} : std::nullopt;
    if (!index || !(true && ... && (out != nullptr))) {
      return logged(*session, name, index, now, Api::code_of(Refusal::invalid_argument));
    }
    return logged(*session, name, index, now, guarded(*session, name, index, now, [&] {
      return work(Gpu{*session, *index, now});
    }));
  }

  // An entry point that virtual GPUs do not support; answers as a GPU without the feature does.
  static Code refuse(std::string_view name) {
    return system_call(name, [](Session&, Instant) { return Api::code_of(Refusal::not_supported); });
  }

  // The handle of a GPU of the session, unless a fault hits the entry point `name` that asks for it.
  static Code give_handle(Session& session, std::uint32_t index, Instant now, std::string_view name, Handle** handle) {
    if (const std::optional<Refusal> refusal = struck(session, name, index, now)) {
      return Api::code_of(*refusal);
    }
    *handle = HandleTable<Handle>::instance().at(session.place(index));
    return Code::success;
  }

 private:
  template <typename Work>
  static Code guarded(Session& session, std::string_view name, std::optional<std::uint32_t> gpu, Instant now,
                      Work&& work) {
    try {
      const std::optional<Refusal> refusal = struck(session, name, gpu, now);
      return refusal ? Api::code_of(*refusal) : work();
    } catch (...) {
      return Api::code_of(refusal_of_exception());
    }
  }

  static Code logged(const Session& session, std::string_view name, std::optional<std::uint32_t> gpu, Instant now,
                     Code result) {
    session.calls().add(name, now, Attachment::instance().process(), gpu ? static_cast<std::int32_t>(*gpu) : -1,
                        static_cast<std::int32_t>(result));
    return result;
  }
};

}  // namespace zeus::drivers
