// What `zeus demo` shows while it works: a bar that is drawn over on a terminal, one line for each try in a log. One
// thread; the stream outlives it.
#pragma once

#include "demo/tour.hpp"

#include <cstddef>
#include <iosfwd>
#include <string>

namespace zeus::cli {

enum class ProgressStyle { bar, lines, none };

class DemoProgress {
 public:
  DemoProgress(std::ostream& out, ProgressStyle style, std::size_t most_nights);

  void tell(const demo::TourEvent& event);

 private:
  void draw(const std::string& doing);
  void line(const std::string& text);

  std::ostream& out_;
  ProgressStyle style_;
  std::size_t most_nights_;
  std::size_t night_ = 0;
  std::string try_;
};

}  // namespace zeus::cli
