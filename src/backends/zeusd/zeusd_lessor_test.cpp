#include "backends/zeusd/zeusd_lessor.hpp"

#include "base/file_descriptor.hpp"
#include "base/log.hpp"
#include "tests/support/daemon_in_process.hpp"
#include "tests/support/leased_gpus.hpp"
#include "tests/support/running_server.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zeus::backends::zeusd {
namespace {

using control::Lease;
using control::LeaseBook;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

enum class Way { unix_socket, tcp };

// Two GPUs that this process may read, and a daemon that leases them.
struct DaemonStand : test::LocalStand {
  explicit DaemonStand(Way its_way) : way{its_way} {}

  [[nodiscard]] std::shared_ptr<DaemonLink> link() {
    DaemonPlace place{.endpoint = {daemon.socket(), {}}, .token = {}, .is_asked_for = true};
    if (way == Way::tcp) {
      // Over TCP, processes differ by their tokens.
      place = {.endpoint = {{}, daemon.host_port()},
               .token = daemon.token(fmt::format("process {}", ::getpid())),
               .is_asked_for = true};
    }
    return std::make_shared<DaemonLink>(std::move(place), clock_, waits);
  }
  LeaseBook book() override { return book_that(control::Lends::nothing); }
  LeaseBook book_that(control::Lends lends) {
    const std::shared_ptr<DaemonLink> fresh = link();
    fresh->discover();
    return LeaseBook{{{gpu_, nullptr, 0}, {other_gpu_, nullptr, 1}},
                     std::make_shared<ZeusdLessor>(fresh),
                     lends,
                     Error{ErrorKind::permission_denied, "nothing is leased here"}};
  }

  Way way;
  DaemonLink::InPassing waits{.moment = 10_s, .simple = 10_s};  // longer than a busy machine delays an answer
  test::DaemonInProcess daemon{clock_,
                               ledger(),
                               [this](std::vector<device::DiscoveredGpu> gpus) {
                                 return LeaseBook{ledger(), std::move(gpus), guardian_, clock_};
                               },
                               {.gpus = {discovered(gpu_), discovered(other_gpu_)}}};
};

std::unique_ptr<test::LeaseStand> by_unix_socket() {
  return std::make_unique<DaemonStand>(Way::unix_socket);
}
std::unique_ptr<test::LeaseStand> by_tcp() {
  return std::make_unique<DaemonStand>(Way::tcp);
}
const auto daemons = testing::Values(test::LeaseStandKind{"unix", by_unix_socket}, test::LeaseStandKind{"tcp", by_tcp});
const auto by_name = [](const auto& info) { return info.param.name; };

class ZeusdLessorTest : public ::testing::Test, protected DaemonStand, protected test::Failures {
 protected:
  ZeusdLessorTest() : DaemonStand{Way::unix_socket} {}

  // As a training takes it.
  Lease in_passing() {
    return book().acquire("GPU-0", LeaseBook::usual_term, {.of_lessor = control::LessorPatience::a_moment});
  }
  // Lets renew() check the daemon.
  void pass() { clock_.advance(1_s); }

  std::vector<std::string> logged_;
  log::ScopedSink sink_{[this](log::Level, std::string_view line) { logged_.emplace_back(line); }};
};

TEST_F(ZeusdLessorTest, AfterARestartOfTheDaemonItTakesItsLeaseAgainAndReportsThat) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(200_W);
  lease.lock_clocks(ClockDomain::graphics, {900_MHz, 900_MHz});
  lease.set_power_limit(150_W);
  daemon.stop();
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
  pass();
  EXPECT_NO_THROW(lease.renew()) << "nothing is set while it is away, and nothing has to be";
  daemon.start();
  pass();
  lease.renew();
  EXPECT_EQ(gpu_->its_limits.current, 150_W);
  EXPECT_EQ(gpu_->its_locks[ClockDomain::graphics], (ClockRange{900_MHz, 900_MHz}));
  ASSERT_EQ(logged_.size(), 1U);
  EXPECT_THAT(logged_.front(), HasSubstr("was restarted"));
  EXPECT_THAT(logged_.front(), HasSubstr("set again: graphics clocks 900-900 MHz, power limit 150 W"));
  lease.release();
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
}

TEST_F(ZeusdLessorTest, AfterARestartWithOtherGpuNumbersItSetsTheSameGpuAgain) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(150_W);
  daemon.stop();
  daemon.start_with({discovered(other_gpu_), discovered(gpu_)});
  pass();
  lease.renew();
  EXPECT_EQ(gpu_->its_limits.current, 150_W);
  daemon.stop();
  daemon.start_with({discovered(gpu_), discovered(other_gpu_)});
  EXPECT_NO_THROW(lease.set_power_limit(140_W)) << "this call notices the restart";
  EXPECT_EQ(gpu_->its_limits.current, 140_W);
  EXPECT_THAT(other_gpu_->log, IsEmpty());
}

