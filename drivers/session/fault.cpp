#include "drivers/session/fault.hpp"

#include <zeus/units.hpp>

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace zeus::drivers {

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view known_faults =
    "permission, unsupported, timeout, lost, slow, reset, wrap, constant, backward or lower";
constexpr std::string_view setters = "*Set*";
constexpr std::string_view any_call = "*";

struct Name {
  std::string_view text;
  FaultKind kind;
};

constexpr std::array names{
    Name{"permission", FaultKind::permission},
    Name{"unsupported", FaultKind::unsupported},
    Name{"timeout", FaultKind::timeout},
    Name{"lost", FaultKind::lost},
    Name{"slow", FaultKind::slow},
    Name{"reset", FaultKind::reset},
    Name{"wrap", FaultKind::wrap},
    Name{"constant", FaultKind::constant},
    Name{"backward", FaultKind::backward},
    Name{"lower", FaultKind::lower},
};

Error bad_fault(const std::string& what, std::string advice) {
  return {ErrorKind::invalid_argument, what, std::move(advice)};
}

std::string shown(std::string_view text) {
  return std::string{text.substr(0, 64)};
}

// Takes the next word off `text`.
std::string_view take_word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

std::uint64_t parse_count(std::string_view key, std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw bad_fault(fmt::format("'{}={}' is not a whole number", key, shown(text)), {});
  }
  return number;
}

Joules parse_joules(std::string_view text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  const double factor = rest.empty() || rest == "J" ? 1.0 : rest == "kJ" ? 1e3 : rest == "mJ" ? 1e-3 : 0.0;
  const double joules = number * factor;
  if (error != std::errc{} || !(joules > 0.0) || !std::isfinite(joules)) {
    throw bad_fault(fmt::format("'{}' is not an energy such as 500J, 12kJ or 250mJ", shown(text)), {});
  }
  return Joules{joules};
}

FaultKind parse_kind(std::string_view word) {
  const auto* const found = std::ranges::find(names, word, &Name::text);
  if (found == names.end()) {
    throw bad_fault(fmt::format("'{}' is not a fault", shown(word)), fmt::format("use {}", known_faults));
  }
  return found->kind;
}

void set_calls(Fault& fault, std::string_view pattern) {
  if (pattern.empty() || pattern.size() >= fault.calls.size()) {
    throw bad_fault(fmt::format("'call={}' does not name an entry point", shown(pattern)),
                    "give its name, such as nvmlDeviceGetPowerUsage; * stands for any characters");
  }
  fault.calls.fill('\0');
  std::ranges::copy(pattern, fault.calls.begin());
}

void set_amount(Fault& fault, std::string_view value) {
  if (fault.kind == FaultKind::lower) {
    fault.power = parse_watts(value);
  } else if (fault.kind == FaultKind::wrap || fault.kind == FaultKind::backward) {
    fault.energy = parse_joules(value);
  } else {
    throw bad_fault("'by' goes only with wrap, backward and lower", {});
  }
}

void set_option(Fault& fault, std::string_view key, std::string_view value) {
  if (key == "gpu") {
    const std::uint64_t index = value == "all" ? Fault::every_gpu : parse_count(key, value);
    fault.gpu = static_cast<std::uint32_t>(std::min<std::uint64_t>(index, Fault::every_gpu));
  } else if (key == "from") {
    fault.from = parse_seconds(value);
  } else if (key == "for") {
    fault.lasts = parse_seconds(value);
    if (fault.lasts == Seconds{0}) {
      throw bad_fault("'for=0' would never happen", "leave `for` out for a fault that stays");
    }
  } else if (key == "times") {
    fault.times = parse_count(key, value);
  } else if (key == "call" && !fault.is_of_counter() && fault.kind != FaultKind::lower) {
    set_calls(fault, value);
  } else if (key == "delay" && (fault.kind == FaultKind::slow || fault.kind == FaultKind::timeout)) {
    fault.delay = parse_seconds(value);
  } else if (key == "by") {
    set_amount(fault, value);
  } else {
    throw bad_fault(fmt::format("'{}' is not an option of this fault", shown(key)),
                    "gpu, from and for go with every fault; call and times with faults of calls, delay with slow and "
                    "timeout, by with wrap, backward and lower");
  }
}

