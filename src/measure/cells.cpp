#include "measure/cells.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::measure {

namespace {

constexpr double cell_tolerance = 0.005;  // of the sum of the lowest and the highest
constexpr double beyond_means = 2.5;      // the largest range of powers, relative to the range of the means
constexpr double most_noise = 0.125;      // of the range of powers: with more noise, two powers cannot be told apart
// A step of height 1 at the place p of a cell of length 1 leads p (1 - p) away from the straight line there. On average
// its square has the shape of a Brownian bridge's variance, with this share in the middle.
constexpr double bridge_of_step = 1.0 / 2.0;

// The larger of the two deviations, which occurs in only a `share` of the cases.
Doubt larger(Doubt of_changes, JoulesSquared of_step, double share) {
  const Doubt whole = of_changes.variance > of_step ? of_changes : Doubt::of(of_step, uniform_excess);
  if (share <= 0 || whole.variance <= JoulesSquared{}) {
    return {};
  }
  const double kurtosis = normal_kurtosis + whole.fourth_cumulant / square(whole.variance);
  return Doubt::of(whole.variance * share, kurtosis / share - normal_kurtosis);
}

// The powers of the cells, and which of them the load keeps.
class Levels {
 public:
  explicit Levels(const Cells& cells) : cells_{cells} {
    const auto* const end = cells.at.begin() + cells.count;
    const auto [lowest, highest] =
        std::minmax_element(cells.at.begin(), end, [](const Cell& a, const Cell& b) { return a.power < b.power; });
    lowest_ = lowest->power;
    highest_ = highest->power;
    flat_ = same(*lowest, *highest);
    longest_ = std::max_element(cells.at.begin(), end, [](const Cell& a, const Cell& b) {
                 return a.length() < b.length();
               })->length();
    repeats_ = same_after(1);
    repeats_after_two_ = !repeats_ && same_after(2);
  }
  [[nodiscard]] Watts range() const { return highest_ - lowest_; }
  // The range of powers that the means may hide: everything that the GPU may draw if the load repeats with the ticks.
  [[nodiscard]] Watts range_within() const {
    return repeats_ || repeats_after_two_ ? cells_.most_power : range() * beyond_means;
  }
  // Where a cell's power lies in the range, from 0 to 1.
  [[nodiscard]] double height(const Cell& cell) const {
    return range() > Watts{0} ? (cell.power - lowest_) / range() : 0.0;
  }
  [[nodiscard]] bool same(const Cell& a, const Cell& b) const {
    return abs(a.power - b.power) <= std::max(noise(a, b), (lowest_ + highest_) * cell_tolerance);
  }

  // Whether a cell shows a level that the load keeps, and not a mixture of levels:
  // - in_a_row: an adjacent cell has the same power, which may be chance.
  // - again: at an end of the range, another cell of a different length has the same power, or two others as long as
  //   the longest have it. If the load repeats with the ticks this proves nothing: all cells then see the same mixture.
  enum class Kept { no, in_a_row, again };
  [[nodiscard]] Kept kept(std::size_t which) const {
    const Cell& cell = cells_.at[which];
    if (rough(cell)) {
      return Kept::no;
    }
    int alike = 0;
    bool in_a_row = false;
    for (std::size_t i = 0; i < cells_.count; ++i) {
      const Cell& other = cells_.at[i];
      if (i == which || rough(other) || !same(other, cell)) {
        continue;
      }
      in_a_row = in_a_row || i + 1 == which || which + 1 == i;
      const bool of_other_length = cell.length() > other.length() * 1.5 || other.length() > cell.length() * 1.5;
      alike += of_other_length ? 2 : cell.length() * 1.5 > longest_ ? 1 : 0;
    }
    const bool again = alike >= 2 && !repeats_ && !repeats_after_two_ && extreme(cell);
    return again ? Kept::again : in_a_row ? Kept::in_a_row : Kept::no;
  }
  // Whether a kept level, or a single step between its two neighbours, explains the cell.
  [[nodiscard]] bool explained(std::size_t which) const {
    if (which == 0 || which + 1 == cells_.count || kept(which) != Kept::no) {
      return true;
    }
    const Watts here = cells_.at[which].power;
    const Watts left = cells_.at[which - 1].power;
    const Watts right = cells_.at[which + 1].power;
    const bool longest = cells_.at[which].length() * 1.5 > longest_;
    return repeats_after_two_ || (!repeats_ && ((here - left).value() * (right - here).value() > 0 ||
                                                (longest && extreme(cells_.at[which]))));
  }

