#include "trace/instruction_profile.hpp"

#include "trace/bounds.hpp"
#include "trace/csv_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace zeus::trace {

namespace {

constexpr int most_stages = 100'000;
constexpr int most_ranks = 10'000'000;

std::string lower_case(std::string_view text) {
  std::string lower{text};
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return lower;
}

}  // namespace

records::InstructionProfile parse_instruction_profile(const std::string& name, std::string_view text) {
  CsvReader reader{name, text};
  const std::size_t stage = reader.column("stage");
  const std::size_t instruction = reader.column("instruction");
  const std::size_t frequency = reader.column("frequency");
  const std::size_t time = reader.column("time");
  const std::size_t energy = reader.column("energy");
  records::InstructionProfile profile;
  while (reader.next()) {
    records::InstructionMeasurement row{
        .stage = static_cast<std::size_t>(reader.integer(stage, 0, most_stages)),
        .instruction = lower_case(reader.word(instruction)),
        .frequency = Megahertz{reader.number(frequency, 0, highest_frequency)},
        .time = Seconds{reader.number(time, 0, longest_time)},
        .energy = Joules{reader.number(energy, 0, most_energy)},
        .rank = std::nullopt,
    };
    if (reader.has_column("rank")) {
      row.rank = static_cast<std::size_t>(reader.integer(reader.column("rank"), 0, most_ranks));
    }
    profile.push_back(std::move(row));
  }
  if (profile.empty()) {
    throw reader.error("there is no measurement", "give a row for each stage, instruction and frequency");
  }
  return profile;
}

std::string to_csv(const records::InstructionProfile& profile) {
  const bool ranked = std::ranges::all_of(profile, [](const auto& row) { return row.rank.has_value(); });
  std::string text =
      ranked ? "rank,stage,instruction,frequency,time,energy\n" : "stage,instruction,frequency,time,energy\n";
  for (const records::InstructionMeasurement& row : profile) {
    if (ranked) {
      fmt::format_to(std::back_inserter(text), "{},", *row.rank);
    }
    fmt::format_to(std::back_inserter(text), "{},\"{}\",{},{},{}\n", row.stage, row.instruction, row.frequency.value(),
                   row.time.value(), row.energy.value());
  }
  return text;
}

}  // namespace zeus::trace
