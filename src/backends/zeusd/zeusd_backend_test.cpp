#include "backends/zeusd/zeusd_backend.hpp"

#include "backends/zeusd/zeusd_cpu.hpp"
#include "backends/zeusd/zeusd_lessor.hpp"
#include "base/log.hpp"
#include "tests/support/failures.hpp"
#include "tests/support/temporary_folder.hpp"
#include "transport/event_loop.hpp"
#include "transport/listener.hpp"
#include "transport/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace zeus::backends::zeusd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view never = "never";

// Gives a fixed answer for each path, or none (`never`). Like the existing daemon, it refuses a CPU reading without
// both counters.
class CannedDaemon {
 public:
  explicit CannedDaemon(std::map<std::string, std::string> bodies)
      : bodies_{std::move(bodies)},
        listener_{
            transport::listen_on_unix({.path = folder_.path() / "d.sock", .mode = 0600, .user = {}, .group = {}})} {
    server_.accept_on(FileDescriptor{::dup(listener_.socket.get())});
    thread_ = std::thread{[this] { loop_.run(); }};
  }
  CannedDaemon(const CannedDaemon&) = delete;
  CannedDaemon& operator=(const CannedDaemon&) = delete;
  ~CannedDaemon() {
    loop_.stop();
    thread_.join();
  }

  [[nodiscard]] std::shared_ptr<DaemonLink> link(Clock& clock, DaemonLink::InPassing waits = {10_s, 10_s}) const {
    return std::make_shared<DaemonLink>(
        DaemonPlace{.endpoint = {(folder_.path() / "d.sock").string(), {}}, .token = {}, .is_asked_for = true}, clock,
        waits);
  }
  // How many requests of this path came. Up to a request that was answered, none is missing.
  [[nodiscard]] int asked(const std::string& path) {
    const std::lock_guard guard{mutex_};
    return asked_[path];
  }

 private:
  void answer(const std::shared_ptr<transport::Exchange>& exchange) {
    {
      const std::lock_guard guard{mutex_};
      ++asked_[exchange->request().path];
    }
    const auto found = bodies_.find(exchange->request().path);
    if (found != bodies_.end() && found->second == never) {
      unanswered_.push_back(exchange);
      return;
    }
    transport::Answer told;
    told.status = found == bodies_.end() ? 404 : 200;
    told.body = found == bodies_.end() ? "" : found->second;
    const std::string& query = exchange->request().query;
    if (exchange->request().path == "/cpu/get_cumulative_energy" &&
        (query.find("cpu=true") == std::string::npos || query.find("dram=true") == std::string::npos)) {
      told = {.status = 400, .headers = {}, .body = "Query deserialize error: missing field `cpu`"};
    }
    exchange->answer(std::move(told));
  }

  std::map<std::string, std::string> bodies_;
  std::mutex mutex_;
  std::map<std::string, int> asked_;
  std::vector<std::shared_ptr<transport::Exchange>> unanswered_;  // the loop's thread
  test::TemporaryFolder folder_;
  transport::UnixListener listener_;
  SystemClock clock_;
  transport::EventLoop loop_;
  transport::HttpServer server_{
      loop_, clock_, {}, [this](const std::shared_ptr<transport::Exchange>& exchange) { answer(exchange); }};
  std::thread thread_;
};

