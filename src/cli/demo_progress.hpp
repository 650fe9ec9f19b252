// What `zeus demo` shows while it works: one line for each try, and on a terminal a bar below them, drawn on the
// working line. One thread; the line outlives it.
#pragma once

#include "cli/working_line.hpp"
#include "demo/tour.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace zeus::cli {

class DemoProgress {
 public:
  DemoProgress(WorkingLine& working, bool quiet, std::size_t most_nights);

  void tell(const demo::TourEvent& event);

 private:
  void draw(const std::string& doing);
  void line(const std::string& text);

  WorkingLine& working_;
  bool quiet_;
  std::size_t most_nights_;
  std::size_t night_ = 0;
  std::string try_;
  std::optional<int> settled_;
};

}  // namespace zeus::cli
