#include "control/lease.hpp"
#include "control/restoration.hpp"
#include "tests/support/full_disk.hpp"
#include "tests/support/leased_gpus.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <thread>
#include <vector>

namespace zeus::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Each process has its own copy of the driver in memory, so the tests repeat by hand what a child has set on the GPU.
class ChildShareTest : public test::LeasedGpus {
 protected:
  // A process that does `action` and then, unless that fails, lives until it is killed.
  class Descendant {
   public:
    explicit Descendant(const std::function<void()>& action) {
      std::array<int, 2> ends{};
      EXPECT_EQ(::pipe(ends.data()), 0);
      process_ = ::fork();
      if (process_ == 0) {
        std::string said = "done";
        try {
          action();
        } catch (const Error& error) {
          said = error.what();
        }
        static_cast<void>(::write(ends[1], said.data(), said.size()));
        ::alarm(60);
        while (true) {
          ::pause();
        }
      }
      ::close(ends[1]);
      std::string said(4096, ' ');
      said.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(ends[0], said.data(), said.size()), 0)));
      ::close(ends[0]);
      EXPECT_EQ(said, "done");
    }
    Descendant(const Descendant&) = delete;
    Descendant& operator=(const Descendant&) = delete;
    ~Descendant() { kill(); }
    void kill() {
      if (process_ > 0) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        process_ = 0;
      }
    }
    [[nodiscard]] pid_t process() const { return process_; }

   private:
    pid_t process_ = 0;
  };

  ChildShareTest() {
    // Descent is looked up in the real kernel.
    machine_ = FileTree{temporary_.path() / "real"};
    std::filesystem::create_directories(machine_.root());
    std::filesystem::create_directory_symlink("/proc", machine_.root() / "proc");
  }

  // Ends only with the process.
  static Lease& kept(Lease lease) { return *new Lease{std::move(lease)}; }

  [[nodiscard]] LeaseBook lending() { return book_that(Lends::to_descendants); }
  Lease& borrow(Watts limit) {
    Lease& lease = kept(book().acquire("GPU-0"));
    lease.set_power_limit(limit);
    return lease;
  }
};

TEST_F(ChildShareTest, ADescendantBorrowsAndItsEndRestoresItsParentsSettings) {
  Lease parent = lending().acquire("GPU-0");
  parent.set_power_limit(150_W);
  Descendant child{[&] { borrow(120_W); }};
  ASSERT_NE(record()->child(), nullptr);
  EXPECT_EQ(record()->found.power_limit, 250_W);
  EXPECT_EQ(record()->child()->found.power_limit, 150_W);
  EXPECT_EQ(record()->child()->holder.pid, child.process());
  gpu_->its_limits.current = 120_W;
  EXPECT_EQ(ledger().standing(*record(), clock_.now()), Standing::held);
  child.kill();
  EXPECT_EQ(ledger().standing(*record(), clock_.now()), Standing::child_abandoned);
  const std::vector<Restoration> done = restore_abandoned(ledger(), std::vector{discovered(gpu_)}, clock_);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].result, Restoration::Result::restored);
  EXPECT_EQ(done[0].claim->found.power_limit, 150_W);
  EXPECT_EQ(gpu_->its_limits.current, 150_W);
  EXPECT_EQ(record()->child(), nullptr);
  parent.release();
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  EXPECT_THAT(folder_.list(""), IsEmpty());
}

TEST_F(ChildShareTest, AChildThatReleasesPutsBackItselfAndLeavesItsParentTheLease) {
  Lease parent = lending().acquire("GPU-0");
  parent.set_power_limit(150_W);
  EXPECT_EQ(failure_elsewhere([&] {
              Lease child = book().acquire("GPU-0");
              child.set_power_limit(120_W);
              child.lock_clocks(ClockDomain::graphics, {900_MHz, 900_MHz});
              gpu_->log.clear();
              child.release();
              const std::vector<std::string> expected{"unlock graphics", "power 150"};
              if (gpu_->log != expected) {
                throw Error{ErrorKind::internal, "it put back something else"};
              }
            }),
            "");
  EXPECT_EQ(record()->child(), nullptr);
  EXPECT_NO_THROW(parent.set_power_limit(140_W));
  EXPECT_EQ(record()->found.power_limit, 250_W);
}

