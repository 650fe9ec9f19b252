// The promises of a lease, for every kind of lease book, as one set of tests: lease_promises.cpp and
// share_promises.cpp. A test program with a kind of lease book links zeus_lease_promises and instantiates both suites:
//
//   INSTANTIATE_TEST_SUITE_P(Local, LeasePromises, testing::Values(LeaseStandKind{"records", make_local_stand}));
//   INSTANTIATE_TEST_SUITE_P(Local, SharePromises, testing::Values(LeaseStandKind{"records", make_local_stand}));
//
// The tests fork: a forked child uses a book as another process would. One thread, unless a test says otherwise.
#pragma once

#include "control/lease_book.hpp"
#include "control/lease_record.hpp"
#include "tests/support/failures.hpp"
#include "tests/support/settable_gpu.hpp"

#include <zeus/units.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>

namespace zeus::test {

// Two GPUs, GPU-0 and GPU-1, without leases, and books to lease them from.
class LeaseStand {
 public:
  LeaseStand() = default;
  LeaseStand(const LeaseStand&) = delete;
  LeaseStand& operator=(const LeaseStand&) = delete;
  virtual ~LeaseStand() = default;

  // A new one each time, as several parts of a program have their own books. In a forked child, one of the child's.
  virtual control::LeaseBook book() = 0;
  // The device itself: read and set directly, while no call is under way.
  virtual SettableGpu& gpu(int index) = 0;
  // The record of a GPU by the process that sets it.
  [[nodiscard]] virtual std::optional<control::LeaseRecord> record(const std::string& uuid) const = 0;
  // Moves the clock by which leases expire. Work due by then need not be done when this returns, but must be before the
  // answer to the next call of a book or a lease. May also be called during a call of the device, like one that hangs.
  virtual void advance(Seconds time) = 0;
};

struct LeaseStandKind {
  std::string name;
  std::unique_ptr<LeaseStand> (*make)() = nullptr;

  friend void PrintTo(const LeaseStandKind& kind, std::ostream* out) {  // NOLINT(readability-identifier-naming)
    *out << kind.name;
  }
};

class LeasePromises : public ::testing::TestWithParam<LeaseStandKind>, protected Failures {
 protected:
  control::LeaseBook book() { return stand_->book(); }
  [[nodiscard]] std::optional<control::LeaseRecord> record() const { return stand_->record("GPU-0"); }
  void advance(Seconds time) { stand_->advance(time); }

  std::unique_ptr<LeaseStand> stand_ = GetParam().make();
  SettableGpu* gpu_ = &stand_->gpu(0);
};

class SharePromises : public LeasePromises {};

}  // namespace zeus::test
