// Combines what each rank has into what all have. A record that ranks exchange declares it once, field by field:
//
//   struct Outcome {
//     Status status;
//     Joules energy;
//     void joined(Joining& join) {
//       join.largest(status);
//       join.sum(energy);
//     }
//   };
//
// Ranks::agree() visits the fields twice: to gather the values, and to hand out the results. Fields are numbers,
// quantities, enums and bools; none is below 0, and counts are below 2^53. One thread.
#pragma once

#include "records/power_setting.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace zeus::train {

class Joining {
 public:
  // `leads` says whether this rank is the one that decides.
  explicit Joining(bool leads) : leads_{leads} {}

  template <typename T>
  void sum(T& field) {
    pass(sums_, field, true);
  }
  template <typename T>
  void largest(T& field) {
    pass(largest_, field, true);
  }
  void any(bool& field) { largest(field); }
  // The value of the leading rank: a sum to which no other rank adds.
  template <typename T>
  void leaders(T& field) {
    pass(sums_, field, leads_);
  }

  // Unknown if it is unknown to all ranks, or to the leading one.
  template <typename T>
  void largest(std::optional<T>& field) {
    each(field, [this](auto& one) { this->largest(one); });
  }
  template <typename T>
  void leaders(std::optional<T>& field) {
    each(field, [this](auto& one) { this->leaders(one); });
  }
  void leaders(records::PowerSetting& setting) {
    leaders(setting.limit);
    leaders(setting.clock);
  }

  // The gathered values; the caller replaces them by the results over all ranks before they are handed out.
  [[nodiscard]] std::span<double> sums() { return sums_.values; }
  [[nodiscard]] std::span<double> largest() { return largest_.values; }
  void hand_out() { handing_out_ = true; }

 private:
  struct Column {
    std::vector<double> values;
    std::size_t next = 0;
  };

  template <typename T>
  static double number_of(const T& field) {
    if constexpr (requires { field.value(); }) {
      return field.value();
    } else {
      return static_cast<double>(field);
    }
  }
  template <typename T>
  static T of_number(double number) {
    if constexpr (std::is_same_v<T, bool>) {
      return number > 0;
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(static_cast<int>(number));
    } else {
      return T(number);
    }
  }

  template <typename T>
  void pass(Column& column, T& field, bool counts) {
    if (handing_out_) {
      field = of_number<T>(column.values.at(column.next++));
    } else {
      column.values.push_back(counts ? number_of(field) : 0.0);
    }
  }
  template <typename T, typename Join>
  void each(std::optional<T>& field, Join join) {
    bool known = field.has_value();
    T value = field.value_or(T{});
    join(known);
    join(value);
    if (handing_out_) {
      field = known ? std::optional{value} : std::nullopt;
    }
  }

  bool leads_;
  bool handing_out_ = false;
  Column sums_;
  Column largest_;
};

}  // namespace zeus::train
