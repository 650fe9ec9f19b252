#include "train/live_parts.hpp"

#include "train/monitor_meter.hpp"

#include <optional>
#include <utility>

namespace zeus::train {

SessionParts live_parts(std::shared_ptr<Monitor> monitor, const std::vector<std::shared_ptr<device::Gpu>>& gpus,
                        std::function<control::LeaseBook()> open_book, Clock& clock) {
  SessionParts parts{.gpus = {}, .meter = {}, .acquire = {}, .clock = clock};
  for (const int index : monitor->gpus()) {
    parts.gpus.push_back({.index = index, .gpu = gpus.at(static_cast<std::size_t>(index))});
  }
  parts.meter = std::make_unique<MonitorMeter>(std::move(monitor));
  auto book = std::make_shared<std::optional<control::LeaseBook>>();
  parts.acquire = [book, open = std::move(open_book)](std::string_view uuid, Seconds term) {
    if (!*book) {
      book->emplace(open());
    }
    return (*book)->acquire(uuid, term);
  };
  return parts;
}

}  // namespace zeus::train
