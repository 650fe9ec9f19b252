#include "sweep/results.hpp"

#include "base/amount_text.hpp"
#include "base/printable.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

namespace zeus::sweep {

namespace {

const RunFigures& figures_of(const KnownRun& run) {
  static const RunFigures none{};
  return run.ended ? run.ended->figures : none;
}

std::string value_of_parameter(const KnownRun& run, const std::string& name) {
  const std::string* const value = find_parameter(run.started.parameters, name);
  return value != nullptr ? *value : "";
}

template <typename Value>
std::string number_text(const std::optional<Value>& value) {
  if constexpr (requires { value->value(); }) {
    return value ? fmt::format("{}", value->value()) : "";
  } else {
    return value ? fmt::format("{}", *value) : "";
  }
}

std::string limit_text(const RunFigures& figures) {
  return figures.gpus.empty() ? "" : number_text(figures.gpus.front().limit);
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char letter : text) {
    quoted += letter == '"' ? std::string{"\"\""} : std::string{letter};
  }
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    line += (&field == fields.data() ? "" : ",") + csv_field(field);
  }
  return line + '\n';
}

// When a run had a GPU, on its host's monotonic clock.
struct Use {
  const KnownRun* run = nullptr;
  Seconds begin = {};
  Seconds end = {};
};

// The host's clock begins again when it is restarted; the ledger knows what came after what.
bool are_together(const Use& one, const Use& other) {
  const bool in_order = one.run->started.run < other.run->started.run;
  const KnownRun& first = in_order ? *one.run : *other.run;
  const KnownRun& second = in_order ? *other.run : *one.run;
  return one.begin < other.end && other.begin < one.end && second.started.run <= first.begun_by_then;
}

std::map<std::pair<std::string, std::string>, std::vector<Use>> uses_of_gpus(const LedgerContent& ledger) {
  std::map<std::pair<std::string, std::string>, std::vector<Use>> uses;
  for (const KnownRun& run : ledger.runs) {
    const RunFigures& figures = figures_of(run);
    if (figures.start_monotonic && figures.time) {
      for (const RunGpu& gpu : figures.gpus) {
        uses[{run.started.host, gpu.uuid}].push_back(
            {.run = &run, .begin = *figures.start_monotonic, .end = *figures.start_monotonic + *figures.time});
      }
    }
  }
  return uses;
}

std::string numbers_text(const std::vector<std::uint64_t>& runs) {
  return fmt::format("{}", fmt::join(runs, " "));
}

void write_run(records::JsonWriter& json, const KnownRun& run, const std::vector<std::uint64_t>& beside) {
  const RunFigures& figures = figures_of(run);
  const std::string why = run.ended ? run.ended->why : "it is running";
  json.put("run", run.started.run);
  json.put("state", state_text(run));
  json.put("why", run.ended ? run.ended->why : "");
  json.put("host", run.started.host);
  json.put("place", run.started.place);
  json.put("command", run.started.command);
  json.put("parameters", [&] {
    for (const Parameter& parameter : run.started.parameters) {
      json.put(parameter.name, parameter.value);
    }
  });
  json.put("started", run.started.at);
  json.put("exit_code", figures.exit_code, why);
  json.put("start_monotonic_s", figures.start_monotonic, why);
  json.put("time_s", figures.time, why);
  json.put("energy_j", figures.energy, figures.energy_unknown.empty() ? why : figures.energy_unknown);
  json.put("gpus", figures.gpus);
  json.put("runs_beside", beside);
  json.put("epochs", figures.epochs);
  json.put("epoch_time_s", figures.epoch_time, "no epoch was seen");
  json.put("epoch_energy_j", figures.epoch_energy, "no epoch was seen, or its energy is unknown");
  json.put("metric", last_metric(figures), "no metric was seen");
}

