#include "backends/zeusd/daemon_link.hpp"

#include "base/log.hpp"
#include "control/lessor.hpp"
#include "protocol/error_body.hpp"
#include "protocol/query.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

namespace zeus::backends::zeusd {

using protocol::Status;
using transport::HttpClient;

// Belongs to one process: a forked child has its own, and does not touch its parent's, not even the lock.
struct DaemonLink::Pool {
  pid_t process = 0;
  std::mutex mutex;
  std::vector<std::unique_ptr<HttpClient>> idle;
  struct Pause {
    Instant until;
    Seconds next;
    std::string path;  // an answer to another request does not show that the driver is well
  };
  std::map<std::string, Pause, std::less<>> pauses;  // by the name of the work
  Pool* former = nullptr;
};

// Immutable once it is there.
struct DaemonLink::Known {
  protocol::DiscoveryAnswer answer;
  Known* former = nullptr;
};

struct DaemonLink::Timed {
  protocol::Readings readings;
  Seconds ahead;       // of this machine's clock
  Seconds round_trip;  // zero if both are the same clock
};

namespace {

constexpr std::size_t most_idle = 4;

// Between questions to a daemon that is away.
constexpr double shortest_pause_s = 0.5;
constexpr double longest_pause_s = 60;
// Between calls for a device that hangs: after the first one, the daemon knows that it hangs, and refuses at once.
constexpr Seconds shortest_device_pause{2};

// The kind of an answer that is not 200; its message is the daemon's.
ErrorKind kind_of(int status) {
  switch (static_cast<Status>(status)) {
    case Status::bad_request:
      return ErrorKind::invalid_argument;
    case Status::unauthorized:
    case Status::forbidden:
      return ErrorKind::permission_denied;
    case Status::not_found:
      return ErrorKind::not_found;
    case Status::conflict:
      return ErrorKind::conflict;
    case Status::timeout:
      return ErrorKind::timeout;
    default:
      return ErrorKind::unavailable;
  }
}

std::string advice_for(int status) {
  switch (static_cast<Status>(status)) {
    case Status::unauthorized:
      return "put a token that the administrator of the node issues (`zeusd token issue`) in ZEUSD_TOKEN";
    case Status::forbidden:
      return "ask the administrator of the node, who sees the reason with `zeusd policy explain`";
    case Status::too_many:
      return "ask less often";
    case Status::stuck:
    case Status::timeout:
      return "look at the node's `dmesg`, or try again later";
    default:
      return {};
  }
}

DeviceWork reading_gpu(std::uint32_t number) {
  return {.name = fmt::format("reading GPU {}", number)};
}

DeviceWork reading_cpu(std::uint32_t number) {
  return {.name = fmt::format("reading CPU package {}", number)};
}

template <typename Value>
void move_in_time(protocol::ReportedReading<Value>& reading, Seconds ahead, Seconds round_trip) {
  reading.at = reading.at - ahead;
  reading.latency = reading.latency + round_trip;
}

template <typename Each>
void for_each_reading(protocol::GpuReadings& gpu, const Each& each) {
  each(gpu.energy);
  for (protocol::ReportedPower& power : gpu.power) {
    each(power.power);
  }
  each(gpu.throttle_times.power_cap);
  each(gpu.throttle_times.sync_boost);
  each(gpu.throttle_times.software_thermal);
  each(gpu.throttle_times.hardware_thermal);
  each(gpu.throttle_times.power_brake);
}

}  // namespace

DaemonLink::DaemonLink(DaemonPlace place, Clock& clock, InPassing in_passing)
    : place_{std::move(place)}, clock_{clock}, in_passing_{in_passing} {
}

DaemonLink::~DaemonLink() {
  for (Pool* pool = pool_; pool != nullptr;) {
    delete std::exchange(pool, pool->former);
  }
  for (Known* known = known_; known != nullptr;) {
    delete std::exchange(known, known->former);
  }
}

std::string DaemonLink::name() const {
  return fmt::format("zeusd at {}", place_.endpoint.name());
}

DaemonLink::Pool& DaemonLink::pool() {
  const pid_t process = ::getpid();
  Pool* present = pool_.load();
  while (present == nullptr || present->process != process) {
    auto fresh = std::make_unique<Pool>();
    fresh->process = process;
    fresh->former = present;
    if (pool_.compare_exchange_strong(present, fresh.get())) {
      return *fresh.release();
    }
  }
  return *present;
}

transport::Answer DaemonLink::ask(std::string_view method, std::string_view path, const Query& query,
                                  Seconds answer_time) {
  transport::Request request;
  request.method = method;
  request.path = path;
  for (const auto& [name, value] : query) {
    request.query += fmt::format("{}{}={}", request.query.empty() ? "" : "&", name, protocol::percent_encoded(value));
  }
  Pool& mine = pool();
  std::unique_ptr<HttpClient> client;
  {
    const std::lock_guard guard{mine.mutex};
    if (!mine.idle.empty()) {
      client = std::move(mine.idle.back());
      mine.idle.pop_back();
    }
  }
  if (!client) {
    client = std::make_unique<HttpClient>(
        transport::ClientPlan{.server = place_.endpoint, .token = place_.token, .connect_time = patience_at_start});
  }
  transport::Answer answer = client->ask(request, answer_time);
  const std::lock_guard guard{mine.mutex};
  if (mine.idle.size() < most_idle) {
    mine.idle.push_back(std::move(client));
  }
  return answer;
}

bool DaemonLink::answers_at_all() {
  try {
    static_cast<void>(ask("GET", "/discover", {}, in_passing_.simple));
    return true;
  } catch (const Error&) {
    return false;
  }
}

void DaemonLink::throw_away(std::string_view how) {
  const double pause = std::max(pause_s_.load(), shortest_pause_s);
  pause_s_ = std::min(2 * pause, longest_pause_s);
  ask_again_at_ = (clock_.now() + Seconds{pause}).nanoseconds;
  throw control::LessorAway{ErrorKind::unavailable, fmt::format("{} {}", name(), how),
                            "check whether it runs (`systemctl status zeusd`)"};
}

bool DaemonLink::is_paused(const DeviceWork& work) {
  Pool& mine = pool();
  const std::lock_guard guard{mine.mutex};
  const auto found = mine.pauses.find(work.name);
  return found != mine.pauses.end() && clock_.now() < found->second.until;
}

void DaemonLink::begin_pause(const DeviceWork& work, std::string_view path) {
  Pool& mine = pool();
  const std::lock_guard guard{mine.mutex};
  Pool::Pause& pause = mine.pauses[work.name];
  const Seconds now = std::max(pause.next, shortest_device_pause);
  pause = {clock_.now() + now, std::min(2 * now, Seconds{longest_pause_s}), std::string{path}};
}

void DaemonLink::end_pause(const DeviceWork& work, std::string_view path) {
  Pool& mine = pool();
  const std::lock_guard guard{mine.mutex};
  const auto found = mine.pauses.find(work.name);
  if (found != mine.pauses.end() && found->second.path == path) {
    mine.pauses.erase(found);
  }
}

transport::Answer DaemonLink::ask_in_passing(std::string_view method, std::string_view path, const Query& query,
                                             const DeviceWork& work) {
  if (const std::int64_t then = ask_again_at_; then != 0) {
    if (clock_.now().nanoseconds < then) {
      throw control::LessorAway{ErrorKind::unavailable, fmt::format("{} is away", name()), {}};
    }
    if (!answers_at_all()) {
      throw_away("is still away");
    }
    ask_again_at_ = 0;
  }
  const auto hangs = [&] {
    return control::LessorAway{ErrorKind::timeout, fmt::format("{} through {} takes too long", work.name, name()),
                               "its driver may hang: look at the node's `dmesg`"};
  };
  const bool paused = is_paused(work);
  if (paused && !work.is_owed) {
    throw hangs();
  }
  std::optional<Error> failed;
  try {
    transport::Answer answer = ask(method, path, query, paused ? in_passing_.simple : in_passing_.moment);
    pause_s_ = 0;
    end_pause(work, path);
    return answer;
  } catch (const Error& error) {
    failed = error;
  }
  if (failed->kind() == ErrorKind::unavailable) {
    throw_away("cannot be reached");
  }
  if (failed->kind() != ErrorKind::timeout) {
    throw Error{*failed};
  }
  if (paused) {
    throw hangs();
  }
  if (!answers_at_all()) {
    throw_away("does not answer");
  }
  if (work.name.empty()) {
    throw Error{ErrorKind::timeout, fmt::format("{} did not answer in time", name()), failed->advice()};
  }
  begin_pause(work, path);
  throw hangs();
}

std::string DaemonLink::get(std::string_view path, const Query& query, Seconds answer_time) {
  transport::Answer answer = ask("GET", path, query, answer_time);
  if (answer.status != static_cast<int>(Status::ok)) {
    throw refusal(answer);
  }
  return std::move(answer.body);
}

std::string DaemonLink::get_in_passing(std::string_view path, const Query& query, const DeviceWork& work) {
  transport::Answer answer = ask_in_passing("GET", path, query, work);
  if (answer.status != static_cast<int>(Status::ok)) {
    throw refusal(answer);
  }
  return std::move(answer.body);
}

Error DaemonLink::refusal(const transport::Answer& answer, std::optional<std::uint32_t> number) const {
  std::string text = protocol::refusal_text(answer.body);
  if (const auto errors = protocol::numbered_errors(answer.body); errors && number && errors->contains(*number)) {
    text = errors->at(*number);
  }
  if (text.empty()) {
    text = fmt::format("{} answers {} {}", name(), answer.status, transport::reason_of(answer.status));
  }
  return {kind_of(answer.status), std::move(text), advice_for(answer.status)};
}

const protocol::DiscoveryAnswer& DaemonLink::discover(Seconds answer_time) {
  return keep(get("/discover", {}, answer_time));
}

const protocol::DiscoveryAnswer& DaemonLink::discover_in_passing() {
  return keep(get_in_passing("/discover"));
}

const protocol::DiscoveryAnswer& DaemonLink::keep(std::string_view body) {
  auto fresh = std::make_unique<Known>();
  fresh->answer = protocol::read_answer<protocol::DiscoveryAnswer>(body);
  Known* present = known_.load();
  do {
    if (present != nullptr && present->answer == fresh->answer) {
      return present->answer;
    }
    fresh->former = present;
  } while (!known_.compare_exchange_weak(present, fresh.get()));
  return fresh.release()->answer;
}

const protocol::DiscoveryAnswer* DaemonLink::known() const {
  const Known* const present = known_.load();
  return present == nullptr ? nullptr : &present->answer;
}

bool DaemonLink::is_ours() const {
  return known() != nullptr && known()->zeusd.has_value();
}

std::optional<std::uint32_t> DaemonLink::gpu_number(std::string_view uuid) const {
  const protocol::DiscoveryAnswer* const all = known();
  if (all == nullptr) {
    return std::nullopt;
  }
  const auto gpu = std::ranges::find(all->gpus, uuid, [](const auto& one) { return one.uuid.value_or(""); });
  return gpu == all->gpus.end() ? std::nullopt : std::optional{gpu->id};
}

template <typename Get>
DaemonLink::Timed DaemonLink::timed(const Get& get) {
  const Instant before = clock_.now();
  const std::string body = get();
  const Seconds took = clock_.now() - before;
  Timed timed{protocol::read_answer<protocol::Readings>(body), {}, {}};
  const Seconds ahead = timed.readings.now - (before + took / 2);
  constexpr Seconds slack{0.001};
  if (std::abs(ahead.value()) > (took / 2 + slack).value()) {
    timed.ahead = ahead;
    timed.round_trip = took;
  }
  return timed;
}

bool DaemonLink::is_here() {
  const protocol::DiscoveryAnswer* const all = known();
  if (all != nullptr && all->zeusd && !(all->gpus.empty() && all->cpus.empty())) {
    try {
      const Query one = all->cpus.empty()
                            ? Query{{"gpu_ids", std::to_string(all->gpus.front().id)}, {"parts", "energy"}}
                            : Query{{"cpu_ids", std::to_string(all->cpus.front().id)}};
      return timed([&] { return get("/v1/readings", one, patience_at_start); }).ahead == Seconds{0};
    } catch (const Error&) {  // reading is refused: judge by the kind of socket
      return !place_.endpoint.unix_path.empty();
    }
  }
  return !place_.endpoint.unix_path.empty();
}

protocol::GpuReadings DaemonLink::read_gpu(std::uint32_t number, std::uint32_t parts) {
  if (!is_ours()) {
    return read_existing_gpu(number);
  }
  Timed read = timed([&] {
    return get_in_passing("/v1/readings",
                          {{"gpu_ids", std::to_string(number)}, {"parts", protocol::GpuParts::text(parts)}},
                          reading_gpu(number));
  });
  if (read.readings.gpus.size() != 1) {
    throw Error{ErrorKind::corrupt_data, fmt::format("{} does not report GPU {}", name(), number)};
  }
  protocol::GpuReadings& gpu = read.readings.gpus.front();
  for_each_reading(gpu, [&](auto& reading) { move_in_time(reading, read.ahead, read.round_trip); });
  return std::move(gpu);
}

protocol::CpuReadings DaemonLink::read_cpu(std::uint32_t number) {
  if (!is_ours()) {
    return read_existing_cpu(number);
  }
  Timed read = timed([&] {
    return get_in_passing("/v1/readings", {{"cpu_ids", std::to_string(number)}}, reading_cpu(number));
  });
  if (read.readings.cpus.size() != 1) {
    throw Error{ErrorKind::corrupt_data, fmt::format("{} does not report CPU package {}", name(), number)};
  }
  protocol::CpuReadings& cpu = read.readings.cpus.front();
  for (protocol::CpuCounterReading* const domain : {&cpu.package, &cpu.dram}) {
    move_in_time(domain->energy, read.ahead, read.round_trip);
  }
  return std::move(cpu);
}

namespace {

template <typename Value>
protocol::ReportedReading<Value> in_the_middle(const Value& value, Instant before, Instant after) {
  return {Reading<Value>{value}, protocol::Moment{.at = before + (after - before) / 2, .latency = after - before}};
}

}  // namespace

protocol::GpuReadings DaemonLink::read_existing_gpu(std::uint32_t number) {
  const Query of_it{{"gpu_ids", std::to_string(number)}};
  protocol::GpuReadings gpu;
  gpu.id = number;
  const Instant before = clock_.now();
  const auto power =
      protocol::read_answer<protocol::GpuPowerAnswer>(get_in_passing("/gpu/get_power", of_it, reading_gpu(number)));
  const Instant between = clock_.now();
  if (const auto found = power.power.of.find(number); found != power.power.of.end()) {
    gpu.power.push_back({PowerKind::plain, PowerScope::gpu, in_the_middle(found->second.amount(), before, between)});
  }
  const transport::Answer energy = ask_in_passing("GET", "/gpu/get_cumulative_energy", of_it, reading_gpu(number));
  if (energy.status != static_cast<int>(Status::ok)) {
    gpu.energy.reason = Reason::unsupported;
    return gpu;
  }
  const auto counters = protocol::read_answer<protocol::GpuEnergyAnswer>(energy.body);
  if (const auto found = counters.of.find(number); found != counters.of.end()) {
    gpu.energy = in_the_middle(found->second.energy.amount(), between, clock_.now());
    gpu.counter.emplace();
    gpu.counter->resolution = Joules{0.001};
  }
  return gpu;
}

protocol::CpuReadings DaemonLink::read_existing_cpu(std::uint32_t number) {
  protocol::CpuReadings cpu;
  cpu.id = number;
  const Instant before = clock_.now();
  const auto counters = protocol::read_answer<protocol::CpuEnergyAnswer>(
      get_in_passing("/cpu/get_cumulative_energy",
                     {{"cpu_ids", std::to_string(number)}, {"cpu", "true"}, {"dram", "true"}}, reading_cpu(number)));
  const Instant after = clock_.now();
  const auto found = counters.of.find(number);
  if (found == counters.of.end()) {
    throw Error{ErrorKind::corrupt_data, fmt::format("{} does not report CPU package {}", name(), number)};
  }
  const auto take = [&](const std::optional<protocol::WholeMicrojoules>& told, protocol::CpuCounterReading& reading,
                        PowerScope scope) {
    if (!told) {
      reading.energy.reason = Reason::unsupported;
      return;
    }
    reading.energy = in_the_middle(told->amount(), before, after);
    reading.counter.emplace();
    reading.counter->resolution = Joules{1e-6};
    reading.counter->scope = scope;
  };
  take(found->second.package, cpu.package, PowerScope::package);
  take(found->second.dram, cpu.dram, PowerScope::memory);
  return cpu;
}

std::shared_ptr<DaemonLink> link_to_daemon(const Environment& environment, const FileTree& machine, Clock& clock) {
  try {
    std::optional<DaemonPlace> place = find_daemon(environment, machine);
    return place ? std::make_shared<DaemonLink>(std::move(*place), clock) : nullptr;
  } catch (const Error& error) {
    log::warning(fmt::format("continuing without zeusd: {}", error.what()));
    return nullptr;
  }
}

Failure failure_of(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::permission_denied:
      return {Reason::permission, "zeusd refuses it"};
    case ErrorKind::timeout:
      return {Reason::timeout, "zeusd did not answer in time"};
    case ErrorKind::unavailable:
    case ErrorKind::not_found:
      return {Reason::lost, "zeusd does not answer"};
    default:
      return {Reason::unknown, "zeusd failed"};
  }
}

}  // namespace zeus::backends::zeusd