 private:
  static Watts noise(const Cell& a, const Cell& b) { return Watts{3.0 * std::hypot(a.doubt.value(), b.doubt.value())}; }
  // The cell lies between ticks whose brackets are so wide that its power proves nothing.
  [[nodiscard]] bool rough(const Cell& cell) const { return !flat_ && noise(cell, cell) > range() * most_noise; }
  [[nodiscard]] bool extreme(const Cell& cell) const {
    const Watts near = std::max(cell.doubt * 3.0, (lowest_ + highest_) * cell_tolerance);
    return cell.power - lowest_ <= near || highest_ - cell.power <= near;
  }
  [[nodiscard]] bool same_after(int ticks) const {
    const Seconds shift = cells_.tick * static_cast<double>(ticks);
    const Seconds near = cells_.tick * 0.05;
    bool any = false;
    for (std::size_t i = 0; i < cells_.count; ++i) {
      for (std::size_t j = i + 1; j < cells_.count; ++j) {
        const Seconds off = cells_.at[j].to - cells_.at[i].to - shift;
        const Seconds longer = cells_.at[j].length() - cells_.at[i].length();
        if (std::abs(off.value()) > near.value() || std::abs(longer.value()) > near.value()) {
          continue;
        }
        if (!same(cells_.at[i], cells_.at[j])) {
          return false;
        }
        any = true;
      }
    }
    return any;
  }

  const Cells& cells_;
  Watts lowest_;
  Watts highest_;
  Seconds longest_;
  bool flat_ = false;
  bool repeats_ = false;
  bool repeats_after_two_ = false;
};

// The share of cells with several steps among the cells with any, if there are `steps` on average, at random times.
double more_than_one(double steps) {
  return steps < 1e-6 ? 0.0 : 1.0 - steps / std::expm1(steps);
}

// The first cell may contain a step to the power of the next cell, from zero or from the maximum, unless both cells
// have the same power.
JoulesSquared step_from_anything(const Cells& cells, const Levels& levels) {
  const Cell& first = cells.at[0];
  const Cell& next = cells.at[1];
  if (levels.same(first, next)) {
    return {};
  }
  const bool rose = first.power < next.power;
  const Watts before = rose ? Watts{0} : std::max(cells.most_power, first.power);
  const Watts range = abs(next.power - before);
  const double height = abs(first.power - before) / range;
  return square(range * first.length()) * (square(height * (1.0 - height)) * bridge_of_step);
}

}  // namespace

Doubt Deviation::at(Seconds into) const {
  const double place = std::clamp(into / length, 0.0, 1.0);
  return bridged(1.0 + square(place) + square(1.0 - place), std::min(place, 1.0 - place), place * (1.0 - place));
}

Doubt Deviation::between(Seconds apart) const {
  const double part = std::min(apart / length, 1.0);
  return bridged(2.0 * (1.0 + square(part)), part, part * (1.0 - part));
}

Doubt Deviation::bridged(double wave_part, double reach, double bridge) const {
  const JoulesSquared of_wave = std::min(wave * wave_part, square(range * length * reach));
  const Doubt changes = Doubt::of(of_wave, wave_excess) + Doubt::of(wander * bridge, normal_excess);
  return larger(changes, step * (4.0 * bridge), share);
}

CellPath path_within(const Cells& cells, std::size_t here, Instant at, const Habits& habits) {
  const Cell& cell = cells.at[here];
  const Seconds into = at - cell.from;
  const Levels levels{cells};
  const double height = levels.height(cell);
  const JoulesSquared step =
      square(levels.range() * cell.length()) * (square(height * (1.0 - height)) * bridge_of_step);
  CellPath path{.energy = cell.power * into,
                .power = cell.power,
                .deviation = {.length = cell.length(),
                              .range = levels.range_within(),
                              .wave = habits.wave,
                              .wander = habits.wander * (cell.length() / cells.tick),
                              .step = step}};
  if (here == 0 && cells.count > 1) {
    path.deviation.step = std::max(step, step_from_anything(cells, levels));
  }
  if (here == 0 || here + 1 == cells.count) {
    return path;
  }
  if (!levels.explained(here - 1) || !levels.explained(here) || !levels.explained(here + 1)) {
    return path;
  }
  using Kept = Levels::Kept;
  const Cell& left = cells.at[here - 1];
  const Cell& right = cells.at[here + 1];
  const Kept kept = levels.kept(here);
  const Kept kept_left = levels.kept(here - 1);
  const Kept kept_right = levels.kept(here + 1);
  const bool between = (left.power - cell.power).value() * (cell.power - right.power).value() > 0;
  path.deviation.wave = path.deviation.wander = {};
  if (kept != Kept::no) {
    path.deviation.share =
        kept == Kept::again ? 0.0 : habits.chance;  // little more than the uncertainty of the ticks remains
  } else if (between && !levels.same(left, right) && kept_left != Kept::no && kept_right != Kept::no) {
    const Seconds switched = cell.length() * ((cell.power - right.power) / (left.power - right.power));
    const bool before = into < switched;
    path.power = before ? left.power : right.power;
    path.energy = before ? left.power * into : left.power * switched + right.power * (into - switched);
    if (kept_left == Kept::again && kept_right == Kept::again) {
      path.deviation.step = (square(left.doubt) + square(right.doubt)) * square(cell.length()) / 8.0;
    } else {
      path.deviation.share = more_than_one(habits.steps * (cell.length() / cells.tick));
    }
  }
  return path;
}

}  // namespace zeus::measure
