#include "train/event_reporter.hpp"

#include "base/log.hpp"

#include <fmt/format.h>

#include <utility>

namespace zeus::train {

EventReporter::EventReporter(std::function<void(const TrainingEvent&)> listener,
                             std::function<void(std::string_view)> take_warning)
    : listener_{std::move(listener)}, take_warning_{std::move(take_warning)} {
}

void EventReporter::tell(const TrainingEvent& event) {
  if (!listener_) {
    return;
  }
  try {
    listener_(event);
  } catch (const std::exception& error) {
    warn(fmt::format("the listener of the training failed: {}", error.what()));
  } catch (...) {
    warn("the listener of the training threw something other than a C++ exception");
  }
}

void EventReporter::warn(const std::string& line) {
  if (!said_.insert(line).second) {
    return;
  }
  if (take_warning_) {
    try {
      take_warning_(line);
      return;
    } catch (...) {
      // Nothing is known of what it threw. The line must not be lost with it.
    }
  }
  log::warning(line);
}

}  // namespace zeus::train
