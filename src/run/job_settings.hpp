// The settings of a job from a job file or from the flags of `zeus run`. Each flag that describes the job has a key of
// the same name, with an underscore where the flag has a dash. Settings that were not given are empty. Plain values.
#pragma once

#include "records/energy_rates.hpp"
#include "records/job_definition.hpp"
#include "run/learning_rate.hpp"
#include "run/run_options.hpp"
#include "toml/toml_reader.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::run {

// The power limits to choose from.
struct LimitChoice {
  bool set = true;           // false: leave them as they are
  std::vector<Watts> among;  // empty: steps of 25 W
};

// Reads "auto", "off" or "100,150,200"; throws an invalid_argument Error for anything else.
LimitChoice parse_limit_choice(std::string_view text);

// A GPU by its number or its UUID.
struct GpuName {
  std::string name;
};

enum class StoreFailure { go_on, refuse };

constexpr auto names_of(StoreFailure /*failure*/) {
  return std::array<field::Name<StoreFailure>, 2>{
      {{StoreFailure::go_on, "continue"}, {StoreFailure::refuse, "refuse"}}};
}

struct JobSettings {
  std::optional<std::string> job;
  std::optional<std::vector<std::string>> command;
  std::optional<std::vector<int>> batch_sizes;
  std::optional<int> default_batch_size;
  std::optional<LearningRate> learning_rate;  // its scaling has a key of its own
  std::optional<RateScaling> lr_scaling;
  std::optional<double> target_metric;
  std::optional<bool> higher_is_better;
  std::optional<int> max_epochs;
  std::optional<double> eta;
  std::optional<double> beta;
  std::optional<std::uint64_t> window;
  std::optional<std::string> policy;
  std::optional<std::uint64_t> pruning_rounds;
  std::optional<std::uint64_t> explorations;
  std::optional<Joules> prior_cost;
  std::optional<double> prior_precision;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> metric_regex;
  std::optional<std::string> epoch_regex;
  std::optional<std::string> step_regex;
  std::optional<LimitChoice> power_limits;
  std::optional<double> max_slowdown;
  std::optional<double> profile_seconds;
  std::optional<std::vector<GpuName>> gpus;
  std::optional<std::string> store;
  std::optional<StoreFailure> on_store_error;
  std::optional<std::string> server;
  std::optional<double> server_patience;
  std::optional<records::EnergyPrice> price;
  std::optional<records::CarbonIntensity> carbon;
  std::optional<bool> stop_at_target;
  std::optional<double> grace;
  std::optional<bool> quiet;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("job", self.job);
    fields("command", self.command);
    fields("batch_sizes", self.batch_sizes, field::from_one);
    fields("default_batch_size", self.default_batch_size, field::from_one);
    fields("learning_rate", self.learning_rate);
    fields("lr_scaling", self.lr_scaling);
    fields("target_metric", self.target_metric);
    fields("higher_is_better", self.higher_is_better);
    fields("max_epochs", self.max_epochs, field::from_one);
    fields("eta", self.eta, field::share);
    fields("beta", self.beta, field::Rule{.least = 0.0, .above_least = true, .null_is_infinite = true});
    fields("window", self.window);
    fields("policy", self.policy);
    fields("pruning_rounds", self.pruning_rounds);
    fields("explorations", self.explorations);
    fields("prior_cost", self.prior_cost);
    fields("prior_precision", self.prior_precision, field::from_zero);
    fields("seed", self.seed);
    fields("metric_regex", self.metric_regex);
    fields("epoch_regex", self.epoch_regex);
    fields("step_regex", self.step_regex);
    fields("power_limits", self.power_limits);
    fields("max_slowdown", self.max_slowdown, field::from_one);
    fields("profile_seconds", self.profile_seconds, field::above_zero);
    fields("gpus", self.gpus);
    fields("store", self.store);
    fields("on_store_error", self.on_store_error);
    fields("server", self.server);
    fields("server_patience", self.server_patience, field::from_zero);
    fields("price", self.price);
    fields("carbon", self.carbon);
    fields("stop_at_target", self.stop_at_target);
    fields("grace", self.grace, field::from_zero);
    fields("quiet", self.quiet);
  }
};

// As job files write them: 0 or "GPU-8e1d7a52-..."; "128:0.1"; "auto", "off" or a list of watts.
void read_toml(const toml::TomlSpot& spot, GpuName& gpu);
void read_toml(const toml::TomlSpot& spot, LearningRate& rate);
void read_toml(const toml::TomlSpot& spot, LimitChoice& choice);

// Each key from `over` if it is set there, otherwise from `under`.
JobSettings merged(const JobSettings& over, const JobSettings& under);

// Not `checked` yet (run_options.hpp).
RunOptions options_of(const JobSettings& settings);

// The definition of a job from complete settings, such as those of a job file.
records::JobDefinition definition_by(const JobSettings& settings, const records::JobDefinition& known);
// `known` with these changes. Throws an invalid_argument Error for a setting that is not part of a definition.
records::JobDefinition changed(const records::JobDefinition& known, const JobSettings& changes);

}  // namespace zeus::run

// In the namespace of the types, where toml_reader.hpp looks: "0.31EUR"; "380g".
namespace zeus::records {

void read_toml(const toml::TomlSpot& spot, EnergyPrice& price);
void read_toml(const toml::TomlSpot& spot, CarbonIntensity& carbon);

}  // namespace zeus::records
