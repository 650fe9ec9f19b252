// Properties of every described record (zeus/fields.hpp): any value of it is written as JSON and read back unchanged,
// and slightly wrong JSON is refused. For tests; one thread.
#pragma once

#include "base/random.hpp"
#include "records/json_reader.hpp"
#include "records/json_writer.hpp"
#include "tests/support/population.hpp"

#include <zeus/error.hpp>
#include <zeus/fields.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace zeus::test {

// Fills a record with values within its rules.
class RandomFields {
 public:
  explicit RandomFields(Random& random) : random_{random} {}

  void version(int /*number*/, std::string_view /*key*/ = {}) {}

  template <typename Value>
  void operator()(std::string_view /*name*/, Value& value, const field::Rule& rule = {}) {
    fill(value, rule);
  }
  template <typename Record>
  void operator()(std::string_view /*name*/, Record& record, field::Beside /*beside*/) {
    fill(record, {});
  }

  template <typename Value>
  void fill(Value& value, const field::Rule& rule) {
    if constexpr (std::is_same_v<Value, bool>) {
      value = random_.below(2) == 1;
    } else if constexpr (std::integral<Value>) {
      using Limits = std::numeric_limits<Value>;
      const double least = std::max(rule.least, static_cast<double>(Limits::lowest()));
      const double most = std::min(rule.most, static_cast<double>(Limits::max()) / 2.0);
      value = static_cast<Value>(std::ceil(least + (most - least) * std::pow(random_.uniform(), 9.0)));
    } else if constexpr (std::is_same_v<Value, double>) {
      value = number(rule);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      static const std::vector<std::string> parts{"a", " ", "\"", "\\", "\n", "\x01", "/", "\u00e9", "\u20ac", "7"};
      value.clear();
      for (std::uint64_t left = random_.below(6); left > 0; --left) {
        value += parts[random_.below(parts.size())];
      }
    } else if constexpr (std::is_enum_v<Value>) {
      const auto names = names_of(Value{});
      value = names[random_.below(names.size())].value;
    } else if constexpr (field::is_optional<Value>) {
      value.reset();
      if (random_.below(3) > 0) {
        fill(value.emplace(), rule);
      }
    } else if constexpr (field::Measured<Value>) {
      value = Value{number(rule)};
    } else if constexpr (field::is_list<Value>) {
      value.clear();
      for (std::uint64_t left = rule.fewest + random_.below(4); left > 0; --left) {
        fill(value.emplace_back(), rule);
      }
    } else if constexpr (field::is_variant<Value>) {
      fill_one_of(value);
    } else {
      Value::describe(*this, value);
    }
  }

 private:
  double number(const field::Rule& rule) {
    if (rule.null_is_infinite && random_.below(4) == 0) {
      return std::numeric_limits<double>::infinity();
    }
    if (rule.most <= 1.0) {
      return random_.uniform(rule.least, rule.most);
    }
    const double size = std::exp(random_.uniform(-30.0, 30.0));
    return std::clamp(rule.least < 0.0 && random_.below(2) == 0 ? -size : size, rule.least, rule.most);
  }

  template <typename... Kinds>
  void fill_one_of(std::variant<Kinds...>& one) {
    const std::uint64_t chosen = random_.below(sizeof...(Kinds));
    std::uint64_t index = 0;
    static_cast<void>(((index++ == chosen && (fill(one.template emplace<Kinds>(), {}), true)) || ...));
  }

  Random& random_;
};

// Moves the bounded number at a given place of the walk through a record out of its bounds.
class BreakingFields {
 public:
  explicit BreakingFields(int place) : place_{place} {}

  [[nodiscard]] bool broke() const { return broke_; }

  void version(int /*number*/, std::string_view /*key*/ = {}) {}

  template <typename Value>
  void operator()(std::string_view /*name*/, Value& value, const field::Rule& rule = {}) {
    walk(value, rule);
  }
  template <typename Record>
  void operator()(std::string_view /*name*/, Record& record, field::Beside /*beside*/) {
    walk(record, {});
  }

