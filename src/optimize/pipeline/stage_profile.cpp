#include "optimize/pipeline/stage_profile.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace zeus::optimize::pipeline {

namespace {

struct Mean {
  Seconds time;
  Joules energy;
  double count = 0.0;
};

using ByRank = std::map<std::size_t, Mean>;
using ByFrequency = std::map<Megahertz, ByRank, std::greater<>>;

records::FrequencyOption merged(Megahertz frequency, const ByRank& ranks, Watts blocking_power) {
  Seconds slowest{0};
  for (const auto& [rank, mean] : ranks) {
    slowest = std::max(slowest, mean.time / mean.count);
  }
  Joules energy{0};
  for (const auto& [rank, mean] : ranks) {
    energy += mean.energy / mean.count + blocking_power * (slowest - mean.time / mean.count);
  }
  return {.frequency = frequency, .time = slowest, .energy = energy / static_cast<double>(ranks.size())};
}

}  // namespace

StageProfiles stage_profiles_of(const records::InstructionProfile& rows, Watts blocking_power) {
  std::map<std::pair<std::size_t, std::string>, ByFrequency> table;
  for (const records::InstructionMeasurement& row : rows) {
    Mean& mean = table[{row.stage, row.instruction}][row.frequency][row.rank.value_or(0)];
    mean.time += row.time;
    mean.energy += row.energy;
    mean.count += 1.0;
  }
  StageProfiles result;
  result.copies = table.empty() ? 1 : table.begin()->second.begin()->second.size();
  for (const auto& [key, frequencies] : table) {
    const auto& [stage, instruction] = key;
    StageProfile entry{.stage = stage, .profile = {.name = instruction, .options = {}}};
    for (const auto& [frequency, ranks] : frequencies) {
      if (ranks.size() != result.copies) {
        throw Error{ErrorKind::invalid_argument,
                    fmt::format("'{}' of stage {} was measured on {} ranks at {} MHz, and others on {}", instruction,
                                stage, ranks.size(), frequency.value(), result.copies),
                    "measure every stage on all of its GPUs, or on one of each"};
      }
      entry.profile.options.push_back(merged(frequency, ranks, blocking_power));
    }
    result.profiles.push_back(std::move(entry));
  }
  return result;
}

}  // namespace zeus::optimize::pipeline
