// Reports events to the user's listener and to the log, which gets each warning once. One thread.
#pragma once

#include <zeus/training_options.hpp>

#include <functional>
#include <set>
#include <string>

namespace zeus::train {

class EventReporter {
 public:
  explicit EventReporter(std::function<void(const TrainingEvent&)> listener);

  void tell(const TrainingEvent& event);
  void warn(const std::string& line);

 private:
  std::function<void(const TrainingEvent&)> listener_;
  std::set<std::string> said_;
};

}  // namespace zeus::train
