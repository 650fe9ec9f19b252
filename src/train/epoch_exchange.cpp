#include "train/epoch_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace zeus::train {

void exchange(Ranks& ranks, Parts& parts, bool& trouble) {
  if (ranks.alone()) {
    return;
  }
  std::vector<double> sums;
  std::vector<double> largest{trouble ? 1.0 : 0.0};
  for (const Amount& amount : parts) {
    const Energy& energy = amount.energy;
    const bool any = energy.value > Joules{0};
    sums.insert(sums.end(), {energy.value.value(), energy.uncertainty.value() * energy.uncertainty.value(),
                             energy.systematic.value_or(Joules{0}).value(), any && !energy.systematic ? 1.0 : 0.0,
                             amount.known ? 0.0 : 1.0});
    largest.insert(largest.end(),
                   {amount.time.value(), static_cast<double>(amount.steps), static_cast<double>(energy.method)});
  }
  ranks.sum(sums);
  ranks.max(largest);
  trouble = largest[0] > 0;
  std::size_t sum = 0;
  std::size_t most = 1;
  for (Amount& amount : parts) {
    amount.energy.value = Joules{sums[sum]};
    amount.energy.uncertainty = Joules{std::sqrt(sums[sum + 1])};
    amount.energy.systematic = sums[sum + 3] > 0 ? std::nullopt : std::optional{Joules{sums[sum + 2]}};
    amount.known = !(sums[sum + 4] > 0);
    amount.time = Seconds{largest[most]};
    amount.steps = static_cast<std::uint64_t>(largest[most + 1]);
    amount.energy.method = static_cast<EnergyMethod>(static_cast<int>(largest[most + 2]));
    sum += 5;
    most += 3;
  }
}

}  // namespace zeus::train