std::vector<std::string> page_row(const KnownRun& run, const std::vector<std::string>& names) {
  const RunFigures& figures = figures_of(run);
  std::vector<std::string> row{fmt::format("{}", run.started.run), state_text(run), run.started.place};
  std::ranges::transform(names, std::back_inserter(row),
                         [&](const std::string& name) { return printable(value_of_parameter(run, name)); });
  row.push_back(gpu_text(figures));
  row.push_back(figures.time ? to_text(*figures.time) : "");
  row.push_back(figures.energy ? to_text(figures.energy->value, figures.energy->uncertainty) : figures.energy_unknown);
  row.push_back(number_text(last_metric(figures)));
  row.push_back(number_text(figures.exit_code));
  row.push_back(printable(shortened(run.started.command, 120)));
  return row;
}

}  // namespace

std::vector<std::string> parameter_names(const LedgerContent& ledger) {
  std::vector<std::string> names;
  for (const KnownRun& run : ledger.runs) {
    for (const Parameter& parameter : run.started.parameters) {
      if (parameter.name != "hostname" && parameter.name != "slots" &&
          std::ranges::find(names, parameter.name) == names.end()) {
        names.push_back(parameter.name);
      }
    }
  }
  return names;
}

std::string state_text(const KnownRun& run) {
  return run.ended ? std::string{field::name_of(run.ended->outcome)} : "running";
}

std::string gpu_text(const RunFigures& figures) {
  std::string text;
  for (auto gpu = figures.gpus.begin(); gpu != figures.gpus.end();) {
    const auto next =
        std::ranges::find_if(gpu, figures.gpus.end(), [&](const RunGpu& one) { return one.name != gpu->name; });
    const auto count = next - gpu;
    text += (text.empty() ? "" : ", ") + (count > 1 ? fmt::format("{} x {}", count, gpu->name) : gpu->name);
    gpu = next;
  }
  return text;
}

std::optional<double> last_metric(const RunFigures& figures) {
  return figures.metrics.empty() ? std::nullopt : figures.metrics.back();
}

std::vector<std::vector<std::uint64_t>> runs_beside(const LedgerContent& ledger) {
  std::vector<std::set<std::uint64_t>> beside(ledger.runs.size());
  for (auto& [gpu, uses] : uses_of_gpus(ledger)) {
    std::vector<Use> in_order = uses;
    std::ranges::sort(in_order, {}, &Use::begin);
    for (auto one = in_order.begin(); one != in_order.end(); ++one) {
      for (auto other = one + 1; other != in_order.end() && other->begin < one->end; ++other) {
        if (are_together(*one, *other)) {
          beside[one->run->started.run - 1].insert(other->run->started.run);
          beside[other->run->started.run - 1].insert(one->run->started.run);
        }
      }
    }
  }
  std::vector<std::vector<std::uint64_t>> runs;
  for (const std::set<std::uint64_t>& of_one : beside) {
    runs.emplace_back(of_one.begin(), of_one.end());
  }
  return runs;
}

std::string beside_text(const LedgerContent& ledger) {
  const std::vector<std::vector<std::uint64_t>> beside = runs_beside(ledger);
  const auto count = std::ranges::count_if(beside, [](const auto& runs) { return !runs.empty(); });
  return count == 0 ? ""
                    : fmt::format(
                          "{} runs shared a GPU with others at the same time, and have the energy of these in "
                          "theirs; `zeus: {{gpus: 1}}` in the queue gives each a GPU of its own",
                          count);
}

