#include "server/existing_bodies.hpp"

#include "base/random_id.hpp"
#include "jobs/job.hpp"
#include "protocol/query.hpp"
#include "records/json_value.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace zeus::server {

namespace {

using records::JsonValue;
using FaultPlace = std::vector<std::variant<std::string, std::size_t>>;

constexpr std::size_t made_digits = 8;

bool has_control(std::string_view text) {
  return std::ranges::any_of(text,
                             [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(spaces);
  return begin == std::string_view::npos ? std::string_view{}
                                         : text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

// A number as JSON or Python writes it, including infinity and NaN.
std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty() ? std::optional{number}
                                                                                   : std::nullopt;
}

std::optional<double> number_of(const JsonValue& json) {
  if (const std::string* const text = json.string()) {
    return number_in(*text);
  }
  return json.number();
}

std::optional<bool> truth_of(const JsonValue& json) {
  if (const std::optional<bool> truth = json.boolean()) {
    return truth;
  }
  if (const std::optional<double> number = json.number()) {
    return *number == 0.0 || *number == 1.0 ? std::optional{*number == 1.0} : std::nullopt;
  }
  if (json.string() == nullptr) {
    return std::nullopt;
  }
  std::string word;
  std::ranges::transform(*json.string(), std::back_inserter(word), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  constexpr std::array<std::string_view, 6> yes{"true", "yes", "on", "t", "y", "1"};
  constexpr std::array<std::string_view, 6> no{"false", "no", "off", "f", "n", "0"};
  if (std::ranges::find(yes, word) != yes.end()) {
    return true;
  }
  return std::ranges::find(no, word) != no.end() ? std::optional{false} : std::nullopt;
}

// Puts Python's NaN, Infinity and -Infinity, which are not JSON, into quotes.
std::string without_bare_words(std::string_view text) {
  constexpr std::array<std::string_view, 3> words{"NaN", "-Infinity", "Infinity"};
  std::string plain;
  plain.reserve(text.size());
  bool in_string = false;
  while (!text.empty()) {
    const char letter = text.front();
    std::size_t taken = 1;
    if (in_string) {
      in_string = letter != '"';
      taken = letter == '\\' ? std::min<std::size_t>(2, text.size()) : 1;
      plain += text.substr(0, taken);
    } else if (const auto word =
                   std::ranges::find_if(words, [&](std::string_view one) { return text.starts_with(one); });
               word != words.end()) {
      taken = word->size();
      plain += fmt::format("\"{}\"", *word);
    } else {
      in_string = letter == '"';
      plain += letter;
    }
    text.remove_prefix(taken);
  }
  return plain;
}

ExistingFault at(const FaultPlace& place, std::string_view message, std::string_view type) {
  return {.place = place, .message = std::string{message}, .type = std::string{type}, .limit = {}};
}

// Reads the fields of a body one after another, and collects faults.
template <std::size_t Count>
class Reader {
 public:
  Reader(const JsonValue& json, const std::array<std::string_view, Count>& required)
      : json_{json}, required_{required} {}

  template <typename Value>
  void operator()(std::string_view name, Value& value, const field::Rule& rule = {}) {
    const FaultPlace place{"body", std::string{name}};
    const JsonValue* const member = json_.find(name);
    if (member == nullptr) {
      if (std::ranges::find(required_, name) != required_.end()) {
        faults_.push_back(at(place, "field required", "value_error.missing"));
      }
      return;
    }
    read(*member, place, value, rule);
  }
  template <typename Record>
  void operator()(std::string_view /*name*/, Record& record, field::Beside /*beside*/) {
    Record::describe(*this, record);
  }

  ExistingFaults take() { return std::move(faults_); }

 private:
  template <typename Value>
  void read(const JsonValue& json, const FaultPlace& place, Value& value, const field::Rule& rule) {
    if constexpr (field::is_optional<Value>) {
      // A null or NaN means unknown, or no bound.
      const std::optional<double> number = json.is_null() ? std::nullopt : number_of(json);
      constexpr bool is_number = std::is_same_v<typename Value::value_type, double>;
      if (json.is_null() || (is_number && number && !std::isfinite(*number))) {
        value.reset();
      } else {
        read(json, place, value.emplace(), rule);
      }
    } else if (json.is_null()) {
      faults_.push_back(at(place, "none is not an allowed value", "type_error.none.not_allowed"));
    } else if constexpr (std::is_same_v<Value, bool>) {
      if (const std::optional<bool> truth = truth_of(json)) {
        value = *truth;
      } else {
        faults_.push_back(at(place, "value could not be parsed to a boolean", "type_error.bool"));
      }
    } else if constexpr (std::is_same_v<Value, std::string>) {
      read_text(json, place, value);
    } else if constexpr (field::is_list<Value>) {
      read_list(json, place, value, rule);
    } else if constexpr (std::integral<Value>) {
      read_whole(json, place, value, rule);
    } else {
      const std::optional<double> number = number_of(json);
      if (!number || !std::isfinite(*number)) {
        faults_.push_back(at(place, "value is not a valid float", "type_error.float"));
      } else if (is_within(*number, place, rule)) {
        value = Value{*number};
      }
    }
  }

  template <typename Whole>
  void read_whole(const JsonValue& json, const FaultPlace& place, Whole& value, const field::Rule& rule) {
    if (const std::optional<Whole> whole = json.whole<Whole>()) {
      if (is_within(static_cast<double>(*whole), place, rule)) {
        value = *whole;
      }
      return;
    }
    const std::optional<double> number = number_of(json);
    if (!number || !std::isfinite(*number) || *number != std::trunc(*number)) {
      faults_.push_back(at(place, "value is not a valid integer", "type_error.integer"));
      return;
    }
    // As far as both this integer type and a double are exact.
    constexpr double exact = 9007199254740992.0;
    field::Rule bounds = rule;
    bounds.least = std::max({rule.least, -exact, static_cast<double>(std::numeric_limits<Whole>::lowest())});
    bounds.most = std::min({rule.most, exact, static_cast<double>(std::numeric_limits<Whole>::max())});
    if (is_within(*number, place, bounds)) {
      value = static_cast<Whole>(*number);
    }
  }

  void read_text(const JsonValue& json, const FaultPlace& place, std::string& value) {
    if (const std::string* const text = json.string()) {
      value = *text;
    } else if (const std::optional<std::int64_t> number = json.whole<std::int64_t>()) {
      value = fmt::format("{}", *number);
    } else {
      faults_.push_back(at(place, "str type expected", "type_error.str"));
    }
  }

  template <typename List>
  void read_list(const JsonValue& json, const FaultPlace& place, List& value, const field::Rule& rule) {
    const JsonValue::List* const members = json.list();
    if (members == nullptr) {
      faults_.push_back(at(place, "value is not a valid list", "type_error.list"));
      return;
    }
    if (members->size() > rule.members) {
      faults_.push_back({.place = place,
                         .message = fmt::format("ensure this value has at most {} items", rule.members),
                         .type = "value_error.list.max_items",
                         .limit = static_cast<double>(rule.members)});
      return;
    }
    value.clear();
    for (std::size_t index = 0; index < members->size(); ++index) {
      FaultPlace member = place;
      member.emplace_back(index);
      read((*members)[index], member, value.emplace_back(), rule);
    }
  }

  bool is_within(double number, const FaultPlace& place, const field::Rule& rule) {
    const auto refuse = [&](double limit, std::string_view words, std::string_view type) {
      faults_.push_back({.place = place,
                         .message = fmt::format("ensure this value is {} {}", words, limit),
                         .type = fmt::format("value_error.number.{}", type),
                         .limit = limit});
      return false;
    };
    if (rule.above_least && !(number > rule.least)) {
      return refuse(rule.least, "greater than", "not_gt");
    }
    if (number < rule.least) {
      return refuse(rule.least, "greater than or equal to", "not_ge");
    }
    return number > rule.most ? refuse(rule.most, "less than or equal to", "not_le") : true;
  }

  const JsonValue& json_;
  const std::array<std::string_view, Count>& required_;
  ExistingFaults faults_;
};

void check_text(const std::string& text, std::string_view key, ExistingFaults& faults) {
  const FaultPlace place{"body", std::string{key}};
  if (text.size() > jobs::longest_job_name) {
    faults.push_back({.place = place,
                      .message = fmt::format("ensure this value has at most {} characters", jobs::longest_job_name),
                      .type = "value_error.any_str.max_length",
                      .limit = static_cast<double>(jobs::longest_job_name)});
  } else if (has_control(text)) {
    faults.push_back(at(place, "characters that cannot be printed may not be in it", "value_error"));
  }
}

// Checks each field beyond its type, then all of them together.
void complete(ExistingSpec& spec, ExistingFaults& faults) {
  const auto wrong = [&](std::string_view key, const std::string& message) {
    faults.push_back(at({"body", std::string{key}}, message, "value_error"));
  };
  std::ranges::sort(spec.batch_sizes);
  check_text(spec.gpu_model, "gpu_model", faults);
  check_text(spec.job_id.value_or(""), "job_id", faults);
  check_text(spec.job_id_prefix, "job_id_prefix", faults);
  if (spec.gpu_model.empty()) {
    wrong("gpu_model", "the model of the GPUs may not be empty");
  }
  for (const auto& [key, value] : {std::pair{"max_power", spec.max_power.value()},
                                   std::pair{"beta_knob", spec.beta_knob.value_or(field::least_part)}}) {
    if (value < field::least_part) {
      wrong(key, fmt::format("ensure this value is greater than or equal to {}", field::least_part));
    }
  }
  if (spec.batch_sizes.empty()) {
    wrong("batch_sizes", "there must be a batch size to choose");
  } else if (std::ranges::adjacent_find(spec.batch_sizes) != spec.batch_sizes.end()) {
    wrong("batch_sizes", fmt::format("[{}] names a batch size twice", fmt::join(spec.batch_sizes, ", ")));
  }
  if (!faults.empty()) {
    return;
  }
  if (!std::ranges::binary_search(spec.batch_sizes, spec.default_batch_size)) {
    wrong("__root__", fmt::format("default_batch_size {} is not in batch_sizes [{}]", spec.default_batch_size,
                                  fmt::join(spec.batch_sizes, ", ")));
  } else if (spec.job_id && !spec.job_id->starts_with(spec.job_id_prefix)) {
    wrong("__root__",
          fmt::format("job_id '{}' does not start with job_id_prefix '{}'", *spec.job_id, spec.job_id_prefix));
  } else if (spec.job_id && spec.job_id->empty()) {
    wrong("__root__", "job_id may not be empty");
  } else if (!spec.job_id && spec.job_id_prefix.size() + 1 + made_digits > jobs::longest_job_name) {
    wrong("__root__", "job_id_prefix is too long for a job_id to begin with it");
  }
}

void complete(ExistingTrial& /*trial*/, ExistingFaults& /*faults*/) {
}

void complete(ExistingResult& /*result*/, ExistingFaults& /*faults*/) {
}

ExistingFaults missing(const FaultPlace& place) {
  return {at(place, "field required", "value_error.missing")};
}

}  // namespace

std::string to_json(const ExistingFaults& faults) {
  records::JsonWriter json;
  json.object([&] {
    json.put_list("detail", faults, [&](const ExistingFault& fault) {
      json.object([&] {
        json.put_list("loc", fault.place,
                      [&](const auto& step) { std::visit([&](const auto& one) { json.value(one); }, step); });
        json.put("msg", fault.message);
        json.put("type", fault.type);
        if (fault.limit) {
          constexpr double exact = 9007199254740992.0;
          const bool is_whole = *fault.limit == std::trunc(*fault.limit) && std::abs(*fault.limit) <= exact;
          json.put("ctx", [&] {
            is_whole ? json.put("limit_value", static_cast<std::int64_t>(*fault.limit))
                     : json.put("limit_value", *fault.limit);
          });
        }
      });
    });
  });
  return json.take();
}

template <typename Body>
ExistingRead<Body> read_existing(std::string_view body) {
  if (trimmed(body).empty()) {
    return missing({"body"});
  }
  const std::optional<JsonValue> json = JsonValue::parse(without_bare_words(body));
  if (!json) {
    return ExistingFaults{at({"body"}, "JSON decode error", "json_invalid")};
  }
  if (json->is_null()) {
    return missing({"body"});
  }
  if (json->object() == nullptr) {
    return no_object();
  }
  Body read;
  Reader reader{*json, Body::required};
  Body::describe(reader, read);
  ExistingFaults faults = reader.take();
  if (faults.empty()) {
    complete(read, faults);
  }
  return faults.empty() ? ExistingRead<Body>{std::move(read)} : ExistingRead<Body>{std::move(faults)};
}

template ExistingRead<ExistingSpec> read_existing(std::string_view body);
template ExistingRead<ExistingTrial> read_existing(std::string_view body);
template ExistingRead<ExistingResult> read_existing(std::string_view body);

ExistingFaults no_object() {
  return {at({"body"}, "value is not a valid dict", "type_error.dict")};
}

ExistingRead<std::string> read_existing_job(std::string_view query) {
  std::optional<std::string> job;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (protocol::percent_decoded(pair.substr(0, equals)) == "job_id") {
      const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
      job = protocol::percent_decoded(value).value_or(std::string{value});
    }
  }
  return job ? ExistingRead<std::string>{std::move(*job)} : ExistingRead<std::string>{missing({"query", "job_id"})};
}

std::string made_job_id(std::string_view prefix) {
  return fmt::format("{}-{}", prefix, random_id().substr(0, made_digits));
}

}  // namespace zeus::server
