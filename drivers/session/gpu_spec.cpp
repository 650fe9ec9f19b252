#include "drivers/session/gpu_spec.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

namespace zeus::drivers {

namespace {

constexpr std::string_view gpu_spec_example = "write the virtual GPUs as 4xA100, 2xV100,1xH100 or 1xA100@gain=0.945";
constexpr double least_gain = 0.1;
constexpr double most_gain = 10.0;

Error bad_gpu_spec(const std::string& what) {
  return {ErrorKind::invalid_argument, what, std::string{gpu_spec_example}};
}

// Removes the count in front of an 'x'; 1 if there is none.
std::size_t take_count(std::string_view& group) {
  const std::size_t digits = std::min(group.find_first_not_of("0123456789"), group.size());
  if (digits == 0 || digits == group.size() || (group[digits] != 'x' && group[digits] != 'X')) {
    return 1;
  }
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(group.data(), group.data() + digits, count);
  if (error != std::errc{} || count > most_gpus) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("'{}' asks for more virtual GPUs than a session holds", group.substr(0, 64)),
                fmt::format("ask for at most {}", most_gpus)};
  }
  if (count == 0) {
    throw bad_gpu_spec(fmt::format("'{}' asks for no virtual GPU at all", group.substr(0, 64)));
  }
  group.remove_prefix(digits + 1);
  return count;
}

// The number after the = of an option, whole and within bounds.
double number_of(std::string_view text, std::string_view what, double least, double most) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) {
    throw bad_gpu_spec(fmt::format("'{}' is not a {} between {} and {}", text.substr(0, 64), what, least, most));
  }
  return value;
}

void apply_option(PlannedGpu& gpu, std::string_view option) {
  constexpr std::string_view gain = "gain=";
  constexpr std::string_view limit = "limit=";
  if (option == "amd") {
    gpu.vendor = Vendor::amd;
  } else if (option == "root-only") {
    gpu.root_only = true;
  } else if (option == "part-time" || option == "full-time") {
    gpu.model.sensors.counter_part_time = option == "part-time";
  } else if (option.starts_with(gain)) {
    gpu.model.sensors.gain = number_of(option.substr(gain.size()), "gain", least_gain, most_gain);
  } else if (option.starts_with(limit)) {
    const physics::PowerLimits& allowed = gpu.model.limits;
    gpu.limit =
        Watts{number_of(option.substr(limit.size()), "limit in watts", allowed.min.value(), allowed.max.value())};
  } else {
    throw bad_gpu_spec(
        fmt::format("'{}' is not an option of a virtual GPU; the options are gain=F, full-time, part-time, amd, "
                    "root-only and limit=WATTS",
                    option.substr(0, 64)));
  }
}

// An unknown model is a usage error here, although the presets report not_found.
physics::GpuModel find_model(std::string_view name) {
  std::optional<Error> unknown;
  try {
    return physics::preset(name);
  } catch (const Error& error) {
    unknown = error;
  }
  throw Error{ErrorKind::invalid_argument, unknown->message(), unknown->advice()};
}

void add_group(std::vector<PlannedGpu>& gpus, std::string_view group) {
  const std::size_t count = take_count(group);
  const std::size_t at = group.find('@');
  const std::string_view name = group.substr(0, at);
  if (name.empty()) {
    throw bad_gpu_spec("a group of virtual GPUs names no model");
  }
  PlannedGpu gpu{.model = find_model(name.substr(0, 64))};
  std::string_view options = at == std::string_view::npos ? std::string_view{} : group.substr(at + 1);
  if (at != std::string_view::npos && options.empty()) {
    throw bad_gpu_spec("there is no option after an @");
  }
  while (!options.empty()) {
    const std::size_t end = options.find('@');
    apply_option(gpu, options.substr(0, end));
    options.remove_prefix(end == std::string_view::npos ? options.size() : end + 1);
  }
  if (gpus.size() + count > most_gpus) {
    throw Error{ErrorKind::invalid_argument, fmt::format("a session holds at most {} virtual GPUs", most_gpus),
                "ask for fewer"};
  }
  gpus.insert(gpus.end(), count, gpu);
}

}  // namespace

std::vector<PlannedGpu> parse_gpus(std::string_view spec) {
  std::vector<PlannedGpu> gpus;
  std::string_view rest = spec;
  while (true) {
    const std::size_t end = rest.find(',');
    const std::string_view group = rest.substr(0, end);
    if (group.empty()) {
      throw bad_gpu_spec(spec.empty() ? std::string{"no virtual GPU is named"}
                                      : fmt::format("'{}' has an empty group", spec.substr(0, 64)));
    }
    add_group(gpus, group);
    if (end == std::string_view::npos) {
      return gpus;
    }
    rest.remove_prefix(end + 1);
  }
}

}  // namespace zeus::drivers
