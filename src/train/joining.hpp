// How what each rank has becomes what all of them have. A record that ranks exchange declares it once, field by field:
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
// Ranks::agree() goes over the fields twice, to gather and to hand out. Fields are numbers, quantities, enums and
// bools, none below 0, and counts below 2^53. One thread.
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
  // `leads` says whether this is the rank whose word counts where one's does.
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
  // What the rank that leads says: a sum to which no other adds.
  template <typename T>
  void leaders(T& field) {
    pass(sums_, field, leads_);
  }

  // Unknown only where it is to all, or to the one that leads.
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

  // What was gathered, to be replaced by what it came to over all ranks before it is handed out.
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