TEST_F(ZeusdLessorTest, ASetterAfterARestartAppliesTheLatestRequest) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(200_W);
  daemon.stop();
  daemon.start();
  EXPECT_EQ(lease.set_power_limit(180_W).enforced, 180_W);
  EXPECT_EQ(gpu_->its_limits.current, 180_W);
}

TEST_F(ZeusdLessorTest, AUsersOwnCallWaitsForADaemonThatIsAway) {
  Lease lease = book().acquire("GPU-0");
  daemon.stop();
  const Instant before = clock_.now();
  EXPECT_THROW(lease.set_power_limit(180_W), Error);
  EXPECT_GE(clock_.now() - before, 10_s);
  EXPECT_NO_THROW(lease.release()) << "nothing is set any more";
}

TEST_F(ZeusdLessorTest, ADaemonThatIsAwayIsNamedAndAskedAgainAfterPausesThatGrow) {
  Lease lease = in_passing();
  lease.set_power_limit(200_W);
  daemon.stop();
  const Instant before = clock_.now();
  const auto why = [&]() -> std::string {
    try {
      lease.set_power_limit(180_W);
    } catch (const control::LessorAway& error) {
      return error.message();
    }
    return {};
  };
  EXPECT_THAT(why(), HasSubstr("zeusd at " + daemon.socket() + " cannot be reached"));
  clock_.advance(0.6_s);
  EXPECT_THAT(why(), HasSubstr("is still away"));
  EXPECT_EQ(clock_.now(), before + 0.6_s) << "no call waits";
  daemon.start();
  clock_.advance(0.6_s);
  EXPECT_THAT(why(), HasSubstr("is away")) << "the second pause is a second";
  clock_.advance(0.6_s);
  EXPECT_EQ(why(), "");
  EXPECT_EQ(gpu_->its_limits.current, 180_W);
}

TEST_F(ZeusdLessorTest, ALeaseCountsAsLostWhileTheDaemonIsAwayForLongerThanARestartTakes) {
  Lease lease = in_passing();
  lease.set_power_limit(200_W);
  daemon.stop();
  for (int second = 0; second < 3; ++second) {
    pass();
    EXPECT_NO_THROW(lease.renew()) << second;
  }
  pass();
  EXPECT_THROW(lease.renew(), control::LessorAway);
  daemon.start();
  clock_.advance(60_s);
  EXPECT_NO_THROW(lease.renew());
  EXPECT_EQ(gpu_->its_limits.current, 200_W);
}

// As one that was stopped: its socket takes connections, and nothing answers.
TEST_F(ZeusdLessorTest, ADaemonThatHangsIsAskedOnceUntilThePauseIsOver) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "z.sock").string();
  const FileDescriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(socket.get(), 16), 0);
  const auto connections = [&] {
    int count = 0;
    while (FileDescriptor{::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC)}) {
      ++count;
    }
    return count;
  };
  DaemonLink link{{.endpoint = {path, {}}, .token = {}, .is_asked_for = true}, clock_};
  EXPECT_THROW(static_cast<void>(link.ask_in_passing("POST", "/v1/leases/take")), control::LessorAway);
  EXPECT_EQ(connections(), 2) << "the request, and the simple question";
  EXPECT_THROW(static_cast<void>(link.ask_in_passing("POST", "/v1/leases/take")), control::LessorAway);
  EXPECT_EQ(connections(), 0);
  pass();
  EXPECT_THROW(static_cast<void>(link.ask_in_passing("POST", "/v1/leases/take")), control::LessorAway);
  EXPECT_EQ(connections(), 1);
}

TEST_F(ZeusdLessorTest, AGpuThatHangsBehindADaemonStopsNoOtherAndIsPutBackWhenItsDriverLets) {
  LeaseBook others = book();
  Lease other = others.acquire("GPU-1");
  waits = {.moment = 1_s, .simple = 4_s};
  Lease lease = in_passing();
  std::promise<void> let_go;
  gpu_->it_hangs = [hung = let_go.get_future().share()] { hung.wait(); };
  const auto why = [&](Lease& of, Watts limit) -> std::string {
    try {
      of.set_power_limit(limit);
    } catch (const control::LessorAway& error) {
      return error.message();
    }
    return {};
  };
  EXPECT_EQ(why(lease, 200_W), "setting GPU 0 through zeusd at " + daemon.socket() + " takes too long");
  EXPECT_NO_THROW(lease.renew());
  EXPECT_EQ(why(other, 190_W), "");
  EXPECT_EQ(other_gpu_->its_limits.current, 190_W);
  clock_.advance(2.1_s);
  EXPECT_THAT(why(lease, 200_W), HasSubstr("a call to its driver hangs")) << "the daemon knows by now";
  EXPECT_NO_THROW(lease.release()) << "the daemon hears of it, and puts back what the driver will have done";
  let_go.set_value();
  // The daemon may still refuse, until it has seen that the call is over.
  EXPECT_TRUE(test::comes_true([&] {
    try {
      static_cast<void>(others.acquire("GPU-0"));
      return true;
    } catch (const control::LessorAway&) {
      return false;
    }
  }));
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
}

