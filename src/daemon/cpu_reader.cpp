#include "daemon/cpu_reader.hpp"

#include "base/log.hpp"
#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::daemon {

using device::CpuDomain;
using protocol::CpuReadings;

namespace {

constexpr Seconds between_saves{5};

struct SavedPackage {
  std::string boot;
  std::optional<CpuCounter::Saved> package;
  std::optional<CpuCounter::Saved> dram;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields.version(1);
    fields("boot", self.boot);
    fields("package", self.package);
    fields("dram", self.dram);
  }
};

}  // namespace

CpuReader::CpuReader(Loop& loop, std::uint32_t id, std::shared_ptr<device::CpuPackage> package,
                     std::shared_ptr<const FileTree> folder, std::string boot, DeviceThread::Bounds bounds)
    : loop_{loop},
      on_thread_{std::make_shared<OnThread>(
          OnThread{id, std::move(package), std::move(folder), std::move(boot), loop.clock(), {}, {}})},
      longest_unread_{30},
      thread_{loop, fmt::format("read-cpu{}", id), bounds} {
  for (const CpuDomain domain : {CpuDomain::package, CpuDomain::dram}) {
    if (const zeus::Reading<device::EnergyCounter> counter = on_thread_->package->energy_counter(domain)) {
      longest_unread_ = std::min(longest_unread_, daemon::longest_unread(*counter));
      has_dram_ = has_dram_ || domain == CpuDomain::dram;
    }
  }
  on_thread_->resume();
  next_look_ = loop.clock().now();
  loop_.wake_by(next_look_);
}

void CpuReader::ask(std::function<void(End, const CpuReadings&)> done) {
  waiting_.push_back(std::move(done));
  if (!busy_ || thread_.stuck_since()) {
    begin();
  }
}

void CpuReader::begin() {
  if (waiting_.empty()) {
    return;
  }
  const auto asked =
      std::make_shared<std::vector<std::function<void(End, const CpuReadings&)>>>(std::exchange(waiting_, {}));
  const auto answer = [asked](End end, const CpuReadings& readings) {
    for (const auto& done : std::exchange(*asked, {})) {
      done(end, readings);
    }
  };
  if (thread_.stuck_since()) {
    answer(End::stuck, {});
    return;
  }
  busy_ = true;
  next_look_ = loop_.clock().now() + longest_unread_;
  loop_.wake_by(next_look_);
  const auto readings = std::make_shared<CpuReadings>();
  thread_.ask({.work = [on = on_thread_, readings] { on->read(*readings); },
               .ended =
                   [this, readings, answer](End end) {
                     answer(end, end == End::done ? *readings : CpuReadings{});
                     if (end == End::late) {
                       for (const auto& done : std::exchange(waiting_, {})) {
                         done(End::stuck, {});
                       }
                     }
                     if (end != End::late) {
                       busy_ = false;
                       begin();
                     }
                   },
               .is_wanted = {}});
}

void CpuReader::save(std::function<void()> done) {
  thread_.ask({.work = [on = on_thread_] { on->save(); },
               .ended =
                   [done = std::move(done)](End end) {
                     if (end != End::late) {
                       done();
                     }
                   },
               .is_wanted = {},
               .is_owed = true});
}

void CpuReader::tick(Instant now) {
  thread_.tick(now);
  if (now < next_look_) {
    loop_.wake_by(next_look_);
  } else {
    next_look_ = now + longest_unread_;
    ask([](End, const CpuReadings&) {});
  }
}

std::string CpuReader::OnThread::file() const {
  return fmt::format("cpu_counters/{}.json", package->identity().name);
}

protocol::CpuCounterReading CpuReader::OnThread::read(CpuDomain domain, CpuCounter& counter) {
  protocol::CpuCounterReading told;
  const Instant tried = clock.now();
  const zeus::Reading<device::EnergyCounter> kind = package->energy_counter(domain);
  const zeus::Reading<device::Stamped<Joules>> raw = package->energy(domain);
  if (!kind || !raw) {
    told.energy = {zeus::Reading<Joules>{kind ? raw.failure() : kind.failure()}, {.at = tried, .latency = {}}};
    return told;
  }
  const CpuCounter::Reading total = counter.take(*raw, *kind, package->generation());
  told.energy = {zeus::Reading<Joules>{total.total}, {.at = raw->at, .latency = raw->latency}};
  told.counter = protocol::ReportedCounter{{.resolution = kind->resolution, .wraps_at = {}, .scope = kind->scope}};
  told.began_ns = total.began.nanoseconds;
  return told;
}

void CpuReader::OnThread::read(CpuReadings& readings) {
  readings.id = id;
  readings.name = package->identity().name;
  readings.generation = package->generation();
  readings.package = read(CpuDomain::package, counters[0]);
  readings.dram = read(CpuDomain::dram, counters[1]);
  if (const Instant now = clock.now(); now >= next_save) {
    save();
    next_save = now + between_saves;
  }
}

void CpuReader::OnThread::resume() {
  if (!folder || boot.empty()) {
    return;
  }
  try {
    constexpr std::size_t longest = 4096;
    if (const std::optional<std::string> text = folder->read(file(), longest)) {
      const auto saved = records::record_from_json<SavedPackage>(*text, {.refusal = "these are not saved counters"});
      if (saved.boot == boot) {
        if (saved.package) {
          counters[0].resume(*saved.package);
        }
        if (saved.dram) {
          counters[1].resume(*saved.dram);
        }
      }
    }
  } catch (const Error& error) {
    log::warning(fmt::format("{} starts again from zero: {}", package->identity().name, error.what()));
  }
}

void CpuReader::OnThread::save() {
  if (!folder || boot.empty()) {
    return;
  }
  try {
    folder->write_durably(file(), records::json_line(SavedPackage{boot, counters[0].saved(), counters[1].saved()}));
  } catch (const Error& error) {
    log::warning(
        fmt::format("the counter of {} would not outlive a restart: {}", package->identity().name, error.what()));
  }
}

}  // namespace zeus::daemon
