#include "cli/jobs_text.hpp"

#include "base/amount_text.hpp"
#include "base/ink.hpp"
#include "base/printable.hpp"
#include "base/wall_time_text.hpp"
#include "cli/text_table.hpp"
#include "optimize/batch_size/job_spec.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::cli {

using records::JobSummary;
using records::JobView;

namespace {

constexpr std::size_t tries_shown = 10;
constexpr double percent = 100.0;

std::string text(const EnergyColumn& column, const std::optional<Joules>& energy) {
  return energy ? column.text(*energy) : "-";
}

std::string limit_text(const std::optional<Watts>& power) {
  return power ? fmt::format("{:g} W", power->value()) : "-";
}

// The share of `whole` that `part` is.
std::string share(double part, double whole) {
  return whole > 0.0 ? fmt::format("{:.1f} %", percent * part / whole) : "-";
}

int count(const JobView& job, records::RecurrenceState state) {
  return static_cast<int>(std::ranges::count(job.recurrences, state, &records::RecurrenceView::state));
}

// Green and red are for savings and losses that exceed their uncertainty.
Ink savings_ink(Joules saved, const std::optional<Joules>& uncertainty) {
  const Joules doubt = uncertainty.value_or(Joules{});
  return saved > doubt ? Ink::green : saved < -doubt ? Ink::red : Ink::plain;
}

std::string batch_size(const JobView& job, int size) {
  return job.definition.batch_sizes.empty() ? "-" : fmt::format("{}", size);
}

std::string target(const records::JobDefinition& definition) {
  if (!definition.target) {
    return "the command's success";
  }
  const std::string within =
      definition.max_epochs < optimize::most_epochs ? fmt::format(" within {} epochs", definition.max_epochs) : "";
  return fmt::format("{} or {}{}", definition.target->metric, definition.target->higher_is_better ? "more" : "less",
                     within);
}

std::string counted(std::size_t number, std::string_view what, std::string_view several) {
  return fmt::format("{} {}", number, number == 1 ? what : several);
}

std::string heading(const JobView& job, bool in_colour) {
  std::string text = fmt::format("{}\n", inked(printable(job.name), Ink::bold, in_colour));
  const auto line = [&](const char* name, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "  {:<12}{}\n", name, value);
  };
  if (job.definition.batch_sizes.empty()) {
    line("chooses", "the power limit");
  } else {
    line("chooses", fmt::format("the batch size out of {} (default {}), and the power limit",
                                fmt::join(job.definition.batch_sizes, ", "), job.definition.default_batch_size));
  }
  line("target", target(job.definition));
  line("devices", fmt::format("{}, {} to {}", to_text(job.device), limit_text(job.device.power_limits.front()),
                              limit_text(job.device.power_limits.back())));
  line("policy", fmt::format("{}, eta {}, beta {}", job.definition.policy, job.definition.eta, job.definition.beta));
  line("since", fmt::format("{}: {}, of which {} reached the target and {} run now; {}", to_text(job.created),
                            counted(job.recurrences.size(), "recurrence", "recurrences"),
                            count(job, records::RecurrenceState::reached),
                            count(job, records::RecurrenceState::running), counted(job.tries.size(), "try", "tries")));
  if (job.settled && job.definition.batch_sizes.size() > 1) {
    line("settled",
         fmt::format("on batch size {}, as its last recurrences show; it may change its mind", *job.settled));
  }
  return text;
}

std::string beliefs(const JobView& job, bool in_colour) {
  TextTable table{
      {"batch size", "reached", "stopped", "running", "expected cost", "95 % interval of its mean", "best limit"},
      in_colour};
  EnergyColumn costs;
  for (const records::ArmView& arm : job.arms) {
    costs.fit(arm.expected_cost);
  }
  for (const records::ArmView& arm : job.arms) {
    table.add({batch_size(job, arm.batch_size), fmt::format("{}", arm.reached), fmt::format("{}", arm.stopped),
               fmt::format("{}", arm.running), text(costs, arm.expected_cost),
               arm.low_cost ? costs.range(*arm.low_cost, *arm.high_cost) : "-", limit_text(arm.best_limit)});
  }
  return table.text();
}

std::string profiles(const JobView& job, bool in_colour) {
  TextTable table{{"batch size", "limit", "epoch", "power", "energy of an epoch", ""}, in_colour};
  EnergyColumn energies;
  for (const records::ArmView& arm : job.arms) {
    for (const records::LimitProfile& limit : arm.limits) {
      energies.fit(limit.average_power * limit.epoch_time);
    }
  }
  for (const records::ArmView& arm : job.arms) {
    for (const records::LimitProfile& limit : arm.limits) {
      table.add({batch_size(job, arm.batch_size), limit_text(limit.limit), to_text(limit.epoch_time),
                 fmt::format("{:.1f} W", limit.average_power.value()),
                 energies.text(limit.average_power * limit.epoch_time), limit.limit == arm.best_limit ? "best" : ""});
    }
  }
  return table.text();
}

