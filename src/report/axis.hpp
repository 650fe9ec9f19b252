// A linear axis of a drawing: converts values to coordinates and places round numbers beside it. Immutable.
#pragma once

#include <string>
#include <vector>

namespace zeus::report {

struct Tick {
  double value;
  std::string label;
};

class Axis {
 public:
  // `low` is drawn at `from` and `high` at `to`; a range without width is widened.
  Axis(double low, double high, double from, double to);

  [[nodiscard]] double at(double value) const { return from_ + (value - low_) / (high_ - low_) * (to_ - from_); }
  [[nodiscard]] double from() const { return from_; }
  [[nodiscard]] double to() const { return to_; }
  // About `wanted` multiples of 1, 2 or 5 times a power of ten within the range, all labelled to the same digit.
  [[nodiscard]] std::vector<Tick> ticks(int wanted) const;

 private:
  double low_;
  double high_;
  double from_;
  double to_;
};

}  // namespace zeus::report
