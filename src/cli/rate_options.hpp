// The flags --price and --carbon, the same wherever energies are shown.
#pragma once

#include "cli/command.hpp"
#include "command_line/options.hpp"
#include "records/energy_rates.hpp"

#include <string>

namespace zeus::cli {

struct RateFlags {
  std::string price;
  std::string carbon;

  void declare(Options& options);
  [[nodiscard]] bool any() const { return !price.empty() || !carbon.empty(); }
  // BadUsage for a rate that is none.
  [[nodiscard]] records::EnergyRates rates() const;
};

}  // namespace zeus::cli
