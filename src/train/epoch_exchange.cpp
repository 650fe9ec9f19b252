#include "train/epoch_exchange.hpp"

#include "train/summed_energy.hpp"

#include <array>

namespace zeus::train {

namespace {

struct PartOfAll {
  SummedEnergy energy;
  bool unknown = false;
  Seconds time;
  std::uint64_t steps = 0;

  void joined(Joining& join) {
    energy.joined(join);
    join.any(unknown);
    join.largest(time);
    join.largest(steps);
  }
};

struct Epoch {
  std::array<PartOfAll, part_count> parts;
  bool trouble = false;

  void joined(Joining& join) {
    for (PartOfAll& part : parts) {
      part.joined(join);
    }
    join.any(trouble);
  }
};

PartOfAll of_this_rank(const Amount& amount) {
  PartOfAll part{.energy = {}, .unknown = !amount.known, .time = amount.time, .steps = amount.steps};
  part.energy.add(amount.energy);
  // The error of zero energy is known.
  part.energy.systematic_unknown = part.energy.systematic_unknown && amount.energy.value > Joules{0};
  return part;
}

}  // namespace

void exchange(Ranks& ranks, Parts& parts, bool& trouble) {
  if (ranks.alone()) {
    return;
  }
  Epoch epoch{.parts = {}, .trouble = trouble};
  for (std::size_t i = 0; i < part_count; ++i) {
    epoch.parts[i] = of_this_rank(parts[i]);
  }
  ranks.agree(epoch);
  trouble = epoch.trouble;
  for (std::size_t i = 0; i < part_count; ++i) {
    const PartOfAll& all = epoch.parts[i];
    parts[i] = {.time = all.time, .energy = all.energy.energy(), .known = !all.unknown, .steps = all.steps};
  }
}

}  // namespace zeus::train