  template <typename Value>
  void walk(Value& value, const field::Rule& rule) {
    if constexpr (field::is_optional<Value>) {
      if (value) {
        walk(*value, rule);
      }
    } else if constexpr (field::is_list<Value>) {
      for (auto& one : value) {
        walk(one, rule);
      }
    } else if constexpr (field::is_variant<Value>) {
      std::visit([&](auto& one) { walk(one, rule); }, value);
    } else if constexpr (field::Described<Value>) {
      Value::describe(*this, value);
    } else if constexpr (field::Measured<Value>) {
      double number = value.value();
      walk(number, rule);
      value = Value{number};
    } else if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
      using Limits = std::numeric_limits<Value>;
      if (rule.least - 1.0 >= static_cast<double>(Limits::lowest()) && rule.least > -1e300) {
        set(value, static_cast<Value>(rule.above_least ? rule.least : rule.least - beyond(rule.least)));
      }
      if (rule.most < 1e300) {
        set(value, static_cast<Value>(rule.most + beyond(rule.most)));
      }
    }
  }

 private:
  // Enough to change a bound of this size.
  static double beyond(double bound) { return std::max(1.0, std::abs(bound) * 1e-12); }

  template <typename Value>
  void set(Value& value, Value broken) {
    if (place_-- == 0) {
      value = broken;
      broke_ = true;
    }
  }

  int place_;
  bool broke_ = false;
};

using records::JsonValue;

struct Mutant {
  std::string what;
  JsonValue json;
};

// Every document that differs from this one by one missing or unknown key, or one value of another type. Objects are
// still valid without the keys of `may_lack`.
inline std::vector<Mutant> mutants_of(const JsonValue& json, const std::set<std::string>& may_lack) {
  std::vector<Mutant> all;
  if (json.object() != nullptr) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      const JsonValue::Member& member = (*json.object())[i];
      JsonValue::Object members = *json.object();
      for (Mutant& mutant : mutants_of(member.value, may_lack)) {
        members[i].value = std::move(mutant.json);
        all.push_back({member.key + ": " + mutant.what, JsonValue{members}});
      }
      if (!may_lack.contains(member.key)) {
        members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
        all.push_back({"no " + member.key, JsonValue{members}});
      }
    }
    JsonValue::Object members = *json.object();
    members.push_back({.key = "~", .value = {}});
    all.push_back({"an unknown key", JsonValue{members}});
  } else if (json.list() != nullptr) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      JsonValue::List members = *json.list();
      for (Mutant& mutant : mutants_of(json[i], may_lack)) {
        members[i] = std::move(mutant.json);
        all.push_back({"member " + std::to_string(i) + ": " + mutant.what, JsonValue{members}});
      }
    }
  }
  all.push_back({"another type", json.boolean() ? JsonValue{7.5} : JsonValue{true}});
  return all;
}

template <typename Record>
Record read_back(const JsonValue& json) {
  return records::read_record<Record>(json, {.refusal = "this is not the record"});
}

template <typename Record>
void expect_refused(const JsonValue& json, const std::string& what) {
  try {
    static_cast<void>(read_back<Record>(json));
    ADD_FAILURE() << what << " is read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt_data) << what;
    EXPECT_TRUE(error.message().starts_with("this is not the record")) << error.message();
  }
}

// For many random values. `may_lack` are keys that are left out if unknown.
template <typename Record>
void expect_properties(const std::set<std::string>& may_lack = {}) {
  constexpr std::uint64_t values = drawn(100);
  for (std::uint64_t seed = 0; seed < values; ++seed) {
    Random random{seed};
    Record record{};
    RandomFields{random}.fill(record, {});
    const std::string text = records::json_line(record);
    SCOPED_TRACE(text);
    const std::optional<JsonValue> json = JsonValue::parse(text);
    ASSERT_TRUE(json);
    const auto again = read_back<Record>(*json);
    EXPECT_EQ(records::json_line(again), text);
    if constexpr (!field::is_variant<Record> && std::equality_comparable<Record>) {
      EXPECT_TRUE(again == record);
    }
    for (const Mutant& mutant : mutants_of(*json, may_lack)) {
      expect_refused<Record>(mutant.json, mutant.what);
    }
    for (int place = 0;; ++place) {
      Record broken = record;
      BreakingFields fields{place};
      fields.walk(broken, {});
      if (!fields.broke()) {
        break;
      }
      const std::string what = records::json_line(broken);
      expect_refused<Record>(JsonValue::parse(what).value(), what);
    }
  }
}

}  // namespace zeus::test