std::string outcome_text(const records::TryView& one) {
  if (!one.outcome) {
    return "running";
  }
  return one.left_out ? fmt::format("{}, left out", to_string(*one.outcome)) : std::string{to_string(*one.outcome)};
}

std::string tries(const JobView& job, bool all, bool in_colour) {
  TextTable table{{"try", "recurrence", "batch size", "limit", "why", "outcome", "epochs", "energy", "time", "cost"},
                  in_colour};
  const std::size_t first = all || job.tries.size() < tries_shown ? 0 : job.tries.size() - tries_shown;
  EnergyColumn energies;
  EnergyColumn costs;
  for (const records::TryView& one : std::span{job.tries}.subspan(first)) {
    if (one.energy) {
      energies.fit(one.energy->value, one.energy->uncertainty);
    }
    costs.fit(one.cost);
  }
  for (const records::TryView& one : std::span{job.tries}.subspan(first)) {
    table.add({fmt::format("{}", one.number), fmt::format("{}", one.recurrence), batch_size(job, one.batch_size),
               one.limit      ? limit_text(one.limit)
               : one.left_out ? "-"
                              : "all",
               std::string{to_string(one.purpose)}, outcome_text(one), fmt::format("{}", one.epochs),
               one.energy ? energies.text(one.energy->value, one.energy->uncertainty) : "-",
               one.time ? to_text(*one.time) : "-", text(costs, one.cost)});
  }
  std::string text = table.text();
  for (const records::TryView& one : std::span{job.tries}.subspan(first)) {
    if (one.left_out) {
      fmt::format_to(std::back_inserter(text), "  try {} is left out: {}\n", one.number, printable(*one.left_out));
    }
  }
  return text;
}

std::string spent(const records::SpentView& all, bool in_colour) {
  TextTable table{{"", "recurrences", "energy", "time", "cost"}, in_colour};
  EnergyColumn energies;
  EnergyColumn costs;
  energies.fit(all.energy, all.energy_uncertainty);
  energies.fit(all.energy_of_others);
  costs.fit(all.cost);
  costs.fit(all.cost_of_others);
  table.add({"in all", fmt::format("{}", all.recurrences), energies.text(all.energy, all.energy_uncertainty),
             to_text(all.time), costs.text(all.cost)});
  if (all.others == 0 || all.others == all.recurrences) {
    return table.text();
  }
  table.add({"not compared", fmt::format("{}", all.others), energies.text(all.energy_of_others),
             to_text(all.time_of_others), costs.text(all.cost_of_others)});
  return table.text();
}

// An energy as money and CO2, as a line; empty without rates.
std::string as_rates(const records::EnergyRates& rates, Joules energy, const std::optional<Joules>& half_width) {
  const std::string text = records::to_text(rates, energy, half_width);
  return text.empty() ? text : fmt::format("  that is {}\n", text);
}

// What the sums leave out, and why.
std::string left_out_of_sums(const records::SpentView& all) {
  std::string text;
  if (all.energy_unknown > 0) {
    text += fmt::format("  a part of the energy of {} is unknown, and not in these sums\n",
                        counted(all.energy_unknown, "recurrence", "recurrences"));
  }
  if (all.others > 0 && all.others < all.recurrences) {
    text += "  not compared: what is running, missed its target, or ended before the default was known\n";
  }
  return text;
}

std::string savings(const JobView& job, bool in_colour) {
  if (!job.savings) {
    return fmt::format("  unknown: {}\n", printable(job.savings_unknown));
  }
  TextTable table{
      {"", "recurrences", "energy", "of the default's", "time", "of the default's", "cost", "of the default's"},
      in_colour};
  EnergyColumn energies;
  EnergyColumn costs;
  for (const records::SavingsView& saved : {*job.savings, *job.savings_last}) {
    energies.fit(saved.energy, saved.energy_uncertainty);
    costs.fit(saved.cost, saved.cost_uncertainty);
  }
  const auto row = [&](const std::string& name, const records::SavingsView& saved) {
    const Ink ink = savings_ink(saved.energy, saved.energy_uncertainty);
    table.add(
        {name, fmt::format("{}", saved.recurrences), Cell{energies.text(saved.energy, saved.energy_uncertainty), ink},
         share(saved.energy.value(), saved.energy_of_default.value()), to_text(saved.time, saved.time_uncertainty),
         share(saved.time.value(), saved.time_of_default.value()), costs.text(saved.cost, saved.cost_uncertainty),
         share(saved.cost.value(), saved.cost_of_default.value())});
  };
  row(job.spent.others == 0 ? "in all" : "compared", *job.savings);
  row(fmt::format("the last {}", job.savings_last->recurrences), *job.savings_last);
  return table.text();
}