void check_complete(const Fault& fault) {
  if (fault.kind == FaultKind::slow && fault.delay == Seconds{0}) {
    throw bad_fault("'slow' needs how long a call takes", "add delay=200ms");
  }
  if ((fault.kind == FaultKind::wrap || fault.kind == FaultKind::backward) && fault.energy == Joules{0}) {
    throw bad_fault("this fault needs an energy", "add by=1000J");
  }
  if (fault.kind == FaultKind::lower && fault.power == Watts{0}) {
    throw bad_fault("'lower' needs a power", "add by=20W");
  }
  if (fault.kind == FaultKind::unsupported && fault.matches("no call has this name")) {
    throw bad_fault("'unsupported' needs the name of a call", "add call=nvmlDeviceGetTotalEnergyConsumption");
  }
  if (fault.times != 0 && (fault.is_of_counter() || fault.kind == FaultKind::lower)) {
    throw bad_fault("'times' goes only with faults of calls", "use `for` to end this one");
  }
}

void check_index(const Fault& fault, std::uint32_t gpu_count) {
  if (fault.gpu != Fault::every_gpu && fault.gpu >= gpu_count) {
    throw bad_fault(fmt::format("there is no virtual GPU {}", fault.gpu),
                    fmt::format("count from 0 to {}", gpu_count - 1));
  }
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t in_pattern = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (at < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      resume = at;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == text[at]) {
      ++in_pattern;
      ++at;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

}  // namespace

bool Fault::matches(std::string_view entry_point) const {
  const std::string_view pattern{calls.data()};
  // A fault that refuses setters by default refuses them in every vendor's spelling.
  return matches_glob(pattern, entry_point) ||
         (kind == FaultKind::permission && pattern == setters && is_setter(entry_point));
}

bool is_setter(std::string_view entry_point) {
  return matches_glob(setters, entry_point) || matches_glob("*_set_*", entry_point) ||
         matches_glob("nvmlDeviceReset*", entry_point) || matches_glob("*_reset_*", entry_point);
}

bool Fault::is_of_counter() const {
  return kind == FaultKind::reset || kind == FaultKind::wrap || kind == FaultKind::constant ||
         kind == FaultKind::backward;
}

std::optional<Fault> parse_fault(std::string_view line) {
  std::string_view rest = line.substr(0, std::min(line.find('#'), line.size()));
  const std::string_view name = take_word(rest);
  if (name.empty()) {
    return std::nullopt;
  }
  Fault fault;
  fault.kind = parse_kind(name);
  set_calls(fault, fault.kind == FaultKind::permission ? setters : any_call);
  while (true) {
    const std::string_view word = take_word(rest);
    if (word.empty()) {
      break;
    }
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      throw bad_fault(fmt::format("'{}' is not an option", shown(word)), "options are written gpu=0 from=5s for=10s");
    }
    set_option(fault, word.substr(0, equals), word.substr(equals + 1));
  }
  check_complete(fault);
  return fault;
}

std::vector<Fault> parse_faults(std::string_view text, std::uint32_t gpu_count) {
  std::vector<Fault> faults;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::optional<Error> refused;
    try {
      if (const std::optional<Fault> fault = parse_fault(text.substr(0, end))) {
        check_index(*fault, gpu_count);
        faults.push_back(*fault);
      }
    } catch (const Error& error) {
      refused = error;
    }
    if (refused) {
      throw Error{refused->kind(), fmt::format("line {}: {}", number, refused->message()), refused->advice()};
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return faults;
}

}  // namespace zeus::drivers