// The driver of NVIDIA.
TEST_F(ChildShareTest, ItsParentsClocksApplyAgainAlsoIfTheDriverDoesNotTellThem) {
  constexpr ClockRange parents{1200_MHz, 1200_MHz};
  constexpr ClockRange childs{900_MHz, 900_MHz};
  gpu_->it_tells_locks = false;
  Lease parent = lending().acquire("GPU-0");
  parent.lock_clocks(ClockDomain::graphics, parents);
  EXPECT_EQ(failure_elsewhere([&] {
              Lease child = book().acquire("GPU-0");
              child.lock_clocks(ClockDomain::sm, childs);
              child.release();
              if (gpu_->its_locks[ClockDomain::graphics] != parents) {
                throw Error{ErrorKind::internal, "it put back something else"};
              }
            }),
            "");
  Descendant child{[&] { kept(book().acquire("GPU-0")).lock_clocks(ClockDomain::sm, childs); }};
  gpu_->its_locks[ClockDomain::graphics] = childs;
  child.kill();
  static_cast<void>(restore_abandoned(ledger(), std::vector{discovered(gpu_)}, clock_));
  EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], parents);
  parent.release();
  EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], std::nullopt);
  EXPECT_THAT(folder_.list(""), IsEmpty());
}

// The driver of AMD.
TEST_F(ChildShareTest, ItsParentsClocksApplyAgainAlsoInADomainThatOnlyItsResetFrees) {
  constexpr ClockRange parents{800_MHz, 800_MHz};
  gpu_->it_tells_locks = false;
  gpu_->its_reset_frees_all_domains = true;
  Lease parent = lending().acquire("GPU-0");
  parent.lock_clocks(ClockDomain::memory, parents);
  EXPECT_EQ(
      failure_elsewhere([&] {
        Lease child = book().acquire("GPU-0");
        child.lock_clocks(ClockDomain::graphics, {900_MHz, 900_MHz});
        child.unlock_clocks(ClockDomain::graphics);
        const bool is_kept = gpu_->its_locks[ClockDomain::memory] == parents;
        child.lock_clocks(ClockDomain::graphics, {900_MHz, 900_MHz});
        child.release();
        if (!is_kept || gpu_->its_locks[ClockDomain::memory] != parents || gpu_->its_locks[ClockDomain::graphics]) {
          throw Error{ErrorKind::internal, "it put back something else"};
        }
      }),
      "");
}

TEST_F(ChildShareTest, LearnsWhichClocksItsParentWithdrawsAndKeepsItsOwnInTheRecord) {
  const auto locked = [](Megahertz clock) {
    return std::map<ClockDomain, FoundClocks>{{ClockDomain::graphics, {true, ClockRange{clock, clock}}}};
  };
  gpu_->it_tells_locks = false;
  Lease first = lending().acquire("GPU-0");
  first.lock_clocks(ClockDomain::graphics, {1200_MHz, 1200_MHz});
  Lease second = lending().acquire("GPU-0");
  second.lock_clocks(ClockDomain::sm, {1000_MHz, 1000_MHz});
  EXPECT_EQ(record()->clocks, locked(1000_MHz));
  const Descendant child{[&] { kept(book().acquire("GPU-0")).lock_clocks(ClockDomain::graphics, {900_MHz, 900_MHz}); }};
  EXPECT_EQ(record()->child()->found.clocks, locked(1000_MHz));
  second.release();
  EXPECT_EQ(record()->clocks, locked(1200_MHz));
  EXPECT_EQ(record()->child()->found.clocks, locked(1200_MHz));
  first.restore();
  EXPECT_EQ(record()->clocks, std::nullopt);
  EXPECT_EQ(record()->child()->found.clocks.at(ClockDomain::graphics), FoundClocks{});
  first.release();
  EXPECT_EQ(record()->holder.pid, child.process());
  EXPECT_EQ(record()->clocks, locked(900_MHz)) << "it may lend them in turn";
}

