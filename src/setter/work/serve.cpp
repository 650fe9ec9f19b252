#include "setter/work/serve.hpp"

#include "base/inherited_socket.hpp"
#include "base/log.hpp"
#include "base/log_writer.hpp"
#include "base/privileges.hpp"
#include "base/program_folder.hpp"
#include "control/open_lease_book.hpp"
#include "control/state_folder.hpp"
#include "device/inventory.hpp"
#include "setter/link/absent_gpu.hpp"
#include "setter/work/audit_log.hpp"

#include <zeus/error.hpp>

#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace zeus::setter {

namespace {

// zeusd may have waited before; the guardian does what takes longer.
constexpr Seconds patience_with_drivers{4};

void give_up_rights(bool sets) {
  std::vector<int> kept;
  if (sets) {
    kept.push_back(CAP_SYS_ADMIN);
  }
  keep_capabilities(kept);
  forbid_core_dumps();
}

void serve_audit(const std::shared_ptr<AuditLog>& log, const Channel& channel) {
  AuditRequest request;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span{&request, 1});
  while (channel.receive(bytes) == sizeof request && is_valid(request)) {
    if (request.kind == AuditKind::refusal) {
      const RefusedCall call = refusal_from(request);
      if (log) {
        log->write_refusal({.gpu = {},
                            .why = "refused",
                            .who = call.who,
                            .what = call.what,
                            .before = {},
                            .asked = call.asked,
                            .enforced = {},
                            .outcome = call.outcome});
      }
      continue;
    }
    std::optional<Error> error;
    try {
      if (log) {
        log->reopen();
      }
    } catch (const Error& failed) {
      error = failed;
    }
    if (!channel.send(bytes_of(wire_error(error)))) {
      return;
    }
  }
}

std::vector<device::DiscoveredGpu> find_gpus(const std::string& chosen, const Duty& duty) {
  std::vector<device::Backend*> backends;
  std::ranges::copy_if(duty.backends, std::back_inserter(backends),
                       [&](const device::Backend* backend) { return chosen == "auto" || backend->name() == chosen; });
  // Numbers are the machine's own, whatever the environment says. zeusd finds the same, and reports the problems.
  std::vector<device::DiscoveredGpu> gpus = with_absent_gpus(device::take_inventory(backends, Environment{}).gpus);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].number = static_cast<int>(i);
  }
  if (duty.set_by_commands) {
    duty.set_by_commands(gpus);
  }
  return gpus;
}

// What the threads work with. Each of them owns it: one that hangs in a driver cannot be ended.
struct Workplace {
  std::shared_ptr<AuditLog> audit;  // null: there is none
  control::Ledger ledger;
  std::vector<LocalSeat::Parts> parts;
  control::LeaseBook book;
  std::vector<std::unique_ptr<LocalSeat>> seats;
  std::atomic<std::size_t> working{0};

  Workplace(std::shared_ptr<AuditLog> log, const FileTree& folder, const std::vector<device::DiscoveredGpu>& gpus,
            const Duty& duty)
      : audit{std::move(log)},
        ledger{folder, duty.machine},
        parts{audited(gpus, audit)},
        book{control::open_lease_book(duty.environment, duty.machine, program_folder(), leased(parts), duty.clock)} {
    for (const LocalSeat::Parts& one : parts) {
      seats.push_back(std::make_unique<LocalSeat>(book, ledger, one, duty.clock));
    }
  }

 private:
  static std::vector<LocalSeat::Parts> audited(const std::vector<device::DiscoveredGpu>& gpus,
                                               const std::shared_ptr<AuditLog>& log) {
    std::vector<LocalSeat::Parts> all;
    std::map<GpuVendor, std::shared_ptr<device::DriverGate>> gates;
    for (const device::DiscoveredGpu& gpu : gpus) {
      std::shared_ptr<device::DriverGate>& gate = gates[gpu.gpu->identity().vendor];
      gate = gate ? gate : std::make_shared<device::DriverGate>();
      // A GPU without a control sets nothing.
      auto control = std::make_shared<AuditedControl>(
          gpu.gpu, gpu.control ? gpu.control : std::make_shared<device::GpuControl>(), log);
      all.push_back({{gpu.gpu, control, gpu.number}, control, gate});
    }
    return all;
  }
  static std::vector<device::DiscoveredGpu> leased(const std::vector<LocalSeat::Parts>& parts) {
    std::vector<device::DiscoveredGpu> all;
    for (const LocalSeat::Parts& one : parts) {
      all.push_back(one.gpu);
      if (is_absent(*one.gpu.gpu)) {
        all.back().control = nullptr;
      }
    }
    return all;
  }
};

