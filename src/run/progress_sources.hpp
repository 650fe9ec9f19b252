// Progress that a command both prints and reports counts once, as a training that a library reports of does beside its
// progress bar. Steps and metrics that are printed are passed over once they have been reported; epochs are those that
// either way has told of, whichever comes first. Pure; one thread.
#pragma once

#include "run/progress.hpp"

#include <cstdint>
#include <optional>

namespace zeus::run {

class ProgressSources {
 public:
  // What of it is news.
  std::optional<Progress> printed(const Progress& progress);
  std::optional<Progress> reported(const Progress& progress);

  [[nodiscard]] bool metric_reported() const { return metric_reported_; }

 private:
  std::optional<Progress> news_of_epochs();

  bool steps_reported_ = false;
  bool metric_reported_ = false;
  std::uint64_t epochs_printed_ = 0;
  std::uint64_t epochs_reported_ = 0;
  std::uint64_t epochs_ = 0;
};

}  // namespace zeus::run
