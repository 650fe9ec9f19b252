#include "run/job_keeper.hpp"

#include "jobs/job.hpp"
#include "jobs/stored_keeper.hpp"
#include "protocol/device_readings.hpp"
#include "protocol/jobs_api.hpp"
#include "remote_jobs/served_keeper.hpp"
#include "remote_jobs/server_address.hpp"
#include "store/open_store.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace zeus::run {

namespace {

protocol::GpuNow now_of(const device::Gpu& gpu) {
  Reading<device::Stamped<Watts>> power = gpu.power(PowerKind::instant, PowerScope::gpu);
  if (!power) {
    power = gpu.power(PowerKind::plain, PowerScope::gpu);
  }
  const Reading<ThrottleReasons> held = gpu.throttle_reasons();
  return {.gpu = gpu.identity().uuid,
          .name = gpu.identity().name,
          .power = power ? std::optional{power->value} : std::nullopt,
          .limit = gpu.power_limits().enforced.optional(),
          .clock = gpu.clocks().graphics.optional(),
          .temperature = gpu.temperature().optional(),
          .throttled_by = held ? protocol::words_of(*held) : std::vector<std::string>{}};
}

}  // namespace

std::unique_ptr<jobs::Keeper> job_keeper(const RunOptions& options, const TrainingGpus& gpus, const Place& place,
                                         std::function<bool()> hurry, std::function<void(const std::string&)> say) {
  if (options.server.empty()) {
    return jobs::stored_keeper(options.store.empty() ? store::default_store(place.environment).string() : options.store,
                               store::Access::create, place.clock, place.machine);
  }
  remote_jobs::RemotePlan plan{.address = remote_jobs::server_address(options.server, place.environment),
                               .token = place.environment.get("ZEUS_TOKEN").value_or(""),
                               .patience = options.server_patience,
                               .hurry = std::move(hurry),
                               .readings =
                                   [&gpus] {
                                     std::vector<protocol::GpuNow> all;
                                     for (const device::Gpu* const gpu : gpus.devices()) {
                                       all.push_back(now_of(*gpu));
                                     }
                                     return all;
                                   },
                               .say = std::move(say)};
  return remote_jobs::served_keeper(std::move(plan), jobs::this_site(place.clock, place.machine).owner, place.clock);
}

std::unique_ptr<jobs::RecurrenceLink> begin(jobs::Keeper& keeper, const RunOptions& options,
                                            const records::JobDevice& device) {
  const std::optional<records::JobDefinition> known = options.policy.empty() ? keeper.find(options.job) : std::nullopt;
  keeper.define(options.job, definition_of(options, device, known ? &*known : nullptr));
  return keeper.begin(options.job, device);
}

}  // namespace zeus::run
