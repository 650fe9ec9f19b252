#include "research/paper_goodput.hpp"

#include "optimize/batch_size/policy_factory.hpp"
#include "research/paper_trials.hpp"
#include "research/repetition.hpp"
#include "research/shared_training.hpp"
#include "simulate/job_simulation.hpp"
#include "simulate/job_summary.hpp"
#include "simulate/stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::research {

namespace {

constexpr std::array goodput_etas{0.0, 0.25, 0.5, 0.75, 1.0};
constexpr std::array<std::string_view, 2> compared_policies{"zeus", optimize::best_policy};

// The mean and its 95 % interval: a range for one more repetition is wide, as a single training is long by luck.
std::string mean_of(const std::vector<double>& of_seeds) {
  const Repetition found = repetition_of(of_seeds);
  const double seeds = static_cast<double>(of_seeds.size());
  return found.high ? fmt::format("{:.3f} ± {:.3f}", found.value, (*found.high - found.value) / std::sqrt(seeds + 1.0))
                    : fmt::format("{:.3f} (one seed)", found.value);
}

// A policy over the training by goodput, of each seed.
struct OverGoodput {
  std::vector<double> time;  // of its last runs
  std::vector<double> energy;
  std::vector<double> whole_time;  // of all recurrences, what it learned them with included
  std::vector<double> whole_energy;
};

OverGoodput over_goodput(const simulate::Stage& stage, std::string_view policy,
                         const std::vector<TrainingByGoodput>& by_goodput) {
  const PaperTrials trials = run_trials(stage, policy, by_goodput.size());
  OverGoodput over;
  for (std::size_t i = 0; i < by_goodput.size(); ++i) {
    const simulate::Configuration& usual = stage.default_configuration();
    over.time.push_back(trials.time_ratios[i] * (usual.time / by_goodput[i].time));
    over.energy.push_back(trials.energy_ratios[i] * (usual.energy / by_goodput[i].energy));
    const auto nights = static_cast<double>(trials.recurrences);
    over.whole_time.push_back(trials.total_times[i] / nights / by_goodput[i].time.value());
    over.whole_energy.push_back(trials.total_energies[i] / nights / by_goodput[i].energy.value());
  }
  return over;
}

records::FindingsTable table_over_etas(std::string title) {
  records::FindingsTable table{.title = std::move(title), .columns = {"eta"}, .rows = {}};
  for (const std::string_view policy : compared_policies) {
    table.columns.push_back(fmt::format("time, {}", policy));
    table.columns.push_back(fmt::format("energy, {}", policy));
  }
  for (const double eta : goodput_etas) {
    table.rows.push_back({fmt::format("{}", eta)});
  }
  return table;
}

records::ChartSeries batch_sizes_of(const Interconnect& interconnect, const TrainingByGoodput& training) {
  records::ChartSeries series{
      .name = std::string{interconnect.name}, .style = records::SeriesStyle::line_and_points, .points = {}};
  for (const int size : training.batch_sizes) {
    series.points.push_back({.x = static_cast<double>(series.points.size() + 1), .y = 1.0 * size, .label = {}});
  }
  return series;
}

std::string how_often_it_got_there(const std::vector<TrainingByGoodput>& trainings) {
  return fmt::format("{} of {}", std::ranges::count(trainings, true, &TrainingByGoodput::reached), trainings.size());
}

}  // namespace

