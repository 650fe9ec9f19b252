#include "run/served_records.hpp"

#include "base/random_id.hpp"
#include "jobs/job.hpp"
#include "protocol/jobs_api.hpp"
#include "remote_jobs/remote_recurrence.hpp"

#include <zeus/device_values.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::run {

namespace {

constexpr std::array reasons{ThrottleReason::idle,
                             ThrottleReason::application_clocks,
                             ThrottleReason::power_cap,
                             ThrottleReason::hardware_slowdown,
                             ThrottleReason::sync_boost,
                             ThrottleReason::software_thermal,
                             ThrottleReason::hardware_thermal,
                             ThrottleReason::power_brake,
                             ThrottleReason::display_clock};

// "power_cap"
std::vector<std::string> reason_words(ThrottleReasons held) {
  std::vector<std::string> words;
  for (const ThrottleReason reason : reasons) {
    if (held.has(reason)) {
      std::string& word = words.emplace_back(to_string(reason));
      std::ranges::replace(word, ' ', '_');
    }
  }
  return words;
}

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
          .throttled_by = held ? reason_words(*held) : std::vector<std::string>{}};
}

class ServedRecords final : public JobRecords {
 public:
  ServedRecords(const RunOptions& options, const records::JobDevice& device, const TrainingGpus& gpus,
                const Place& place, std::function<bool()> hurry, std::function<void(const std::string&)> say)
      : job_{options.job},
        plan_{.address = remote_jobs::server_address(options.server),
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
              .draw_key = random_id,
              .say = std::move(say)},
        client_{plan_.address, plan_.token} {
    std::optional<records::JobDefinition> known;
    if (options.policy.empty()) {
      known = remote_jobs::find_definition(client_, job_);
    }
    remote_jobs::define(client_, job_, definition_of(options, device, known ? &*known : nullptr));
    auto recurrence = std::make_unique<remote_jobs::RemoteRecurrence>(
        place.clock, plan_, job_, device, jobs::this_site(place.clock, place.machine).owner);
    number_ = recurrence->number();
    recurrence_ = std::move(recurrence);
  }

  [[nodiscard]] std::uint64_t number() const override { return number_ - 1; }
  std::unique_ptr<jobs::RecurrenceLink> take_recurrence() override { return std::move(recurrence_); }
  records::JobView recurrence_view() override {
    auto view = client_.get<records::JobView>(remote_jobs::job_path(job_, "?last=64"));
    if (std::ranges::find(view.recurrences, number_, &records::RecurrenceView::number) == view.recurrences.end()) {
      view = client_.get<records::JobView>(remote_jobs::job_path(job_, "?all=true"));
    }
    keep_alone(view, number_);
    return view;
  }

 private:
  std::string job_;
  remote_jobs::RemotePlan plan_;
  remote_jobs::ServiceClient client_;
  std::uint64_t number_ = 0;  // from 1
  std::unique_ptr<jobs::RecurrenceLink> recurrence_;
};

}  // namespace

std::unique_ptr<JobRecords> open_served_records(const RunOptions& options, const records::JobDevice& device,
                                                const TrainingGpus& gpus, const Place& place,
                                                std::function<bool()> hurry,
                                                std::function<void(const std::string&)> say) {
  return std::make_unique<ServedRecords>(options, device, gpus, place, std::move(hurry), std::move(say));
}

}  // namespace zeus::run