TEST_F(ZeusdLessorTest, ReportsOnceWhichHolderHasTheGpuAfterARestart) {
  Lease lease = book().acquire("GPU-0");
  lease.set_power_limit(200_W);
  daemon.stop();
  daemon.start();
  way = Way::tcp;
  Lease other = book().acquire("GPU-0");
  pass();
  const Error error = failure_of([&] { lease.renew(); });
  EXPECT_EQ(error.kind(), ErrorKind::conflict);
  EXPECT_THAT(error.what(), HasSubstr("GPU 0 (Tesla V100) is leased by the token of process"));
  pass();
  EXPECT_EQ(failure_of([&] { lease.renew(); }).kind(), ErrorKind::timeout);
  EXPECT_NO_THROW(lease.release());
  EXPECT_NO_THROW(other.set_power_limit(190_W));
}

TEST_F(ZeusdLessorTest, RenewingDoesNotCallTheDaemonEachTime) {
  Lease lease = book().acquire("GPU-0");
  daemon.stop();
  lease.renew();
  EXPECT_THAT(logged_, IsEmpty());
  EXPECT_NO_THROW(lease.release()) << "with the daemon, all that it held has gone";
}

TEST_F(ZeusdLessorTest, ADaemonThatWasAwayFromTheBeginningGivesALeaseOnceItIsThere) {
  daemon.stop();
  const std::shared_ptr<DaemonLink> unanswered = link();
  LeaseBook leases{{{gpu_, nullptr, 0}},
                   std::make_shared<ZeusdLessor>(unanswered),
                   control::Lends::nothing,
                   Error{ErrorKind::permission_denied, "nothing is leased here"}};
  EXPECT_EQ(failure_of([&] { static_cast<void>(leases.acquire("GPU-0")); }).kind(), ErrorKind::timeout);
  EXPECT_THROW(static_cast<void>(leases.acquire("GPU-0")), control::LessorAway) << "at once, during the pause";
  daemon.start();
  pass();
  Lease lease = leases.acquire("GPU-0");
  lease.set_power_limit(150_W);
  EXPECT_EQ(gpu_->its_limits.current, 150_W);
}

TEST_F(ZeusdLessorTest, ADaemonThatWasNeverThereIsNoneForAProcessThatMaySetGpusItself) {
  const DaemonPlace place{.endpoint = {daemon.socket(), {}}, .token = {}, .is_asked_for = true, .may_set_here = true};
  EXPECT_FALSE(ZeusdLessor{std::make_shared<DaemonLink>(place, clock_)}.offers("GPU-0"));
}

TEST_F(ZeusdLessorTest, AForkedChildBorrowsFromAParentThatLends) {
  Lease lease = book_that(control::Lends::to_descendants).acquire("GPU-0");
  lease.set_power_limit(150_W);
  EXPECT_EQ(failure_elsewhere([&] {
              Lease child = book().acquire("GPU-0");
              if (child.set_power_limit(120_W).enforced != 120_W) {
                throw Error{ErrorKind::internal, "it does not hold"};
              }
              child.release();
            }),
            "");
  EXPECT_THAT(lease.overruled(), HasSubstr("was set by a process that this one has started"));
  EXPECT_THAT(gpu_->log, ElementsAre("power 150", "power 120", "power 150"));
  lease.release();
  EXPECT_EQ(gpu_->its_limits.current, 250_W);
}

TEST_F(ZeusdLessorTest, AForkedChildIsAnotherProcessToTheDaemon) {
  LeaseBook leases = book();
  Lease lease = leases.acquire("GPU-0");
  lease.set_power_limit(150_W);
  // The child uses a copy of the book through which its parent has reached the daemon.
  EXPECT_THAT(failure_elsewhere([&] { static_cast<void>(leases.acquire("GPU-0")); }), HasSubstr("conflict: "));
  clock_.advance(40_s);
  EXPECT_THAT(failure_elsewhere([&] { lease.renew(); }), HasSubstr("conflict: "));
  EXPECT_NO_THROW(lease.set_power_limit(140_W));
}

}  // namespace
}  // namespace zeus::backends::zeusd

namespace zeus::test {
INSTANTIATE_TEST_SUITE_P(Zeusd, LeasePromises, backends::zeusd::daemons, backends::zeusd::by_name);
INSTANTIATE_TEST_SUITE_P(Zeusd, SharePromises, backends::zeusd::daemons, backends::zeusd::by_name);
}  // namespace zeus::test
