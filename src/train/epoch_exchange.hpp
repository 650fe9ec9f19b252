// What an epoch took over all ranks: steps and time are those of the slowest rank, energies are added. One thread.
#pragma once

#include "train/account.hpp"
#include "train/ranks.hpp"

namespace zeus::train {

// Throws the errors of Ranks; `parts` is then unchanged. `trouble` says whether something is wrong in this process, and
// afterwards whether something is wrong in any.
void exchange(Ranks& ranks, Parts& parts, bool& trouble);

}  // namespace zeus::train