void put_summary(records::JsonWriter& json, const JobSummary& job) {
  json.put("name", job.name);
  json.put("created", to_text(job.created));
  json.put("device", job.device);
  json.put("recurrences", job.recurrences);
  json.put("reached", job.reached);
  json.put("running", job.running.size());
  json.put("tries", job.tries);
  json.put("next", to_text(job.next, job.has_batch_sizes));
  json.put("spent_energy_j", job.took.energy);
  json.put("spent_energy_uncertainty_j", job.took_uncertainty);
  json.put("spent_time_s", job.took.time);
  json.put("spent_cost_j", job.took.cost);
  json.put("energy_unknown", job.energy_unknown);
  std::optional<Joules> saved;
  std::optional<Joules> uncertainty;
  std::optional<double> saved_share;
  if (job.savings) {
    saved = job.savings->energy;
    uncertainty = job.savings->energy_uncertainty;
    saved_share = job.savings->energy / job.savings->energy_of_default;
  }
  json.put("saved_energy_j", saved, job.savings_unknown);
  json.put("saved_energy_uncertainty_j", uncertainty, job.savings_unknown);
  json.put("saved_energy_share", saved_share, job.savings_unknown);
}

}  // namespace

std::string jobs_text(const std::string& store, std::span<const JobSummary> jobs, bool in_colour) {
  if (jobs.empty()) {
    return fmt::format("no jobs in {}; `zeus run --job NAME ... -- COMMAND` makes one\n", store);
  }
  TextTable table{
      {"job", "recurrences", "reached", "running", "tries", "energy spent", "energy saved", "of the default's", "next"},
      in_colour};
  EnergyColumn spent;
  EnergyColumn saved;
  for (const JobSummary& job : jobs) {
    spent.fit(job.took.energy, job.took_uncertainty);
    if (job.savings) {
      saved.fit(job.savings->energy, job.savings->energy_uncertainty);
    }
  }
  for (const JobSummary& job : jobs) {
    table.add({printable(job.name), fmt::format("{}", job.recurrences), fmt::format("{}", job.reached),
               fmt::format("{}", job.running.size()), fmt::format("{}", job.tries),
               spent.text(job.took.energy, job.took_uncertainty),
               job.savings ? Cell{saved.text(job.savings->energy, job.savings->energy_uncertainty),
                                  savings_ink(job.savings->energy, job.savings->energy_uncertainty)}
                           : Cell{"-"},
               job.savings ? share(job.savings->energy.value(), job.savings->energy_of_default.value()) : "-",
               to_text(job.next, job.has_batch_sizes)});
  }
  return fmt::format("{}\n{}", store, table.text());
}

std::string jobs_json(const std::string& store, std::span<const JobSummary> jobs) {
  records::JsonWriter json;
  json.object([&] {
    json.put("store", store);
    json.put_list("jobs", jobs, [&](const JobSummary& job) { json.object([&] { put_summary(json, job); }); });
  });
  return json.take() + "\n";
}

std::string import_json(const std::string& name, std::uint64_t entries) {
  records::JsonWriter json;
  json.object([&] {
    json.put("name", name);
    json.put("entries", entries);
  });
  return json.take() + "\n";
}

std::string job_text(const JobView& job, bool all_tries, bool in_colour, const records::EnergyRates& rates) {
  std::string text = heading(job, in_colour);
  const auto part = [&text, in_colour](std::string_view title, const std::string& content) {
    fmt::format_to(std::back_inserter(text), "\n{}\n{}", inked(title, Ink::bold, in_colour), content);
  };
  part("what is believed", beliefs(job, in_colour));
  const bool measured = std::ranges::any_of(job.arms, [](const records::ArmView& arm) { return !arm.limits.empty(); });
  if (measured) {
    part("power limits measured", profiles(job, in_colour));
  }
  if (!job.tries.empty()) {
    const bool cut = !all_tries && job.tries.size() > tries_shown;
    part(cut ? fmt::format("the last {} tries (--all shows {})", tries_shown, job.tries.size()) : "tries",
         tries(job, all_tries, in_colour));
  }
  part("spent, with every try and all measuring", spent(job.spent, in_colour) + left_out_of_sums(job.spent) +
                                                      as_rates(rates, job.spent.energy, job.spent.energy_uncertainty));
  part("saved against the default",
       savings(job, in_colour) +
           (job.savings ? as_rates(rates, job.savings->energy, job.savings->energy_uncertainty) : ""));
  part("next", fmt::format("  {}: {}\n", to_text(job.next, !job.definition.batch_sizes.empty()), job.next.why));
  return text;
}

}  // namespace zeus::cli
