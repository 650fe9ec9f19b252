// Reports events to the user's listener, and each warning once to the user's function or to the log. One thread.
#pragma once

#include <zeus/training_options.hpp>

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace zeus::train {

class EventReporter {
 public:
  explicit EventReporter(std::function<void(const TrainingEvent&)> listener,
                         std::function<void(std::string_view)> take_warning = {});

  void tell(const TrainingEvent& event);
  void warn(const std::string& line);

 private:
  std::function<void(const TrainingEvent&)> listener_;
  std::function<void(std::string_view)> take_warning_;
  std::set<std::string> said_;
};

}  // namespace zeus::train
