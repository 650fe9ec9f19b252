#include "measure/cells.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::measure {

namespace {

constexpr double same_level = 0.03;  // of the range of levels around
constexpr double same_power = 0.005;
constexpr double stray_of_flat = 0.05;
constexpr double stray_of_steps = 0.004;
constexpr double stray_of_changes = 0.2;

Watts apart(Watts a, Watts b) {
  return Watts{std::abs((a - b).value())};
}

// What powers there are around, and which of them are levels: powers that more than one cell has.
class Levels {
 public:
  explicit Levels(const Cells& cells) : cells_{cells}, lowest_{cells.at[0].power}, highest_{cells.at[0].power} {
    for (std::size_t i = 0; i < cells.count; ++i) {
      lowest_ = std::min(lowest_, cells.at[i].power);
      highest_ = std::max(highest_, cells.at[i].power);
    }
    alike_ = std::max((highest_ - lowest_) * same_level, (highest_ + lowest_) * same_power);
  }
  [[nodiscard]] Watts alike() const { return alike_; }
  [[nodiscard]] bool same(Watts a, Watts b) const { return apart(a, b) <= alike_; }
  [[nodiscard]] bool kept(std::size_t which) const {
    for (std::size_t i = 0; i < cells_.count; ++i) {
      if (i != which && same(cells_.at[i].power, cells_.at[which].power)) {
        return true;
      }
    }
    return false;
  }
  // A mixture of levels cannot be at the end of their range, where others are as well.
  [[nodiscard]] bool extreme(std::size_t which) const {
    const Watts power = cells_.at[which].power;
    return (same(power, lowest_) || same(power, highest_)) && kept(which);
  }

 private:
  const Cells& cells_;
  Watts lowest_;
  Watts highest_;
  Watts alike_;
};

}  // namespace

CellPath path_within(const Cells& cells, std::size_t here, Instant at, Joules usual_stray) {
  const Cell& cell = cells.at[here];
  const Seconds into = at - cell.from;
  const bool first = here == 0;
  const bool last = here + 1 == cells.count;
  const Watts left = first ? cell.power : cells.at[here - 1].power;
  const Watts right = last ? cell.power : cells.at[here + 1].power;
  const Watts change = std::max(apart(cell.power, left), apart(cell.power, right));
  CellPath path{.energy = cell.power * into,
                .power = cell.power,
                .stray = std::max(usual_stray, change * cell.length() * stray_of_changes)};
  if (first || last) {
    return path;
  }
  const Levels levels{cells};
  if (change <= levels.alike() || levels.extreme(here)) {
    path.stray = levels.alike() * cell.length() * stray_of_flat;
  }
  const bool between = (cell.power - left).value() * (right - cell.power).value() > 0;
  if (between && apart(left, right) > levels.alike() * 3 && levels.kept(here - 1) && levels.kept(here + 1)) {
    const Seconds switched = cell.length() * ((cell.power - right) / (left - right));
    path.power = into < switched ? left : right;
    path.energy = into < switched ? left * into : left * switched + right * (into - switched);
    path.stray = apart(left, right) * cell.length() * stray_of_steps;
  }
  return path;
}

}  // namespace zeus::measure
