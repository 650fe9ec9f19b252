#include "run/job_settings.hpp"

#include <zeus/units.hpp>

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace zeus::run {

namespace {

// The addresses of a record's fields, in the order in which it describes them.
struct Addresses {
  std::vector<const void*> all;

  template <typename Value>
  void operator()(std::string_view /*name*/, const Value& value, const field::Rule& /*rule*/ = {}) {
    all.push_back(&value);
  }
};

// Overwrites fields with those that are set in another record of the same type.
struct Overlay {
  std::vector<const void*> others;
  std::size_t next = 0;

  template <typename Value>
  void operator()(std::string_view /*name*/, Value& value, const field::Rule& /*rule*/ = {}) {
    if (const auto& other = *static_cast<const Value*>(others[next++])) {
      value = other;
    }
  }
};

// Finds the first field that is set.
struct FirstSaid {
  std::string name;

  template <typename Value>
  void operator()(std::string_view key, const Value& value, const field::Rule& /*rule*/ = {}) {
    if (value && name.empty()) {
      name = key;
    }
  }
};

// Adds the place in the file to the error of a value that cannot be read.
template <typename Read>
auto reading(const toml::TomlSpot& spot, Read read) {
  std::string message;
  std::string advice;
  try {
    return read();
  } catch (const Error& error) {
    message = error.message();
    advice = error.advice();
  }
  spot.refuse_as(message, advice);
}

}  // namespace

LimitChoice parse_limit_choice(std::string_view text) {
  LimitChoice choice{.set = text != "off", .among = {}};
  if (!choice.set || text == "auto") {
    return choice;
  }
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    choice.among.push_back(parse_watts(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return choice;
}

void read_toml(const toml::TomlSpot& spot, GpuName& gpu) {
  if (const auto* const word = spot.value().as<std::string>()) {
    gpu.name = *word;
    return;
  }
  gpu.name = std::to_string(toml::read_whole(spot, field::from_zero, 0, std::numeric_limits<int>::max()));
}

void read_toml(const toml::TomlSpot& spot, LearningRate& rate) {
  const std::string& text = toml::read_string(spot);
  rate = reading(spot, [&] { return parse_learning_rate(text, RateScaling::linear); });
}

void read_toml(const toml::TomlSpot& spot, LimitChoice& choice) {
  if (const auto* const word = spot.value().as<std::string>()) {
    if (*word != "auto" && *word != "off") {
      spot.refuse("\"auto\", \"off\" or a list of watts", fmt::format("write [{}]", *word));
    }
    choice = parse_limit_choice(*word);
    return;
  }
  choice.set = true;
  toml::read_value(spot, choice.among, field::above_zero);
}

JobSettings merged(const JobSettings& over, const JobSettings& under) {
  Addresses addresses;
  JobSettings::describe(addresses, over);
  JobSettings result = under;
  Overlay overlay{.others = std::move(addresses.all)};
  JobSettings::describe(overlay, result);
  return result;
}

RunOptions options_of(const JobSettings& settings) {
  RunOptions options;
  options.command = settings.command.value_or(std::vector<std::string>{});
  options.job = settings.job.value_or("");
  options.store = settings.store.value_or("");
  options.needs_store = settings.on_store_error == StoreFailure::refuse;
  options.server = settings.server.value_or("");
  options.server_patience = settings.server_patience ? Seconds{*settings.server_patience} : options.server_patience;
  options.batch_sizes = settings.batch_sizes.value_or(std::vector<int>{});
  options.default_batch_size = settings.default_batch_size;
  options.learning_rate = settings.learning_rate;
  if (options.learning_rate) {
    options.learning_rate->scaling = settings.lr_scaling.value_or(RateScaling::linear);
  }
  if (settings.target_metric) {
    options.target = records::JobTarget{.metric = *settings.target_metric,
                                        .higher_is_better = settings.higher_is_better.value_or(true)};
  }
  options.max_epochs = settings.max_epochs;
  options.eta = settings.eta.value_or(options.eta);
  options.beta = settings.beta.value_or(options.beta);
  options.max_slowdown = settings.max_slowdown;
  options.window = settings.window.value_or(options.window);
  options.policy = settings.policy.value_or("");
  options.zeus = {.pruning_rounds = settings.pruning_rounds.value_or(options.zeus.pruning_rounds),
                  .explorations = settings.explorations.value_or(options.zeus.explorations),
                  .prior_cost = settings.prior_cost.value_or(options.zeus.prior_cost),
                  .prior_precision = settings.prior_precision.value_or(options.zeus.prior_precision)};
  options.seed = settings.seed.value_or(options.seed);
  options.patterns = {.metric = settings.metric_regex.value_or(""),
                      .epoch = settings.epoch_regex.value_or(""),
                      .step = settings.step_regex.value_or("")};
  const LimitChoice limits = settings.power_limits.value_or(LimitChoice{});
  options.set_limits = limits.set;
  options.power_limits = limits.among;
  if (settings.profile_seconds) {
    options.profile_time = Seconds{*settings.profile_seconds};
  }
  if (settings.gpus) {
    std::ranges::transform(*settings.gpus, std::back_inserter(options.gpus.emplace()), &GpuName::name);
  }
  options.rates = {.price = settings.price, .carbon = settings.carbon};
  options.stop_at_target = settings.stop_at_target.value_or(false);
  options.grace = Seconds{settings.grace.value_or(options.grace.value())};
  options.quiet = settings.quiet.value_or(false);
  return options;
}

records::JobDefinition definition_by(const JobSettings& settings, const records::JobDefinition& known) {
  return definition_of(checked(options_of(settings)), known.device, &known);
}

records::JobDefinition changed(const records::JobDefinition& known, const JobSettings& changes) {
  records::JobDefinition now = known;
  JobSettings rest = changes;
  const auto take = [](auto& setting, auto& place) {
    if (setting) {
      place = *std::exchange(setting, std::nullopt);
    }
  };
  take(rest.batch_sizes, now.batch_sizes);
  take(rest.default_batch_size, now.default_batch_size);
  take(rest.max_epochs, now.max_epochs);
  take(rest.eta, now.eta);
  take(rest.beta, now.beta);
  take(rest.window, now.window);
  take(rest.policy, now.policy);
  take(rest.seed, now.seed);
  records::ZeusChoices choices = now.zeus.value_or(records::ZeusChoices{});
  take(rest.pruning_rounds, choices.pruning_rounds);
  take(rest.explorations, choices.explorations);
  take(rest.prior_cost, choices.prior_cost);
  take(rest.prior_precision, choices.prior_precision);
  now.zeus = choices == records::ZeusChoices{} ? std::nullopt : std::optional{choices};
  take(rest.max_slowdown, now.max_slowdown);
  if (rest.target_metric && !now.target) {
    now.target.emplace();
  }
  if (now.target) {
    take(rest.target_metric, now.target->metric);
    take(rest.higher_is_better, now.target->higher_is_better);
  }
  if (rest.learning_rate) {
    LearningRate rate = *std::exchange(rest.learning_rate, std::nullopt);
    take(rest.lr_scaling, rate.scaling);
    now.learning_rate = to_text(rate);
  }
  FirstSaid first;
  JobSettings::describe(first, rest);
  if (!first.name.empty()) {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} is not part of this job's definition", first.name),
                "it may change from one night to the next: give it when the job is run"};
  }
  return now;
}

}  // namespace zeus::run

namespace zeus::records {

void read_toml(const toml::TomlSpot& spot, EnergyPrice& price) {
  const std::string& text = toml::read_string(spot);
  price = run::reading(spot, [&] { return parse_price(text); });
}

void read_toml(const toml::TomlSpot& spot, CarbonIntensity& carbon) {
  const std::string& text = toml::read_string(spot);
  carbon = run::reading(spot, [&] { return parse_carbon(text); });
}

}  // namespace zeus::records