records::FindingsSection goodput_section(std::uint64_t seeds) {
  std::vector<std::vector<std::optional<int>>> runs(shared_batch_sizes.size());
  for (std::size_t i = 0; i < shared_batch_sizes.size(); ++i) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      runs[i].push_back(epochs_with(shared_batch_sizes[i], seed));
    }
  }
  records::FindingsSection section{
      .title = "Four GPUs, beside a batch size that follows the goodput (section 6.6)",
      .paragraphs =
          {fmt::format(
               "Not the paper's experiment, but an analogue of it: a small network that really learns, with the "
               "times and powers of DeepSpeech2 on four A40 by the built-in models. The training by goodput "
               "chooses its batch size after each epoch as Pollux would for one job with four GPUs, under the "
               "highest limit; it is not Pollux, whose subject is a cluster. The policies choose batch size and "
               "limit from recurrence to recurrence. Below 1, a policy takes less. Means of {} seeds, each with "
               "a training by goodput of its own, and their 95 % intervals. The paper, of one experiment: 1.12 "
               "times the time, 0.79 times the energy.",
               seeds),
           "The last five runs are those that reached the target, among which those that were stopped do not count; a "
           "mean recurrence has all of it."},
      .figures = {}};
  records::XyChart sizes{.title = "Batch size of the training by goodput, first seed",
                         .x = {.label = "epoch", .from_zero = true},
                         .y = {.label = "batch size", .logarithmic = true},
                         .series = {},
                         .reference = std::nullopt};
  records::FindingsTable trainings{
      .title = "The training by goodput",
      .columns = {"connection", "reaches the target", "time (h)", "energy (MJ)", "noise scale at the end"},
      .rows = {}};
  std::vector<records::FindingsTable> tables;
  std::vector<records::FindingsSamples> samples;
  for (const Interconnect& interconnect : interconnects) {
    const SharedGpus gpus{interconnect};
    std::vector<TrainingByGoodput> by_goodput;
    std::vector<double> hours;
    std::vector<double> megajoules;
    std::vector<double> noise;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      by_goodput.push_back(train_by_goodput(gpus, seed));
      hours.push_back(by_goodput.back().time.value() / 3600.0);
      megajoules.push_back(by_goodput.back().energy.value() / 1e6);
      noise.push_back(by_goodput.back().noise_scale);
    }
    sizes.series.push_back(batch_sizes_of(interconnect, by_goodput.front()));
    trainings.rows.push_back({std::string{interconnect.name}, how_often_it_got_there(by_goodput), mean_of(hours),
                              mean_of(megajoules), mean_of(noise)});
    records::FindingsTable last =
        table_over_etas(fmt::format("{}: the last five runs over the training by goodput", interconnect.name));
    records::FindingsTable whole =
        table_over_etas(fmt::format("{}: a mean recurrence, learning included, over it", interconnect.name));
    const simulate::Workload workload = gpus.workload(runs);
    for (const std::string_view policy : compared_policies) {
      records::FindingsSamples times{
          .key = fmt::format("goodput_time_of_{}_{}", policy, interconnect.key), .groups = {}, .values = {}};
      records::FindingsSamples energies{
          .key = fmt::format("goodput_energy_of_{}_{}", policy, interconnect.key), .groups = {}, .values = {}};
      for (std::size_t i = 0; i < goodput_etas.size(); ++i) {
        const simulate::Stage stage{workload, goodput_etas[i]};
        const OverGoodput over = over_goodput(stage, policy, by_goodput);
        last.rows[i].push_back(mean_of(over.time));
        last.rows[i].push_back(mean_of(over.energy));
        whole.rows[i].push_back(mean_of(over.whole_time));
        whole.rows[i].push_back(mean_of(over.whole_energy));
        times.add(fmt::format("eta {}", goodput_etas[i]), over.time);
        energies.add(fmt::format("eta {}", goodput_etas[i]), over.energy);
      }
      samples.push_back(std::move(times));
      samples.push_back(std::move(energies));
    }
    tables.push_back(std::move(last));
    tables.push_back(std::move(whole));
  }
  section.figures.emplace_back(std::move(sizes));
  section.figures.emplace_back(std::move(trainings));
  for (records::FindingsTable& table : tables) {
    section.figures.emplace_back(std::move(table));
  }
  for (records::FindingsSamples& one : samples) {
    section.figures.emplace_back(std::move(one));
  }
  return section;
}

}  // namespace zeus::research
