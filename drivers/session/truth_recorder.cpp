#include "drivers/session/truth_recorder.hpp"

#include <fmt/format.h>

#include <iterator>

namespace zeus::drivers {

TruthRecorder::TruthRecorder(const Session& session)
    : session_{&session}, recorded_{session.now()}, points_(session.gpu_count()) {
  for (std::uint32_t index = 0; index < session.gpu_count(); ++index) {
    points_[index].push_back({recorded_, session.gpu_at(index, recorded_).energy(recorded_)});
  }
}

void TruthRecorder::record() {
  const Instant now = session_->now();
  if (now <= recorded_) {
    return;
  }
  for (std::uint32_t index = 0; index < session_->gpu_count(); ++index) {
    const physics::Gpu gpu = session_->gpu_at(index, now);
    for (const Instant at : session_->power_changes(index, recorded_, now)) {
      points_[index].push_back({at, gpu.energy(at)});
    }
    points_[index].push_back({now, gpu.energy(now)});
  }
  recorded_ = now;
}

std::string TruthRecorder::json() const {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, R"({{"gpus":[)");
  for (std::size_t index = 0; index < points_.size(); ++index) {
    fmt::format_to(out, R"({}{{"index":{},"energy_j":[)", index == 0 ? "" : ",", index);
    const char* separator = "";
    for (const Point& point : points_[index]) {
      fmt::format_to(out, "{}[{}.{:09},{:.6f}]", separator, point.at.nanoseconds / 1'000'000'000,
                     point.at.nanoseconds % 1'000'000'000, point.energy.value());
      separator = ",";
    }
    fmt::format_to(out, "]}}");
  }
  fmt::format_to(out, "]}}\n");
  return fmt::to_string(text);
}

}  // namespace zeus::drivers
