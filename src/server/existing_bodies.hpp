// The bodies that the existing package's clients of its batch size optimizer send and receive. They are read like its
// own server reads them, with the same list of faults (`detail` of a 422). Values that its server accepts but cannot
// use are faults here. Plain values and pure functions; any thread.
#pragma once

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::server {

// A job as its script describes it. Fields that a body must have are `required`; the others have the defaults given
// here.
struct ExistingSpec {
  static constexpr std::array<std::string_view, 6> required{"max_power",     "number_of_gpus", "gpu_model",
                                                            "job_id_prefix", "batch_sizes",    "default_batch_size"};

  Watts max_power;                   // of all GPUs together
  std::uint32_t number_of_gpus = 1;  // all of one model
  std::string gpu_model;
  std::optional<std::string> job_id;  // if nothing, the server makes one
  std::string job_id_prefix;          // prefix of job_id
  std::vector<int> batch_sizes;       // ascending, each once
  int default_batch_size = 0;         // one of them
  double eta_knob = 0.5;
  std::optional<double> beta_knob = 2.0;  // nothing: no trial is stopped for its cost
  double target_metric = 0.5;
  bool higher_is_better_metric = true;
  int max_epochs = 100;
  std::uint32_t num_pruning_rounds = 2;
  std::int64_t window_size = 0;  // 0 or less: all trials count
  double mab_prior_mean = 0.0;   // of a reward, which is a negated cost
  double mab_prior_precision = 0.0;
  std::uint32_t mab_num_explorations = 2;
  std::optional<std::int64_t> mab_seed;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("max_power", self.max_power,
           field::Rule{.least = 0.0, .most = field::most_watts, .above_least = true, .unit_in_key = false});
    fields("number_of_gpus", self.number_of_gpus, field::count_from_one);
    fields("gpu_model", self.gpu_model);
    fields("job_id", self.job_id);
    fields("job_id_prefix", self.job_id_prefix);
    fields("batch_sizes", self.batch_sizes,
           field::Rule{.least = 0.0, .most = field::most_counted, .above_least = true, .members = 64});
    fields("default_batch_size", self.default_batch_size,
           field::Rule{.least = 0.0, .most = field::most_counted, .above_least = true});
    fields("eta_knob", self.eta_knob, field::share);
    fields("beta_knob", self.beta_knob, field::Rule{.least = 0.0, .most = field::most_factor, .above_least = true});
    fields("target_metric", self.target_metric);
    fields("higher_is_better_metric", self.higher_is_better_metric);
    fields("max_epochs", self.max_epochs, field::Rule{.least = 0.0, .most = 1e6, .above_least = true});
    fields("num_pruning_rounds", self.num_pruning_rounds, field::Rule{.least = 0.0, .most = 100.0});
    fields("window_size", self.window_size, field::Rule{.most = 1e6});
    fields("mab_prior_mean", self.mab_prior_mean,
           field::Rule{.least = -field::most_factor, .most = field::most_factor});
    fields("mab_prior_precision", self.mab_prior_precision, field::Rule{.least = 0.0, .most = field::most_factor});
    fields("mab_num_explorations", self.mab_num_explorations, field::Rule{.least = 0.0, .most = 1e6});
    fields("mab_seed", self.mab_seed, field::from_zero);
  }
  friend bool operator==(const ExistingSpec&, const ExistingSpec&) = default;
};

// One run of a job at one batch size; numbered from 1.
struct ExistingTrial {
  static constexpr std::array<std::string_view, 3> required{"job_id", "batch_size", "trial_number"};

  std::string job_id;
  int batch_size = 0;
  std::int64_t trial_number = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("job_id", self.job_id);
    fields("batch_size", self.batch_size);
    fields("trial_number", self.trial_number);
  }
  friend bool operator==(const ExistingTrial&, const ExistingTrial&) = default;
};

// A trial at the end of an epoch: its totals, and the metric of the model.
struct ExistingResult {
  static constexpr std::array<std::string_view, 7> required{"job_id", "batch_size", "trial_number", "time",
                                                            "energy", "metric",     "current_epoch"};

  ExistingTrial trial;
  Seconds time;
  Joules energy;
  std::optional<double> metric;  // nothing if it is not a number, as in a diverged training
  int current_epoch = 0;         // from 1

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("trial", self.trial, field::beside);
    fields("time", self.time, field::without_unit(field::duration));
    fields("energy", self.energy, field::without_unit(field::energy));
    fields("metric", self.metric);
    fields("current_epoch", self.current_epoch, field::count_from_one);
  }
  friend bool operator==(const ExistingResult&, const ExistingResult&) = default;
};

// The answer to a result.
struct ExistingVerdict {
  bool stop_train = false;
  bool converged = false;
  std::string message;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("stop_train", self.stop_train);
    fields("converged", self.converged);
    fields("message", self.message);
  }
  friend bool operator==(const ExistingVerdict&, const ExistingVerdict&) = default;
};

// A refusal of a well-formed request.
struct ExistingRefusal {
  std::string message;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("message", self.message);
  }
};

// A fault of a request in the form that these clients know: where (keys and positions, starting with "body" or
// "query"), a message, and a type for programs.
struct ExistingFault {
  std::vector<std::variant<std::string, std::size_t>> place;
  std::string message;
  std::string type;
  std::optional<double> limit;  // that the value exceeds

  friend bool operator==(const ExistingFault&, const ExistingFault&) = default;
};
using ExistingFaults = std::vector<ExistingFault>;

// {"detail":[{"loc":["body","max_epochs"],"msg":"..","type":".."}]}
std::string to_json(const ExistingFaults& faults);

template <typename Body>
using ExistingRead = std::variant<Body, ExistingFaults>;

// A body in JSON, unless another type is stated. Unknown keys are ignored; numbers may be strings, and NaN and Infinity
// may be written as in Python.
template <typename Body>
ExistingRead<Body> read_existing(std::string_view body);
extern template ExistingRead<ExistingSpec> read_existing(std::string_view body);
extern template ExistingRead<ExistingTrial> read_existing(std::string_view body);
extern template ExistingRead<ExistingResult> read_existing(std::string_view body);

// The faults of a body whose stated type is not JSON.
ExistingFaults no_object();
// The job named in a query: the last one, if there are several.
ExistingRead<std::string> read_existing_job(std::string_view query);

// A name for a new job without one.
std::string made_job_id(std::string_view prefix);

}  // namespace zeus::server
