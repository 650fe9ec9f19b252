// The definition of a recurring job: what must stay the same from one recurrence to the next, and the devices that it
// began on. Plain values; copy them freely between threads.
#pragma once

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::records {

// The devices that one recurrence runs on. On other devices, every epoch has another cost.
struct JobDevice {
  std::string model;                // product name, "NVIDIA A100-SXM4-40GB"
  std::uint32_t gpus = 1;           // how many of them
  Watts max_power;                  // the most that all of them together may draw: MAXPOWER in the cost
  std::vector<Watts> power_limits;  // allowed on each, ascending; one is enough (then there is nothing to choose)

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("model", self.model);
    fields("gpus", self.gpus, field::count_from_one);
    fields("max_power", self.max_power, field::power_above_zero);
    fields("power_limits", self.power_limits,
           field::Rule{.least = field::least_part, .most = field::most_watts, .fewest = 1});
  }
  friend bool operator==(const JobDevice&, const JobDevice&) = default;
};

// "4 x NVIDIA A100-SXM4-40GB"
std::string to_text(const JobDevice& device);

// The metric that a try has to reach.
struct JobTarget {
  double metric = 0.0;
  bool higher_is_better = true;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("metric", self.metric);
    fields("higher_is_better", self.higher_is_better);
  }
  friend bool operator==(const JobTarget&, const JobTarget&) = default;
};

// The options of the policy `zeus`; by default its paper's own choices.
struct ZeusChoices {
  std::size_t pruning_rounds = 2;  // 0: no batch size is pruned
  std::size_t explorations = 2;    // runs of each remaining batch size before costs decide
  // The prior belief about the cost of a run of any batch size: its mean, and 1 / variance; 0 for no prior.
  Joules prior_cost;
  double prior_precision = 0.0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("pruning_rounds", self.pruning_rounds, field::count);
    fields("explorations", self.explorations, field::count);
    fields("prior_cost", self.prior_cost, field::Rule{.least = -field::most_factor, .most = field::most_factor});
    fields("prior_precision", self.prior_precision, field::Rule{.least = 0.0, .most = field::most_factor});
  }
  friend bool operator==(const ZeusChoices&, const ZeusChoices&) = default;
};

struct JobDefinition {
  std::vector<int> batch_sizes;        // to choose from; empty for a job that has no batch size, only power limits
  int default_batch_size = 0;          // one of them; 0 if there are none
  std::optional<JobTarget> target;     // nothing: a try that ends with exit code 0 counts as reached
  int max_epochs = 1;                  // a try that has not reached the target after these has failed
  double eta = 0.5;                    // weight of energy against time in the cost
  double beta = 2.0;                   // early stop at beta x the least cost of a recurrence so far
  std::size_t window = 0;              // how many observations policies remember, for drift; 0 for all
  std::string policy;                  // by name
  std::uint64_t seed = 0;              // of the policy's draws and of the tries' own seeds
  std::optional<double> max_slowdown;  // power limits that slow an epoch by a larger factor are not used
  // The learning rate of one batch size, and how others follow from it: "128:0.1 linear". Nothing if the command
  // chooses.
  std::optional<std::string> learning_rate = {};
  std::optional<ZeusChoices> zeus = {};
  JobDevice device;  // of the first recurrence

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("batch_sizes", self.batch_sizes, field::count_from_one);
    fields("default_batch_size", self.default_batch_size, field::count);
    fields("target", self.target);
    fields("max_epochs", self.max_epochs, field::count_from_one);
    fields("eta", self.eta, field::share);
    fields("beta", self.beta,
           field::Rule{.least = field::least_part, .most = field::most_factor, .null_is_infinite = true});
    fields("window", self.window, field::count);
    fields("policy", self.policy);
    fields("seed", self.seed);
    fields("max_slowdown", self.max_slowdown, field::Rule{.least = 1.0, .most = field::most_factor});
    fields("learning_rate", self.learning_rate, field::Rule{.left_out = true});
    fields("zeus", self.zeus, field::Rule{.left_out = true});
    fields("device", self.device);
  }
  friend bool operator==(const JobDefinition&, const JobDefinition&) = default;
};

// One difference between two definitions.
struct DefinitionChange {
  std::string_view key;  // its name in job files and flags
  std::string sentence;  // "its eta is 0.5, not 0.7"
  std::string was;       // "0.5"
  std::string now;       // "0.7"
  // The line of a job file for it: "eta = 0.7". Empty if there is none.
  std::string setting;
};

// A change by a redefinition: one for each key, with what follows from it.
struct ReportedChange {
  std::string key;
  std::string was;
  std::string now;
  std::string follows;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("key", self.key);
    fields("was", self.was);
    fields("now", self.now);
    fields("follows", self.follows);
  }
  friend bool operator==(const ReportedChange&, const ReportedChange&) = default;
};

// What differs; `kept` is what the store has. Empty if they agree. Devices may change between recurrences and are not
// compared. A learning rate that was not given before counts as unchanged.
std::vector<DefinitionChange> differences(const JobDefinition& kept, const JobDefinition& asked);

// One line of JSON, and back. Anything else (a missing key, a wrong type, a value that is not finite) is a corrupt_data
// Error. optimize::checked finds out whether the definition makes sense.
std::string to_json(const JobDefinition& definition);
JobDefinition job_definition_from_json(std::string_view text);

}  // namespace zeus::records