// Each GPU's channel, and that of the audit log. False if zeusd has gone.
bool begin(const std::shared_ptr<Workplace>& place, const Channel& zeusd) {
  const auto work_at = [&](const Greeting& greeting, auto work) {
    std::array<Channel, 2> ends = Channel::pair();
    ++place->working;
    std::thread{[place, work, channel = std::move(ends[1])] {
      work(channel);
      --place->working;
    }}.detach();
    // Only now, so that "ready" is true. If zeusd has gone, the thread sees the end of its channel.
    return zeusd.send(bytes_of(greeting), ends[0].descriptor());
  };
  for (const std::unique_ptr<LocalSeat>& seat : place->seats) {
    Greeting greeting{.kind = GreetingKind::gpu};
    greeting.uuid.put(seat->uuid());
    greeting.longest = seat->longest().value();
    if (!work_at(greeting, [&served = *seat](const Channel& channel) { serve(served, channel); })) {
      return false;
    }
  }
  return work_at(Greeting{.kind = GreetingKind::ready},
                 [&log = place->audit](const Channel& channel) { serve_audit(log, channel); });
}

}  // namespace

Answer answer_to(Seat& seat, const Request& request) {
  Answer answer{.kind = request.kind};
  switch (request.kind) {
    case RequestKind::take:
      put_taken(answer, seat.take(request.lease, Seconds{request.term}, client_of(request)));
      break;
    case RequestKind::set:
      put_result(answer, seat.set(request.lease, setting_of(request)));
      break;
    case RequestKind::renew:
      answer.error = wire_error(seat.renew(request.lease));
      break;
    case RequestKind::restore:
      answer.error = wire_error(seat.restore(request.lease));
      break;
    case RequestKind::release:
      answer.error = wire_error(seat.release(request.lease, request.why.text()));
      break;
    case RequestKind::put_back:
      put_text(answer, seat.put_back_what_was_left());
      break;
    case RequestKind::overruled:
      put_text(answer, seat.overruled(request.lease));
      break;
  }
  answer.calls = seat.calls();
  return answer;
}

void serve(LocalSeat& seat, const Channel& channel) {
  Request request;
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span{&request, 1});
  while (channel.receive(bytes) == sizeof request && is_valid(request) &&
         channel.send(bytes_of(answer_to(seat, request)))) {
  }
  seat.release_all("zeusd has ended");
}

int run_setter(const std::vector<std::string>& arguments, const Duty& duty) {
  const Channel zeusd{take_inherited_socket()};
  LogWriter log{STDOUT_FILENO};
  log::set_level(arguments.at(2) == "debug" ? log::Level::debug : log::Level::info);
  std::shared_ptr<Workplace> place;
  try {
    std::shared_ptr<AuditLog> audit;
    if (!arguments.at(3).empty()) {
      audit = std::make_shared<AuditLog>(arguments.at(3), duty.clock);
    }
    const FileTree folder{control::make_state_folder(duty.environment, ::geteuid())};
    // Before the drivers' libraries are loaded: a thread that they start keeps what it begins with.
    give_up_rights(arguments.at(1) == "sets");
    place = std::make_shared<Workplace>(std::move(audit), folder, find_gpus(arguments.at(0), duty), duty);
  } catch (const Error& error) {
    Greeting greeting{.kind = GreetingKind::failed};
    greeting.error = wire_error(error);
    zeusd.send(bytes_of(greeting));
    return 1;
  }
  bool has_begun = false;
  try {
    log.begin_thread();
    has_begun = begin(place, zeusd);
  } catch (const std::system_error&) {
    throw Error{ErrorKind::unavailable, "the system starts no more threads",
                "allow more memory and threads (`ulimit -v`, `ulimit -u`)"};
  }
  if (has_begun) {
    std::array<std::byte, 1> nothing{};
    while (zeusd.receive(nothing)) {  // it means nothing here; zeusd's end is waited for
    }
  }
  const Instant deadline = duty.clock.now() + patience_with_drivers;
  while (place->working > 0 && duty.clock.now() < deadline) {
    duty.clock.sleep_until(duty.clock.now() + Seconds{0.001});
  }
  if (place->working > 0) {
    log::warning("a call to a driver still hangs; the guardian puts back what it has changed");
  }
  return 0;
}

}  // namespace zeus::setter
