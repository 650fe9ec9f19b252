// What the shares of one lease have set, in order: of each kind of setting (the power limit, the clocks of a domain,
// persistence mode) the latest is in force, whatever became of the other kinds. Plain values; one thread at a time.
#pragma once

#include "control/lease_record.hpp"

#include <cstdint>
#include <vector>

namespace zeus::control {

// Values of settings are written as what was found is: those kinds that are there, and nothing of the others.

// `below`, with what `above` has in its place.
Found overlaid(Found below, const Found& above);
// Of `values` only the kinds that `kinds` has too; and those that it has not.
Found only(const Found& values, const Found& kinds);
Found without(Found values, const Found& kinds);

class SharedSettings {
 public:
  // `setting` becomes the latest of its kinds; what this share had set of them before is forgotten.
  void set(std::int64_t share, const Found& setting);
  void withdraw(std::int64_t share);
  // What this share has set that is not withdrawn.
  [[nodiscard]] Found of(std::int64_t share) const;
  // Of each kind the latest.
  [[nodiscard]] Found latest() const;

 private:
  struct One {
    std::int64_t share = 0;
    Found setting;
  };
  std::vector<One> all_;
};

}  // namespace zeus::control
