#include "drivers/session/zeus_virtual.h"

#include "base/file_tree.hpp"
#include "drivers/session/attachment.hpp"
#include "drivers/session/fault.hpp"
#include "drivers/session/load_plan.hpp"

#include <zeus/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <vector>

namespace zeus::drivers {

namespace {

thread_local std::string last_error;

int fail(int code, std::string why) {
  last_error = std::move(why);
  return code;
}

template <typename Work>
int with_session(Work&& work) {
  try {
    Session* const session = Attachment::instance().attached();
    if (session == nullptr) {
      return fail(ZEUS_VIRTUAL_NO_SESSION, "this process has no session of virtual GPUs; start it with `zeus virtual`");
    }
    last_error.clear();
    work(*session);
    return ZEUS_VIRTUAL_OK;
  } catch (const Error& error) {
    return fail(error.kind() == ErrorKind::invalid_argument ? ZEUS_VIRTUAL_INVALID : ZEUS_VIRTUAL_FAILED, error.what());
  } catch (const std::exception& error) {
    return fail(ZEUS_VIRTUAL_FAILED, error.what());
  }
}

void check(bool fine, const char* what) {
  if (!fine) {
    throw Error{ErrorKind::invalid_argument, what};
  }
}

void submit(Session& session, std::uint32_t gpu, std::string_view text) {
  check(gpu == ZEUS_VIRTUAL_ALL_GPUS || gpu < session.gpu_count(), "there is no such virtual GPU");
  const LoadPlan plan = LoadPlan::without_file(text);
  const Instant now = session.now();
  for (std::uint32_t index = 0; index < session.gpu_count(); ++index) {
    if (gpu == ZEUS_VIRTUAL_ALL_GPUS || gpu == index) {
      session.set_load(index, plan.load(session.model(index), now), ::getpid());
    }
  }
}

double seconds_of(Instant at) {
  return (at - Instant{}).value();
}

zeus_virtual_truth truth_of(const Session& session, std::uint32_t gpu) {
  const Instant now = session.now();
  const physics::Gpu view = session.gpu_at(gpu, now);
  const physics::Totals totals = view.totals(now);
  const physics::OperatingPoint point = view.operating_point(now);
  return {.time_s = seconds_of(now),
          .energy_j = totals.energy.value(),
          .power_w = point.power.value(),
          .work_s = totals.work.value(),
          .speed = point.speed,
          .clock_mhz = point.sm_clock.value(),
          .temperature_c = view.temperature(now).value()};
}

zeus_virtual_call call_of(const CallRecord& record) {
  zeus_virtual_call call{.number = record.number,
                         .time_s = seconds_of(record.at),
                         .process = record.process,
                         .gpu = record.gpu,
                         .result = record.result,
                         .entry_point = {}};
  record.entry_point.copy(call.entry_point, sizeof(call.entry_point) - 1);
  return call;
}

}  // namespace

}  // namespace zeus::drivers

using zeus::drivers::Session;

int zeus_virtual_gpu_count(unsigned* count) {
  return zeus::drivers::with_session([&](const Session& session) {
    zeus::drivers::check(count != nullptr, "the pointer for the count is null");
    *count = session.gpu_count();
  });
}

int zeus_virtual_submit_load(unsigned gpu, const char* load) {
  return zeus::drivers::with_session([&](Session& session) {
    zeus::drivers::check(load != nullptr, "the load is null");
    zeus::drivers::submit(session, gpu, load);
  });
}

int zeus_virtual_read_truth(unsigned gpu, struct zeus_virtual_truth* truth) {
  return zeus::drivers::with_session([&](const Session& session) {
    zeus::drivers::check(gpu < session.gpu_count() && truth != nullptr, "there is no such virtual GPU");
    *truth = zeus::drivers::truth_of(session, gpu);
  });
}

int zeus_virtual_read_energy(unsigned gpu, double time_s, double* energy_j) {
  return zeus::drivers::with_session([&](const Session& session) {
    using zeus::Instant;
    zeus::drivers::check(gpu < session.gpu_count() && energy_j != nullptr, "there is no such virtual GPU");
    const Instant now = session.now();
    const double ago = zeus::drivers::seconds_of(now) - time_s;
    zeus::drivers::check(ago >= 0 && ago <= 60, "only the last minute is remembered");
    *energy_j = session.gpu_at(gpu, now).energy(Instant{std::llround(time_s * 1e9)}).value();
  });
}

int zeus_virtual_add_fault(const char* line) {
  return zeus::drivers::with_session([&](Session& session) {
    zeus::drivers::check(line != nullptr, "the fault is null");
    if (std::optional<zeus::drivers::Fault> fault = zeus::drivers::parse_fault(line)) {
      if (fault->from == zeus::Seconds{0}) {
        fault->from = session.since_start(session.now());
      }
      session.add_fault(*fault);
    }
  });
}

int zeus_virtual_clear_faults() {
  return zeus::drivers::with_session([](Session& session) { session.clear_faults(); });
}

int zeus_virtual_advance_clock(double seconds) {
  return zeus::drivers::with_session([&](Session& session) { session.advance_clock(zeus::Seconds{seconds}); });
}

int zeus_virtual_run_clock(int running) {
  return zeus::drivers::with_session([&](Session& session) { session.set_clock_running(running != 0); });
}

int zeus_virtual_read_calls(uint64_t first, struct zeus_virtual_call* calls, unsigned* count) {
  return zeus::drivers::with_session([&](const Session& session) {
    zeus::drivers::check(count != nullptr && (calls != nullptr || *count == 0), "the pointer for the calls is null");
    const std::vector<zeus::drivers::CallRecord> records = session.calls().since(first);
    *count = static_cast<unsigned>(std::min<std::size_t>(*count, records.size()));
    std::transform(records.begin(), records.begin() + *count, calls, zeus::drivers::call_of);
  });
}

const char* zeus_virtual_last_error() {
  return zeus::drivers::last_error.c_str();
}
