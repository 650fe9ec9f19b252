// What an epoch took, over all ranks: steps and time are those of the slowest, energies are added. One thread.
#pragma once

#include "train/account.hpp"
#include "train/ranks.hpp"

namespace zeus::train {

// Errors as of Ranks; `parts` is unchanged then. `trouble` is whether something is wrong in this process, and then
// whether it is in any.
void exchange(Ranks& ranks, Parts& parts, bool& trouble);

}  // namespace zeus::train
