#include "run/progress_sources.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace zeus::run {

std::optional<trial::Progress> ProgressSources::news_of_epochs() {
  const std::uint64_t former = std::exchange(epochs_, std::max({epochs_, epochs_printed_, epochs_reported_}));
  return epochs_ > former ? std::optional<trial::Progress>{trial::EpochsDone{epochs_ - former}} : std::nullopt;
}

std::optional<trial::Progress> ProgressSources::printed(const trial::Progress& progress) {
  if (const auto* const epochs = std::get_if<trial::EpochsDone>(&progress)) {
    epochs_printed_ += epochs->count;
    return news_of_epochs();
  }
  const bool reported = std::holds_alternative<trial::StepsDone>(progress) ? steps_reported_ : metric_reported_;
  return reported ? std::nullopt : std::optional{progress};
}

std::optional<trial::Progress> ProgressSources::reported(const trial::Progress& progress) {
  if (const auto* const epochs = std::get_if<trial::EpochsDone>(&progress)) {
    epochs_reported_ += epochs->count;
    return news_of_epochs();
  }
  (std::holds_alternative<trial::StepsDone>(progress) ? steps_reported_ : metric_reported_) = true;
  return progress;
}

}  // namespace zeus::run
