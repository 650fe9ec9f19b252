#include "cli/node_watch.hpp"

#include "base/background_thread.hpp"
#include "cli/watch_answers.hpp"
#include "protocol/error_body.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace zeus::cli {

namespace {

constexpr Seconds first_pause{0.25};
constexpr Seconds longest_pause{4};

// Asks one daemon for everything that is shown of it.
class Questions {
 public:
  Questions(Clock& clock, const transport::ClientPlan& plan) : clock_{clock}, client_{plan} {}

  NodeReadings ask() {
    // The daemon's identity is asked for once, and again whenever the daemon may have restarted.
    if (!discovery_) {
      discovery_ = expect<protocol::DiscoveryAnswer>("/discover");
    }
    try {
      return discovery_->zeusd ? ask_ours() : ask_existing();
    } catch (const Error&) {
      discovery_.reset();
      throw;
    }
  }

 private:
  transport::Answer get(std::string path, std::string query = {}) {
    transport::Request request;
    request.path = std::move(path);
    request.query = std::move(query);
    return client_.ask(request);
  }

  [[noreturn]] static void refuse(const transport::Answer& answer) {
    throw Error{ErrorKind::unavailable,
                fmt::format("it answers {} ({})", answer.status, protocol::refusal_text(answer.body))};
  }

  template <typename Answer>
  Answer expect(const std::string& path, const std::string& query = {}) {
    const transport::Answer answer = get(path, query);
    if (answer.status != 200) {
      refuse(answer);
    }
    return protocol::read_answer<Answer>(answer.body);
  }

  // The same, for a question that the daemon may refuse.
  template <typename Answer>
  std::optional<Answer> try_for(const std::string& path, const std::string& query, std::string& why_not) {
    const transport::Answer answer = get(path, query);
    if (answer.status != 200) {
      why_not = fmt::format("it answers {} ({})", answer.status, protocol::refusal_text(answer.body));
      return std::nullopt;
    }
    return protocol::read_answer<Answer>(answer.body);
  }

  // Where some GPUs cannot be read, the others are still shown.
  transport::Answer readings(std::map<std::uint32_t, std::string>& refused) {
    transport::Answer answer = get("/v1/readings");
    const auto errors = answer.status == 200 ? std::nullopt : protocol::numbered_errors(answer.body);
    if (!errors) {
      return answer;
    }
    std::string gpus;
    for (const protocol::ListedGpu& gpu : discovery_->gpus) {
      if (!errors->contains(gpu.id)) {
        gpus += (gpus.empty() ? "" : ",") + std::to_string(gpu.id);
      }
    }
    std::string cpus;
    for (const protocol::ListedCpu& cpu : discovery_->cpus) {
      cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu.id);
    }
    if (gpus.empty() && cpus.empty()) {
      return answer;
    }
    refused = *errors;
    const std::string of_gpus = gpus.empty() ? "" : "gpu_ids=" + gpus;
    const std::string of_cpus = cpus.empty() ? "" : "cpu_ids=" + cpus;
    return get("/v1/readings", of_gpus + (of_gpus.empty() || of_cpus.empty() ? "" : "&") + of_cpus);
  }

  NodeReadings ask_ours() {
    std::string why_not;
    const auto leases = try_for<protocol::LeaseList>("/v1/leases", "", why_not);
    const Holders holders = leases ? holders_of(*leases) : Holders{.of = {}, .unknown = why_not};
    NodeReadings told;
    std::map<std::uint32_t, std::string> refused;
    told.asked = clock_.now();
    const transport::Answer answer = readings(refused);
    told.answered = clock_.now();
    told.wall = clock_.wall();
    if (answer.status != 200) {
      refuse(answer);
    }
    const auto readings = protocol::read_answer<protocol::Readings>(answer.body);
    if (readings.instance != discovery_->zeusd->instance) {
      discovery_ = expect<protocol::DiscoveryAnswer>("/discover");
      if (!discovery_->zeusd) {
        throw Error{ErrorKind::unavailable, "another daemon has taken its place"};
      }
    }
    told.daemon = "zeusd " + discovery_->zeusd->version;
    told.instance = readings.instance;
    told.daemon_now = readings.now;
    told.daemon_wall = WallTime{static_cast<std::int64_t>(readings.timestamp_ms) * 1000};
    told.devices = devices_of(readings, *discovery_, holders, refused);
    return told;
  }

