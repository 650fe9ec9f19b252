// Counts progress only once if a command both prints and reports it, as when a library reports what its bar also shows.
// Once steps and metrics are reported, printed ones are ignored; an epoch counts by whichever way comes first. Pure;
// one thread.
#pragma once

#include "trial/progress.hpp"

#include <cstdint>
#include <optional>

namespace zeus::run {

class ProgressSources {
 public:
  // The part of it that is new.
  std::optional<trial::Progress> printed(const trial::Progress& progress);
  std::optional<trial::Progress> reported(const trial::Progress& progress);

  [[nodiscard]] bool metric_reported() const { return metric_reported_; }

 private:
  std::optional<trial::Progress> news_of_epochs();

  bool steps_reported_ = false;
  bool metric_reported_ = false;
  std::uint64_t epochs_printed_ = 0;
  std::uint64_t epochs_reported_ = 0;
  std::uint64_t epochs_ = 0;
};

}  // namespace zeus::run
