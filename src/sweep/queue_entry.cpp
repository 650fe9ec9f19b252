#include "sweep/queue_entry.hpp"

#include "base/printable.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <ranges>
#include <system_error>
#include <utility>

namespace zeus::sweep {

namespace {

template <typename Number>
std::optional<Number> number_of(const std::string& text) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

std::string text_of(const Watts& limit) {
  return fmt::format("{}", limit.value());
}
std::string text_of(const Megahertz& clock) {
  return fmt::format("{}", clock.value());
}
std::string text_of(std::uint64_t number) {
  return fmt::format("{}", number);
}

// The list of values that a task's index stands for: the last list changes fastest.
class Digits {
 public:
  explicit Digits(std::size_t index) : rest_{index} {}
  // Lists are asked for from the last to the first. An empty list counts as one choice.
  std::size_t take(std::size_t size) {
    const std::size_t base = std::max<std::size_t>(size, 1);
    return std::exchange(rest_, rest_ / base) % base;
  }

 private:
  std::size_t rest_;
};

class SettingsReader {
 public:
  SettingsReader(const std::string& name, const YamlValue& map) : name_{name}, map_{map} {}

  EntrySettings read() {
    if (map_.kind != YamlValue::Kind::map) {
      throw yaml_error(name_, map_.line, "'zeus' is not a mapping", "write, for example, `zeus: {gpus: 1}`");
    }
    const std::map<std::string, std::function<void()>, std::less<>> keys{
        {"gpus", [&] { settings_.gpus = whole(0, 1024); }},
        {"power_limits", [&] { each([&](double watts) { settings_.power_limits.emplace_back(watts); }); }},
        {"clocks", [&] { each([&](double megahertz) { settings_.clocks.emplace_back(megahertz); }); }},
        {"seeds", [&] { seeds(); }},
        {"repetitions", [&] { settings_.repetitions = whole(1, 1'000'000); }},
        {"metric_regex", [&] { settings_.metric_regex = word(); }},
        {"epoch_regex", [&] { settings_.epoch_regex = word(); }},
        {"target_metric", [&] { settings_.target_metric = real(word(), -field::most_factor, field::most_factor); }},
        {"higher_is_better", [&] { settings_.higher_is_better = truth(); }},
        {"settle", [&] { settings_.settle = Seconds{real(word(), 0.0, 86'400.0)}; }},
    };
    for (std::size_t i = 0; i < map_.keys.size(); ++i) {
      key_ = map_.keys[i];
      value_ = &map_.members[i];
      const auto known = keys.find(key_);
      if (known == keys.end()) {
        std::string list;
        for (const auto& [key, read] : keys) {
          list += list.empty() ? key : ", " + key;
        }
        throw yaml_error(name_, value_->line, fmt::format("'zeus' has no key {}", in_quotes(key_)),
                         "its keys are " + list);
      }
      known->second();
    }
    return settings_;
  }

 private:
  [[noreturn]] void refuse(const std::string& expected) const {
    throw yaml_error(name_, value_->line, fmt::format("{} of 'zeus' is not {}", in_quotes(key_), expected),
                     "correct the value");
  }

  [[nodiscard]] const std::string& word() const {
    if (value_->kind != YamlValue::Kind::scalar) {
      refuse("one value");
    }
    return value_->scalar;
  }

  [[nodiscard]] double real(const std::string& text, double least, double most) const {
    const std::optional<double> number = number_of<double>(text);
    if (!number || !std::isfinite(*number) || *number < least || *number > most) {
      refuse(fmt::format("a number from {} to {}", least, most));
    }
    return *number;
  }

  [[nodiscard]] int whole(int least, int most) const {
    const std::optional<int> number = number_of<int>(word());
    if (!number || *number < least || *number > most) {
      refuse(fmt::format("a whole number from {} to {}", least, most));
    }
    return *number;
  }

  [[nodiscard]] bool truth() const {
    if (word() != "true" && word() != "false") {
      refuse("true or false");
    }
    return word() == "true";
  }

  void each(const std::function<void(double)>& take) const {
    for (const std::string& text : values_of(name_, key_, *value_)) {
      take(real(text, 1.0, 100'000.0));
    }
  }

  void seeds() {
    for (const std::string& text : values_of(name_, key_, *value_)) {
      const std::optional<std::uint64_t> seed = number_of<std::uint64_t>(text);
      if (!seed) {
        refuse("a list of whole numbers from 0");
      }
      settings_.seeds.push_back(*seed);
    }
  }

  const std::string& name_;
  const YamlValue& map_;
  EntrySettings settings_;
  std::string key_;
  const YamlValue* value_ = nullptr;
};

constexpr std::string_view own_names[] = {"power_limit", "clock", "seed", "repetition"};

void add_parameter(const std::string& name, const std::string& key, const YamlValue& value, QueueEntry& entry) {
  if (std::ranges::find(own_names, key) != std::end(own_names)) {
    throw yaml_error(name, value.line, fmt::format("the parameter {} is filled in by Zeus", in_quotes(key)),
                     "give its values under the key `zeus`, or rename it");
  }
  entry.parameters.push_back({.name = key, .values = values_of(name, key, value)});
}

QueueEntry entry_of(const std::string& name, const YamlValue& member) {
  QueueEntry entry;
  if (member.kind != YamlValue::Kind::map) {
    entry.commands = values_of(name, "command", member);
    return entry;
  }
  for (std::size_t i = 0; i < member.keys.size(); ++i) {
    const std::string& key = member.keys[i];
    if (key == "command") {
      entry.commands = values_of(name, key, member.members[i]);
    } else if (key == "zeus") {
      entry.settings = SettingsReader{name, member.members[i]}.read();
    } else {
      add_parameter(name, key, member.members[i], entry);
    }
  }
  if (entry.commands.empty()) {
    throw yaml_error(name, member.line, "an entry has no command",
                     "give it a key `command`; a command with a colon and a blank in it goes in quotes");
  }
  return entry;
}

YamlValue word_value(std::string word) {
  return {.kind = YamlValue::Kind::scalar, .scalar = std::move(word)};
}

// A list, or its only member.
YamlValue list_value(const std::vector<std::string>& words) {
  if (words.size() == 1) {
    return word_value(words.front());
  }
  YamlValue list{.kind = YamlValue::Kind::list};
  std::ranges::transform(words, std::back_inserter(list.members), word_value);
  return list;
}

void put(YamlValue& map, const std::string& key, YamlValue value) {
  map.keys.push_back(key);
  map.members.push_back(std::move(value));
}

template <typename Value>
void put_list(YamlValue& map, const std::string& key, const std::vector<Value>& values) {
  if (!values.empty()) {
    std::vector<std::string> words;
    std::ranges::transform(values, std::back_inserter(words), [](const Value& value) { return text_of(value); });
    put(map, key, list_value(words));
  }
}

YamlValue settings_value(const EntrySettings& settings) {
  YamlValue map{.kind = YamlValue::Kind::map};
  if (settings.gpus != 0) {
    put(map, "gpus", word_value(fmt::format("{}", settings.gpus)));
  }
  put_list(map, "power_limits", settings.power_limits);
  put_list(map, "clocks", settings.clocks);
  put_list(map, "seeds", settings.seeds);
  if (settings.repetitions != 1) {
    put(map, "repetitions", word_value(fmt::format("{}", settings.repetitions)));
  }
  if (!settings.metric_regex.empty()) {
    put(map, "metric_regex", word_value(settings.metric_regex));
  }
  if (!settings.epoch_regex.empty()) {
    put(map, "epoch_regex", word_value(settings.epoch_regex));
  }
  if (settings.target_metric) {
    put(map, "target_metric", word_value(fmt::format("{}", *settings.target_metric)));
  }
  if (!settings.higher_is_better) {
    put(map, "higher_is_better", word_value("false"));
  }
  if (settings.settle > Seconds{0}) {
    put(map, "settle", word_value(fmt::format("{}", settings.settle.value())));
  }
  return map;
}

}  // namespace

const std::string* find_parameter(const std::vector<Parameter>& parameters, std::string_view name) {
  const auto found = std::ranges::find(parameters, name, &Parameter::name);
  return found == parameters.end() ? nullptr : &found->value;
}

const std::vector<YamlValue>& list_of(const std::string& name, const YamlValue& document) {
  if (document.kind != YamlValue::Kind::list && document.kind != YamlValue::Kind::nothing) {
    throw yaml_error(name, document.line, "it is not a list", "begin each entry with a dash");
  }
  return document.members;
}

std::vector<std::string> values_of(const std::string& name, const std::string& key, const YamlValue& value) {
  const bool is_list = value.kind == YamlValue::Kind::list;
  const std::vector<YamlValue> alone{is_list ? YamlValue{} : value};
  std::vector<std::string> values;
  for (const YamlValue& one : is_list ? value.members : alone) {
    if (one.kind != YamlValue::Kind::scalar || one.scalar.empty()) {
      throw yaml_error(name, one.line, fmt::format("{} is not a value or a list of values", in_quotes(key)),
                       "give each a word, a number or a string in quotes; a word that begins with {{ goes in quotes");
    }
    values.push_back(one.scalar);
  }
  if (values.empty()) {
    throw yaml_error(name, value.line, fmt::format("the list of {} is empty", in_quotes(key)),
                     "give it a value, or leave the key out");
  }
  return values;
}

int parse_slots(const std::string& text) {
  const std::optional<int> slots = number_of<int>(text);
  if (!slots || *slots < 1 || *slots > 1'000'000) {
    throw Error{ErrorKind::invalid_argument, fmt::format("'slots' is {}", in_quotes(text)),
                "give a whole number from 1 to 1000000"};
  }
  return *slots;
}

std::size_t task_count(const QueueEntry& entry) {
  std::size_t count = entry.commands.size();
  const auto multiply = [&](std::size_t size) {
    count *= std::max<std::size_t>(size, 1);
    if (count > most_runs_of_an_entry) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("an entry of the queue stands for more than {} runs", most_runs_of_an_entry),
                  "split it, or shorten its lists"};
    }
  };
  for (const ParameterList& list : entry.parameters) {
    multiply(list.values.size());
  }
  multiply(entry.settings.power_limits.size());
  multiply(entry.settings.clocks.size());
  multiply(entry.settings.seeds.size());
  multiply(static_cast<std::size_t>(entry.settings.repetitions));
  return count;
}

Task task_at(const QueueEntry& entry, std::size_t index) {
  const EntrySettings& settings = entry.settings;
  Digits digits{index};
  const std::size_t repetition = digits.take(static_cast<std::size_t>(settings.repetitions));
  const std::size_t seed = digits.take(settings.seeds.size());
  const std::size_t clock = digits.take(settings.clocks.size());
  const std::size_t limit = digits.take(settings.power_limits.size());
  Task task;
  for (const auto& list : std::views::reverse(entry.parameters)) {
    task.parameters.push_back({.name = list.name, .value = list.values[digits.take(list.values.size())]});
  }
  std::ranges::reverse(task.parameters);
  task.command = entry.commands[digits.take(entry.commands.size())];
  if (const std::string* const slots = find_parameter(task.parameters, "slots")) {
    task.slots = parse_slots(*slots);
  } else {
    task.parameters.push_back({.name = "slots", .value = "1"});
  }
  if (!settings.power_limits.empty()) {
    task.power_limit = settings.power_limits[limit];
    task.parameters.push_back({.name = "power_limit", .value = text_of(*task.power_limit)});
  }
  if (!settings.clocks.empty()) {
    task.clock = settings.clocks[clock];
    task.parameters.push_back({.name = "clock", .value = text_of(*task.clock)});
  }
  if (!settings.seeds.empty()) {
    task.parameters.push_back({.name = "seed", .value = text_of(settings.seeds[seed])});
  }
  if (settings.repetitions > 1) {
    task.parameters.push_back({.name = "repetition", .value = text_of(std::uint64_t{repetition} + 1)});
  }
  return task;
}

std::vector<QueueEntry> parse_queue(const std::string& name, const std::string& text) {
  const YamlValue document = parse_yaml(name, text);
  std::vector<QueueEntry> entries;
  for (const YamlValue& member : list_of(name, document)) {
    entries.push_back(entry_of(name, member));
  }
  return entries;
}

std::string to_yaml(const QueueEntry& entry) {
  YamlValue map{.kind = YamlValue::Kind::map};
  put(map, "command", list_value(entry.commands));
  for (const ParameterList& list : entry.parameters) {
    put(map, list.name, list_value(list.values));
  }
  if (YamlValue settings = settings_value(entry.settings); !settings.keys.empty()) {
    put(map, "zeus", std::move(settings));
  }
  return to_yaml(map);
}

}  // namespace zeus::sweep
