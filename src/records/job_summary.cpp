#include "records/job_summary.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

#include <cmath>

namespace zeus::records {

namespace {

// A newer Zeus may have added keys. The summary also has the reasons why fields are unknown.
constexpr JsonForm summary_form{.refusal = "this is not the summary of a job", .newer = true};

template <typename Value>
Value hypotenuse(Value a, Value b) {
  return Value{std::hypot(a.value(), b.value())};
}

}  // namespace

Spent together(const Spent& a, const Spent& b) {
  return {
      .energy = hypotenuse(a.energy, b.energy), .time = hypotenuse(a.time, b.time), .cost = hypotenuse(a.cost, b.cost)};
}

DaySums operator+(const DaySums& a, const DaySums& b) {
  return {.day = a.day,
          .unit = a.unit,
          .recurrences = a.recurrences + b.recurrences,
          .took = a.took + b.took,
          .energy_squares = a.energy_squares + b.energy_squares,
          .cost_squares = a.cost_squares + b.cost_squares,
          .start = a.start + b.start,
          .start_half_width = a.start_half_width + b.start_half_width,
          .epoch = a.epoch + b.epoch,
          .epoch_half_width = a.epoch_half_width + b.epoch_half_width,
          .count_half_width = a.count_half_width + b.count_half_width};
}

std::optional<DaySums> evaluated(const DaySums& sums, const std::optional<CountedEpochs>& counted) {
  if (sums.unit == CountUnit::known) {
    return sums;
  }
  if (!counted || counted->unit != sums.unit) {
    return std::nullopt;
  }
  DaySums known = sums;
  known.unit = CountUnit::known;
  known.start = sums.start + sums.epoch * counted->mean;
  known.epoch = {};
  known.epoch_half_width = sums.epoch_half_width * counted->mean;
  known.count_half_width = sums.count_half_width + sums.epoch * counted->half_width;
  return known;
}

std::optional<SavingsView> savings_of(std::span<const DaySums> sums, const std::optional<CountedEpochs>& counted) {
  DaySums all;
  for (const DaySums& one : sums) {
    if (const std::optional<DaySums> known = evaluated(one, counted)) {
      all = all + *known;
    }
  }
  if (all.recurrences == 0) {
    return std::nullopt;
  }
  const Spent doubt{
      .energy = Joules{std::sqrt(all.energy_squares)}, .time = {}, .cost = Joules{std::sqrt(all.cost_squares)}};
  const Spent half_width =
      together(together(together(all.start_half_width, all.epoch_half_width), all.count_half_width), doubt);
  return SavingsView{.recurrences = all.recurrences,
                     .energy = all.start.energy - all.took.energy,
                     .energy_uncertainty = half_width.energy,
                     .energy_of_default = all.start.energy,
                     .time = all.start.time - all.took.time,
                     .time_uncertainty = half_width.time,
                     .time_of_default = all.start.time,
                     .cost = all.start.cost - all.took.cost,
                     .cost_uncertainty = half_width.cost,
                     .cost_of_default = all.start.cost};
}

std::string to_text(const NextView& next, bool has_batch_sizes) {
  const auto of_size = [&](const char* words) {
    return has_batch_sizes ? fmt::format("{}{}", words, next.batch_size) : std::string{};
  };
  switch (next.kind) {
    case NextKind::run:
      return fmt::format(
          "run{}{}", of_size(" batch size "),
          next.limit ? fmt::format(" at {:g} W", next.limit->value()) : ", measuring the missing power limits");
    case NextKind::profile:
      return fmt::format("measure {} power limit{}{}", next.profiles.size(), next.profiles.size() == 1 ? "" : "s",
                         of_size(" of batch size "));
    case NextKind::give_up:
      break;
  }
  return "give up";
}

std::string to_json(const JobSummary& summary) {
  return json_line(summary);
}

JobSummary job_summary_from_json(std::string_view text) {
  return record_from_json<JobSummary>(text, summary_form);
}

}  // namespace zeus::records