class ZeusdBackendTest : public ::testing::Test, protected test::Failures {
 protected:
  std::vector<std::string> logged_;
  log::ScopedSink sink_{[this](log::Level, std::string_view line) { logged_.emplace_back(line); }};
  VirtualClock clock_{Instant{1'000'000'000}};
};

TEST_F(ZeusdBackendTest, ADaemonThatIsNotThereIsOneWarningAndAProblem) {
  ZeusdBackend backend{std::make_shared<DaemonLink>(DaemonPlace{{"/nowhere/zeusd.sock", {}}, {}, true}, clock_)};
  const device::Discovery found = backend.discover();
  static_cast<void>(backend.discover());
  EXPECT_TRUE(found.gpus.empty());
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems.front().device, "zeusd at /nowhere/zeusd.sock");
  ASSERT_EQ(logged_.size(), 1U);
  EXPECT_THAT(logged_.front(), HasSubstr("continuing without zeusd at /nowhere/zeusd.sock"));
}

// As releases up to 0.5.0 do.
TEST_F(ZeusdBackendTest, WithTheExistingDaemonReadingsGoAsFarAsItsRoutesDo) {
  const CannedDaemon daemon{{
      {"/discover", R"({"gpus":[{"id":0,"name":"V100"}],"cpus":[{"id":0,"dram_available":true}]})"},
      {"/gpu/get_power", R"({"timestamp_ms":1,"power_mw":{"0":150000}})"},
      {"/gpu/get_cumulative_energy", R"({"0":{"energy_mj":5000}})"},
      {"/cpu/get_cumulative_energy", R"({"0":{"cpu_energy_uj":2000000,"dram_energy_uj":null}})"},
  }};
  const std::shared_ptr<DaemonLink> link = daemon.link(clock_);
  const device::Discovery found = ZeusdBackend{link}.discover();
  ASSERT_EQ(found.gpus.size(), 1U);
  const device::Gpu& gpu = *found.gpus.front().gpu;
  EXPECT_EQ(gpu.energy()->value, 5_J);
  EXPECT_EQ(gpu.power(PowerKind::plain, PowerScope::gpu)->value, 150_W);
  EXPECT_EQ(gpu.power(PowerKind::instant, PowerScope::gpu).failure().reason, Reason::unsupported);
  EXPECT_FALSE(gpu.power_limits().current);
  ASSERT_EQ(found.cpus.size(), 1U);
  EXPECT_EQ(found.cpus.front()->energy(device::CpuDomain::package)->value, 2_J);
  EXPECT_EQ(found.cpus.front()->energy(device::CpuDomain::dram).failure().reason, Reason::unsupported);

  ZeusdLessor lessor{link};
  EXPECT_TRUE(lessor.offers("GPU-0"));
  const Error error = failure_of([&] {
    static_cast<void>(lessor.take(found.gpus.front(), 60_s, control::Lends::nothing, control::LessorPatience::usual));
  });
  EXPECT_EQ(error.kind(), ErrorKind::unavailable);
  EXPECT_THAT(error.what(), HasSubstr("gives no leases"));
}

// A daemon's number of a package depends on the kernel's zones; here it depends on the package's name.
TEST_F(ZeusdBackendTest, PackagesAreInTheOrderOfTheirNames) {
  const CannedDaemon daemon{{{"/discover", R"({"gpus":[],"cpus":[)"
                                           R"({"id":0,"dram_available":true,"name":"package-10"},)"
                                           R"({"id":1,"dram_available":true,"name":"package-2-die-1"},)"
                                           R"({"id":2,"dram_available":true,"name":"package-2-die-0"}]})"}}};
  const device::Discovery found = ZeusdBackend{daemon.link(clock_)}.discover();
  std::vector<std::string> names;
  for (const auto& cpu : found.cpus) {
    EXPECT_EQ(cpu->identity().index, static_cast<int>(names.size()));
    names.push_back(cpu->identity().name);
  }
  EXPECT_THAT(names, ElementsAre("package-2-die-0", "package-2-die-1", "package-10"));
}

TEST_F(ZeusdBackendTest, TimesOfAnotherClockAreMovedToThisOne) {
  const CannedDaemon daemon{{
      {"/discover", R"({"gpus":[],"cpus":[{"id":0,"dram_available":false,"name":"package-0"}],)"
                    R"("zeusd":{"version":"1","api":1,"instance":"i"}})"},
      {"/v1/readings",
       R"({"now_ns":501000000000,"timestamp_ms":1,"instance":"i","gpus":[],"cpus":[{"id":0,"name":"package-0",)"
       R"("generation":1,"package":{"energy":{"value_j":7.0,"at_ns":500000000000,"latency_s":0.0},)"
       R"("counter":{"resolution_j":1e-6,"wraps_at_j":null,"scope":"package"},"began_ns":3},)"
       R"("dram":{"energy":{"value_j":null,"at_ns":500000000000,"latency_s":0.0,"reason":"unsupported"},)"
       R"("counter":null,"began_ns":null}}]})"},
  }};
  const device::Discovery found = ZeusdBackend{daemon.link(clock_)}.discover();
  EXPECT_EQ(found.from, device::DiscoveredFrom::other_node);
  ASSERT_EQ(found.cpus.size(), 1U);
  EXPECT_THAT(found.cpus.front()->identity().name, HasSubstr("package-0 of "));
  const auto energy = found.cpus.front()->energy(device::CpuDomain::package);
  ASSERT_TRUE(energy);
  EXPECT_EQ(energy->value, 7_J);
  EXPECT_EQ(energy->at, clock_.now() - 1_s);
}

TEST_F(ZeusdBackendTest, WorkThatHangsIsAskedForOnceUntilItsPauseIsOver) {
  CannedDaemon daemon{{{"/discover", R"({"gpus":[],"cpus":[]})"}, {"/set", std::string{never}}, {"/read", "it"}}};
  const std::shared_ptr<DaemonLink> link = daemon.link(clock_, {.moment = 0.5_s, .simple = 0.5_s});
  const DeviceWork setting{.name = "setting GPU 0"};
  const auto set = [&](const DeviceWork& work) {
    return failure_of([&] { static_cast<void>(link->ask_in_passing("POST", "/set", {}, work)); });
  };
  EXPECT_EQ(set(setting).kind(), ErrorKind::timeout);
  EXPECT_EQ(daemon.asked("/set"), 1);
  for (const Seconds pause : {2_s, 4_s, 8_s}) {
    clock_.advance(pause - 0.1_s);
    const int before = daemon.asked("/set");
    EXPECT_EQ(set(setting).kind(), ErrorKind::timeout);
    EXPECT_EQ(daemon.asked("/set"), before) << "in a pause of " << pause.value() << " s";
    EXPECT_EQ(link->get_in_passing("/read", {}, {.name = "reading GPU 0"}), "it");
    clock_.advance(0.2_s);
    EXPECT_EQ(link->get_in_passing("/read", {}, setting), "it") << "shows nothing about the other request";
    EXPECT_EQ(set(setting).kind(), ErrorKind::timeout);
    EXPECT_EQ(daemon.asked("/set"), before + 1);
  }
  const int before = daemon.asked("/set");
  EXPECT_EQ(set({.name = setting.name, .is_owed = true}).kind(), ErrorKind::timeout);
  static_cast<void>(link->get_in_passing("/discover"));
  EXPECT_EQ(daemon.asked("/set"), before + 1) << "the daemon hears of what ends something";
}

// A training reads them, too.
TEST_F(ZeusdBackendTest, ACpuReadingThatHangsIsATimeoutAndIsAskedForOnceInAPause) {
  CannedDaemon daemon{{
      {"/discover", R"({"gpus":[],"cpus":[{"id":0,"dram_available":false,"name":"package-0"}],)"
                    R"("zeusd":{"version":"1","api":1,"instance":"i"}})"},
      {"/v1/readings", std::string{never}},
      {"/v1/leases", std::string{never}},
  }};
  const std::shared_ptr<DaemonLink> link = daemon.link(clock_, {.moment = 0.1_s, .simple = 2_s});
  link->discover();
  const ZeusdCpu cpu{link, std::make_shared<Openings>(), {0, "package-0"}, 0};
  EXPECT_EQ(cpu.energy(device::CpuDomain::package).failure().reason, Reason::timeout);
  EXPECT_EQ(cpu.energy(device::CpuDomain::package).failure().reason, Reason::timeout);
  EXPECT_EQ(daemon.asked("/v1/readings"), 1);
  ZeusdLessor lessor{link};
  EXPECT_EQ(failure_of([&] { static_cast<void>(lessor.has_one("GPU-0")); }).message(),
            link->name() + " did not answer in time");
}

}  // namespace
}  // namespace zeus::backends::zeusd