  NodeReadings ask_existing() {
    ExistingAnswers answers;
    NodeReadings told;
    told.daemon = "zeusd of another make";
    const auto& groups = discovery_->enabled_api_groups;
    const auto has = [&](std::string_view group) {
      return !groups || std::ranges::find(*groups, group) != groups->end();
    };
    answers.gpu_refusal = has("gpu-read") ? "" : "its gpu-read is not enabled";
    answers.cpu_refusal = has("cpu-read") ? "" : "its cpu-read is not enabled";
    if (has("gpu-read") && !discovery_->gpus.empty()) {
      answers.power = try_for<protocol::GpuPowerAnswer>("/gpu/get_power", "", answers.gpu_refusal);
      answers.limits = try_for<protocol::GpuPowerLimitAnswer>("/gpu/get_power_limit", "", answers.gpu_refusal);
      told.asked = clock_.now();
      answers.energy = try_for<protocol::GpuEnergyAnswer>("/gpu/get_cumulative_energy", "", answers.gpu_refusal);
      told.answered = clock_.now();
    }
    const Instant of_gpus = told.asked + (told.answered - told.asked) / 2.0;
    told.asked = clock_.now();
    const auto time = expect<protocol::TimeAnswer>("/time");
    told.answered = clock_.now();
    told.wall = clock_.wall();
    told.daemon_wall = WallTime{static_cast<std::int64_t>(time.timestamp_ms) * 1000};
    Instant at = of_gpus;
    if (has("cpu-read") && !discovery_->cpus.empty()) {
      at = clock_.now();
      answers.cpus =
          try_for<protocol::CpuEnergyAnswer>("/cpu/get_cumulative_energy", "cpu=true&dram=true", answers.cpu_refusal);
    }
    told.devices = devices_of(answers, *discovery_, at);
    for (DeviceReading& device : told.devices) {
      if (device.counter && device.device.kind == DeviceKind::gpu) {
        device.counter->at = of_gpus;
      }
    }
    return told;
  }

  Clock& clock_;
  transport::HttpClient client_;
  std::optional<protocol::DiscoveryAnswer> discovery_;
};

}  // namespace

NodeWatch::NodeWatch(Clock& clock, transport::ClientPlan plan, Seconds period)
    : clock_{clock}, plan_{std::move(plan)}, period_{period}, tally_{plan_.server.name(), clock.now()} {
  thread_ = background_thread([this] { watch(); });
}

NodeWatch::~NodeWatch() {
  stop();
  thread_.join();
}

void NodeWatch::stop() {
  const std::lock_guard guard{mutex_};
  stops_ = true;
  changed_.notify_all();
}

WatchedNode NodeWatch::node() const {
  const std::lock_guard guard{mutex_};
  return tally_.node(clock_.now());
}

void NodeWatch::watch() {
  Questions questions{clock_, plan_};
  Seconds pause = first_pause;
  while (true) {
    Instant next = clock_.now() + period_;
    std::optional<NodeReadings> readings;
    std::string why_not;
    try {
      readings = questions.ask();
    } catch (const Error& error) {
      why_not = error.message();
      // The table already names the node.
      if (const std::string said = fmt::format("cannot reach {}: ", plan_.server.name()); why_not.starts_with(said)) {
        why_not.erase(0, said.size());
      }
    }
    std::unique_lock lock{mutex_};
    if (readings) {
      tally_.take(*readings);
      pause = first_pause;
    } else {
      tally_.fail(why_not);
      next = clock_.now() + pause;
      pause = std::min(pause * 2.0, longest_pause);
    }
    while (!stops_ && clock_.now() < next) {
      clock_.wait_until(lock, changed_, next);
    }
    if (stops_) {
      return;
    }
  }
}

}  // namespace zeus::cli