std::string results_csv(const LedgerContent& ledger) {
  const std::vector<std::string> names = parameter_names(ledger);
  const std::vector<std::string> before{"run", "state", "exit_code", "host", "place"};
  const std::vector<std::string> after{
      "gpu",    "limit_in_force_w", "time_s",         "energy_j", "energy_uncertainty_j", "energy_systematic_j",
      "epochs", "epoch_time_s",     "epoch_energy_j", "metric",   "runs_beside",          "why",
      "command"};
  std::vector<std::string> titles = before;
  for (const std::string& name : names) {
    const bool is_taken =
        std::ranges::find(before, name) != before.end() || std::ranges::find(after, name) != after.end();
    titles.push_back(is_taken ? "parameter_" + name : name);
  }
  titles.insert(titles.end(), after.begin(), after.end());
  std::string csv = csv_line(titles);
  const std::vector<std::vector<std::uint64_t>> beside = runs_beside(ledger);
  for (const KnownRun& run : ledger.runs) {
    const RunFigures& figures = figures_of(run);
    std::vector<std::string> fields{fmt::format("{}", run.started.run), state_text(run), number_text(figures.exit_code),
                                    run.started.host, run.started.place};
    for (const std::string& name : names) {
      fields.push_back(value_of_parameter(run, name));
    }
    const std::optional<Energy>& energy = figures.energy;
    for (std::string field :
         {gpu_text(figures), limit_text(figures), number_text(figures.time),
          energy ? fmt::format("{}", energy->value.value()) : "",
          energy ? fmt::format("{}", energy->uncertainty.value()) : "", energy ? number_text(energy->systematic) : "",
          fmt::format("{}", figures.epochs), number_text(figures.epoch_time), number_text(figures.epoch_energy),
          number_text(last_metric(figures)), numbers_text(beside[run.started.run - 1]),
          run.ended ? run.ended->why : std::string{}, run.started.command}) {
      fields.push_back(std::move(field));
    }
    csv += csv_line(fields);
  }
  return csv;
}

std::string results_json(const LedgerContent& ledger) {
  records::JsonWriter json;
  const std::vector<std::vector<std::uint64_t>> beside = runs_beside(ledger);
  json.object([&] {
    json.put_list("runs", ledger.runs, [&](const KnownRun& run) {
      json.object([&] { write_run(json, run, beside[run.started.run - 1]); });
    });
  });
  return json.take();
}

records::Findings results_findings(const LedgerContent& ledger) {
  const std::vector<std::string> names = parameter_names(ledger);
  records::ChartSeries series{.name = "one run", .style = records::SeriesStyle::points, .points = {}, .key = "runs"};
  records::FindingsTable table{.title = "", .columns = {"run", "state", "place"}, .rows = {}};
  table.columns.insert(table.columns.end(), names.begin(), names.end());
  for (const std::string_view title : {"GPU", "time", "energy", "metric", "exit code", "command"}) {
    table.columns.emplace_back(title);
  }
  std::size_t done = 0;
  for (const KnownRun& run : ledger.runs) {
    const RunFigures& figures = figures_of(run);
    table.rows.push_back(page_row(run, names));
    const bool is_done = run.ended && run.ended->outcome == Outcome::done;
    done += is_done ? 1 : 0;
    if (is_done && figures.time && figures.energy) {
      const double energy = figures.energy->value.value();
      const double half_width = figures.energy->uncertainty.value();
      series.points.push_back({.x = figures.time->value(),
                               .y = energy,
                               .low = energy - half_width,
                               .high = energy + half_width,
                               .label = fmt::format("run {}", run.started.run)});
    }
  }
  records::Findings findings{.title = "Results of a sweep",
                             .paragraphs = {fmt::format("{} of {} runs are done. An energy is that of all GPUs of its "
                                                        "run, with the half-width of its 95 % interval.",
                                                        done, ledger.runs.size())},
                             .sections = {}};
  if (std::string shared = beside_text(ledger); !shared.empty()) {
    findings.paragraphs.push_back(std::move(shared));
  }
  if (!series.points.empty()) {
    findings.sections.push_back(
        {.title = "Energy and time",
         .paragraphs = {},
         .figures = {records::XyChart{.title = "The runs that are done",
                                      .x = {.label = "time (s)", .logarithmic = false, .from_zero = true},
                                      .y = {.label = "energy (J)", .logarithmic = false, .from_zero = true},
                                      .series = {series},
                                      .reference = std::nullopt,
                                      .marks = {}}}});
  }
  findings.sections.push_back({.title = "All runs", .paragraphs = {}, .figures = {table}});
  return findings;
}

}  // namespace zeus::sweep
