// What the shares of one lease have set, in order. Of each kind of setting (the power limit, the clocks that are locked
// as one domain, persistence mode) the latest is in force, whatever happens to the other kinds. Plain values; one
// thread at a time.
#pragma once

#include "control/lease_record.hpp"

#include <cstdint>
#include <vector>

namespace zeus::control {

// Settings are of type Found: they have values for the kinds that are set, and none for the others.

// `below`, with the values of `above` in place of its own.
Found overlaid(Found below, const Found& above);
// `values` reduced to the kinds that `kinds` has; and to those that it lacks.
Found only(const Found& values, const Found& kinds);
Found without(Found values, const Found& kinds);

class SharedSettings {
 public:
  // `setting` becomes the latest of its kinds; replaces what this share had set of them before.
  void set(std::int64_t share, const Found& setting);
  void withdraw(std::int64_t share);
  // What this share has set and not withdrawn.
  [[nodiscard]] Found of(std::int64_t share) const;
  // The latest of each kind.
  [[nodiscard]] Found latest() const;

 private:
  struct One {
    std::int64_t share = 0;
    Found setting;
  };
  std::vector<One> all_;
};

}  // namespace zeus::control
