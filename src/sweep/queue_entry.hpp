// Entries of a queue, as queue.yaml has them, and the runs that they stand for: an entry stands for every combination
// of its values. Plain values and pure functions; any thread.
#pragma once

#include "sweep/yaml_value.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::sweep {

inline constexpr std::size_t most_runs_of_an_entry = 1'000'000;
inline constexpr field::Rule long_list{.members = most_runs_of_an_entry};

struct Parameter {
  std::string name;
  std::string value;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("name", self.name);
    fields("value", self.value);
  }
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

// Null if none has this name.
const std::string* find_parameter(const std::vector<Parameter>& parameters, std::string_view name);

struct ParameterList {
  std::string name;
  std::vector<std::string> values;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("name", self.name);
    fields("values", self.values, long_list);
  }
  friend bool operator==(const ParameterList&, const ParameterList&) = default;
};

// What stands under an entry's key `zeus`.
struct EntrySettings {
  int gpus = 0;  // that a run has for itself; 0: it takes no lease, and all visible GPUs are measured
  std::vector<Watts> power_limits = {};
  std::vector<Megahertz> clocks = {};
  std::vector<std::uint64_t> seeds = {};
  int repetitions = 1;
  std::string metric_regex = {};
  std::string epoch_regex = {};
  std::optional<double> target_metric = {};
  bool higher_is_better = true;
  Seconds settle = {};  // before each run

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("gpus", self.gpus, field::Rule{.least = 0.0, .most = 1024.0});
    fields("power_limits", self.power_limits, field::power_above_zero);
    fields("clocks", self.clocks, field::above_zero);
    fields("seeds", self.seeds);
    fields("repetitions", self.repetitions, field::count_from_one);
    fields("metric_regex", self.metric_regex);
    fields("epoch_regex", self.epoch_regex);
    fields("target_metric", self.target_metric);
    fields("higher_is_better", self.higher_is_better);
    fields("settle", self.settle, field::duration);
  }
  friend bool operator==(const EntrySettings&, const EntrySettings&) = default;
};

struct QueueEntry {
  std::vector<std::string> commands;
  std::vector<ParameterList> parameters;
  EntrySettings settings;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("commands", self.commands, long_list);
    fields("parameters", self.parameters);
    fields("settings", self.settings);
  }
  friend bool operator==(const QueueEntry&, const QueueEntry&) = default;
};

// One run of an entry, before it has a host.
struct Task {
  std::string command;  // with its {{ names }}
  std::vector<Parameter> parameters;
  int slots = 1;
  std::optional<Watts> power_limit;
  std::optional<Megahertz> clock;
};

// Throws an invalid_argument Error if a value cannot be: too many runs, slots that are not a number.
std::size_t task_count(const QueueEntry& entry);
// The tasks in order: the command changes slowest, then the parameters as the file has them, then power limit, clock,
// seed and repetition.
Task task_at(const QueueEntry& entry, std::size_t index);

// Reads queue.yaml; `name` is what errors call it. Errors are corrupt_data with name and line.
std::vector<QueueEntry> parse_queue(const std::string& name, const std::string& text);

// A member of the list as queue.yaml and consumed.yaml have it: a mapping with `command`.
std::string to_yaml(const QueueEntry& entry);

// For hosts.yaml as well: a value or a list of values. An empty list and a value that is missing are refused.
std::vector<std::string> values_of(const std::string& name, const std::string& key, const YamlValue& value);
// The members of the file's list.
const std::vector<YamlValue>& list_of(const std::string& name, const YamlValue& document);
// A whole number from 1 to 1,000,000; otherwise an invalid_argument Error.
int parse_slots(const std::string& text);

}  // namespace zeus::sweep