TEST_F(ChildShareTest, WhenItsParentDiesTheSettingsThatTheParentFoundAreRestored) {
  // The parent that dies is a process of its own, which has a child itself.
  Descendant parent{[&] {
    kept(lending().acquire("GPU-0")).set_power_limit(150_W);
    if (!failure_elsewhere([&] { borrow(120_W).lock_clocks(ClockDomain::graphics, {900_MHz, 900_MHz}); }).empty()) {
      throw Error{ErrorKind::internal, "the child could not borrow"};
    }
  }};
  gpu_->its_limits.current = 120_W;
  gpu_->its_locks[ClockDomain::graphics] = ClockRange{900_MHz, 900_MHz};
  parent.kill();
  EXPECT_EQ(ledger().standing(*record(), clock_.now()), Standing::abandoned);
  static_cast<void>(restore_abandoned(ledger(), std::vector{discovered(gpu_)}, clock_));
  EXPECT_THAT(gpu_->log, ElementsAre("unlock graphics", "power 250"));
  EXPECT_THAT(folder_.list(""), IsEmpty());
}

TEST_F(ChildShareTest, WhenItsParentReleasesItKeepsTheLeaseAndRestoresWhatItsParentFound) {
  Lease parent = lending().acquire("GPU-0");
  parent.set_power_limit(150_W);
  static_cast<void>(parent.set_persistence_mode(true));
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const Descendant child{[&] {
    Lease& lease = borrow(120_W);
    std::thread{[&] {
      char told = 0;
      static_cast<void>(::read(ends[0], &told, 1));
      lease.set_power_limit(110_W);
      lease.release();
      ::_exit(gpu_->its_limits.current == 250_W && !record() ? 0 : 1);
    }}.detach();
  }};
  gpu_->its_limits.current = 120_W;
  gpu_->log.clear();
  parent.release();
  EXPECT_THAT(gpu_->log, ElementsAre("persistence off"));
  EXPECT_EQ(record()->holder.pid, child.process());
  EXPECT_EQ(record()->found.power_limit, 250_W);
  static_cast<void>(::write(ends[1], "x", 1));
  int status = 0;
  ::waitpid(child.process(), &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(ChildShareTest, ItEndsWithItsParentsLeaseAlsoWhenItsOwnTermIsLonger) {
  Lease parent = lending().acquire("GPU-0", 60_s);
  EXPECT_THAT(failure_elsewhere([&] {
                Lease child = book().acquire("GPU-0", 600_s);
                child.set_power_limit(120_W);
                clock_.advance(61_s);
                try {
                  child.set_power_limit(110_W);
                } catch (const Error&) {
                  if (gpu_->its_limits.current != 250_W || record()) {
                    throw Error{ErrorKind::internal, "it is not put back"};
                  }
                  throw;
                }
              }),
              HasSubstr("timeout: the lease of GPU 0 (Tesla V100) ended with that of process"));
  EXPECT_EQ(failure_of([&] { parent.set_power_limit(150_W); }).kind(), ErrorKind::timeout);
}

TEST_F(ChildShareTest, OneBorrowsAtATime) {
  const Lease parent = lending().acquire("GPU-0");
  const Descendant first{[&] { borrow(150_W); }};
  const std::string second = failure_elsewhere([&] { borrow(120_W); });
  EXPECT_THAT(second, StartsWith("conflict: GPU 0 (Tesla V100) is leased by process"));
  EXPECT_THAT(second, HasSubstr(fmt::format(", and set by process {} ", first.process())));
}

TEST_F(ChildShareTest, OnlyLendersLendAndOnlyToDescendants) {
  {
    const Descendant holder{[&] { kept(lending().acquire("GPU-0")); }};
    EXPECT_EQ(failure_of([&] { static_cast<void>(book().acquire("GPU-0")); }).kind(), ErrorKind::conflict);
    EXPECT_THAT(failure_elsewhere([&] { borrow(120_W); }), StartsWith("conflict")) << "a sibling";
  }
  const Lease kept_to_itself = book().acquire("GPU-0");
  EXPECT_THAT(failure_elsewhere([&] { borrow(120_W); }), StartsWith("conflict"));
}

TEST_F(ChildShareTest, WhileItBorrowsItsParentSetsNothingButMayWithdraw) {
  Lease first = lending().acquire("GPU-0");
  first.set_power_limit(200_W);
  Lease second = lending().acquire("GPU-0");
  second.set_power_limit(150_W);
  static_cast<void>(second.set_persistence_mode(true));
  Descendant child{[&] { borrow(120_W); }};
  gpu_->its_limits.current = 120_W;
  const Error refused = failure_of([&] { first.set_power_limit(180_W); });
  EXPECT_EQ(refused.kind(), ErrorKind::conflict);
  EXPECT_THAT(refused.what(), HasSubstr(fmt::format("is set by process {} ", child.process())));
  gpu_->log.clear();
  second.release();
  EXPECT_THAT(gpu_->log, ElementsAre("persistence off")) << "what the child has not touched comes back at once";
  EXPECT_EQ(record()->child()->found.power_limit, 200_W);
  first.restore();
  EXPECT_EQ(record()->child()->found.power_limit, 250_W);
  EXPECT_TRUE(record()->found.empty());
  child.kill();
  EXPECT_NO_THROW(first.set_power_limit(180_W));
  EXPECT_THAT(gpu_->log, ElementsAre("persistence off", "power 250", "power 180"));
}

TEST_F(ChildShareTest, AParentsShareWhoseEndCannotBeRecordedKeepsNoLease) {
  Lease first = lending().acquire("GPU-0");
  first.set_power_limit(200_W);
  Lease second = lending().acquire("GPU-0");
  second.set_power_limit(150_W);
  const Descendant child{[&] { borrow(120_W); }};
  {
    const test::FullDisk full;
    EXPECT_THAT(failure_of([&] { second.release(); }).what(), HasSubstr("cannot write"));
  }
  first.release();
  EXPECT_EQ(record()->holder.pid, child.process());
}

TEST_F(ChildShareTest, AParentWhoseEndCannotBeRecordedLeavesTheGpuToTheGuardian) {
  Lease parent = lending().acquire("GPU-0");
  parent.set_power_limit(150_W);
  const Descendant child{[&] { borrow(120_W); }};
  gpu_->its_limits.current = 120_W;
  {
    const test::FullDisk full;
    EXPECT_THAT(failure_of([&] { parent.release(); }).what(), HasSubstr("could not be put back: cannot write"));
  }
  EXPECT_EQ(ledger().standing(*record(), clock_.now()), Standing::abandoned);
  static_cast<void>(restore_abandoned(ledger(), std::vector{discovered(gpu_)}, clock_));
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
}

TEST_F(ChildShareTest, AParentThatMeasuresLearnsOfItsChildsChanges) {
  Lease parent = lending().acquire("GPU-0");
  parent.set_power_limit(150_W);
  Descendant child{[&] { kept(book().acquire("GPU-0")); }};
  EXPECT_EQ(parent.overruled(), "") << "it has set nothing yet";
  child.kill();
  EXPECT_EQ(failure_elsewhere([&] { book().acquire("GPU-0").set_power_limit(120_W); }), "");
  EXPECT_THAT(parent.overruled(), HasSubstr("was set by a process that this one has started")) << "also afterwards";
  parent.set_power_limit(150_W);
  EXPECT_EQ(parent.overruled(), "");
}

TEST_F(ChildShareTest, ItsParentsRenewalsAndItsOwnLeaveOneAnotherAlone) {
  Lease parent = lending().acquire("GPU-0", 60_s);
  const Descendant child{[&] { kept(book().acquire("GPU-0", 100_s)).set_power_limit(120_W); }};
  clock_.advance(40_s);
  parent.renew();
  EXPECT_EQ(record()->expires, clock_.now() + 60_s);
  EXPECT_EQ(record()->child()->expires, clock_.now() + 60_s) << "40 of its 100 are over";
  EXPECT_EQ(record()->child()->found.power_limit, 250_W);
}

}  // namespace
}  // namespace zeus::control
