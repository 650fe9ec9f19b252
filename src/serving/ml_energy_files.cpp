#include "serving/ml_energy_files.hpp"

#include "records/json_writer.hpp"
#include "serving/answer.hpp"
#include "serving/figures.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>

namespace zeus::serving {

namespace {

constexpr std::string_view no_organization = "local";

// One step of a path: letters, digits, and what cannot lead elsewhere.
std::string step_of(std::string_view name) {
  std::string step;
  for (const char c : name) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    step += is_plain ? c : '-';
  }
  return step.find_first_not_of('.') == std::string::npos ? "unnamed" : step;
}

// "H100" of "NVIDIA H100 80GB HBM3", as the benchmark calls GPUs: the first word with a digit, up to a hyphen.
std::string gpu_step(const BenchResult& result) {
  const std::string name = result.gpus.empty() ? "" : result.gpus.front().name;
  for (std::string_view rest = name; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (std::ranges::any_of(word, [](unsigned char c) { return std::isdigit(c) != 0; })) {
      return step_of(word.substr(0, word.find('-')));
    }
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return step_of(name);
}

// "ORGANIZATION/MODEL", of the last two parts of the model's name.
std::string model_steps(const BenchResult& result) {
  const std::string_view model = result.model;
  const std::size_t last = model.rfind('/');
  if (last == std::string_view::npos || last == 0) {
    return fmt::format("{}/{}", no_organization, step_of(model.substr(last == 0 ? 1 : 0)));
  }
  const std::string_view before = model.substr(0, last);
  const std::size_t former = before.rfind('/');
  return fmt::format("{}/{}", step_of(before.substr(former == std::string_view::npos ? 0 : former + 1)),
                     step_of(model.substr(last + 1)));
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void check_that_there_is_a_form(const BenchResult& result) {
  const SteadyFigures& steady = result.steady;
  const std::string why = result.ended != Ended::complete ? "the run was ended early"
                          : !steady.energy_per_output_token
                              ? fmt::format("joules per output token are not known: {}", steady.why_no_energy_per_token)
                          : !steady.time_between_tokens
                              ? fmt::format("times between tokens are not known: {}", steady.why_no_between)
                              : "";
  if (!why.empty()) {
    throw Error{ErrorKind::unavailable,
                fmt::format("the ML.ENERGY benchmark's layout has no form for this run: {}", why),
                "what is known of it is in the other results"};
  }
}

std::string results_json(const BenchRun& run, const BenchResult& result) {
  const SteadyFigures& steady = result.steady;
  const std::vector<std::vector<Seconds>> gaps = steady_gaps(run.slices, run.answers);
  records::JsonWriter json;
  json.object([&] {
    json.put("model_id", result.model);
    json.put("steady_state_duration", steady.time);
    json.put("steady_state_energy", steady.energy->value);
    json.put("steady_state_energy_per_token", steady.energy_per_output_token->value);
    json.put("completed", steady.answers);
    json.put("total_output_tokens", steady.output_tokens);
    json.put_list("results", run.answers, [&](const Answer& answer) {
      json.object([&] {
        json.put("success", answer.is_whole());
        json.put("output_len", answer.usage ? std::optional{answer.usage->output_tokens} : std::nullopt);
        json.put("itl", gaps[static_cast<std::size_t>(&answer - run.answers.data())]);
      });
    });
  });
  return json.take() + '\n';
}

}  // namespace

std::string ml_energy_folder(const BenchResult& result) {
  const std::string gpu = gpu_step(result);
  return fmt::format("llm/{}/current/run/llm/{}/results/{}/{}/num_gpus+{}+max_num_seqs+{}+seed+{}", lower(gpu),
                     field::name_of(result.route), model_steps(result), gpu, result.gpus.size(), result.in_flight,
                     result.seed);
}

std::vector<RunFile> ml_energy_files(const BenchRun& run, const BenchResult& result, double parameters) {
  check_that_there_is_a_form(result);
  const std::string folder = ml_energy_folder(result);
  const std::string settings = fmt::format("configs/vllm/{}/{}", field::name_of(result.route), model_steps(result));
  records::JsonWriter model;
  model.object([&] { model.put("total_parameters_billion", parameters); });
  records::JsonWriter server;
  server.object([&] {
    server.put("steady_state_stats", [&] {
      server.put("vllm:num_requests_running",
                 result.steady.in_flight ? std::optional{result.steady.in_flight->value} : std::nullopt);
    });
  });
  return {
      {.path = folder + "/results.json", .content = results_json(run, result)},
      {.path = folder + "/prometheus.json", .content = server.take() + '\n'},
      {.path = settings + "/model_info.json", .content = model.take() + '\n', .is_kept = true},
      {.path = fmt::format("{}/{}/monolithic.config.yaml", settings, gpu_step(result)),
       .content =
           "# How its GPUs share the work is not known here; readers then take all of them for one copy of it.\n{}\n",
       .is_kept = true}};
}

void write_ml_energy_files(const FileTree& folder, const BenchRun& run, const BenchResult& result, double parameters) {
  for (const RunFile& file : ml_energy_files(run, result, parameters)) {
    if (!file.is_kept || !folder.exists(file.path)) {
      folder.write_durably(file.path, file.content, Readers::everyone);
    }
  }
}

}  // namespace zeus::serving
