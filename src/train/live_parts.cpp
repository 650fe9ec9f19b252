#include "train/live_parts.hpp"

#include "train/monitor_meter.hpp"

#include <optional>
#include <utility>

namespace zeus::train {

AllowedLimits allowed_limits_of(std::shared_ptr<const control::Lessor> lessor) {
  return [lessor = std::move(lessor)](std::string_view uuid) {
    return lessor ? lessor->allowed_power_limits(uuid) : std::vector<device::WattRange>{};
  };
}

std::vector<SessionGpu> session_gpus(const Monitor& monitor, const std::vector<std::shared_ptr<device::Gpu>>& gpus,
                                     const AllowedLimits& allowed) {
  std::vector<SessionGpu> measured;
  for (const int index : monitor.gpus()) {
    const std::shared_ptr<device::Gpu>& gpu = gpus.at(static_cast<std::size_t>(index));
    measured.push_back(
        {.index = index, .gpu = gpu, .allowed = [allowed, uuid = gpu->identity().uuid] { return allowed(uuid); }});
  }
  return measured;
}

SessionParts live_parts(std::shared_ptr<Monitor> monitor, std::vector<SessionGpu> gpus,
                        std::function<control::LeaseBook()> open_book, Clock& clock) {
  SessionParts parts{.gpus = std::move(gpus), .meter = {}, .acquire = {}, .clock = clock};
  parts.meter = std::make_unique<MonitorMeter>(std::move(monitor));
  auto book = std::make_shared<std::optional<control::LeaseBook>>();
  parts.acquire = [book, open = std::move(open_book)](std::string_view uuid, Seconds term) {
    if (!*book) {
      book->emplace(open());
    }
    return (*book)->acquire(uuid, term, {.of_lessor = control::LessorPatience::a_moment});
  };
  return parts;
}

}  // namespace zeus::train
