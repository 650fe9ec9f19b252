// A daemon on a thread of this process, with its own Unix socket and TCP port: for tests of its clients. Its devices
// and the clock must outlive it. A forked child may connect, but has no daemon of its own.
#pragma once

#include "base/clock.hpp"
#include "control/lease_book.hpp"
#include "control/ledger.hpp"
#include "daemon/service.hpp"
#include "device/driver_gate.hpp"
#include "protocol/scopes.hpp"
#include "setter/work/audited_control.hpp"
#include "setter/work/local_seat.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tokens/claims.hpp"
#include "tokens/token.hpp"
#include "transport/event_loop.hpp"
#include "transport/listener.hpp"

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace zeus::test {

struct DaemonServes {
  std::vector<device::DiscoveredGpu> gpus = {};
  std::vector<std::shared_ptr<device::CpuPackage>> cpus = {};
  daemon::Policy policy = daemon::built_in_policy();
  std::vector<protocol::Scope> groups = {protocol::Scope::gpu_control, protocol::Scope::gpu_read,
                                         protocol::Scope::cpu_read};
};

class DaemonInProcess {
 public:
  using MakeBook = std::function<control::LeaseBook(std::vector<device::DiscoveredGpu>)>;

  // `make_book` makes the daemon's own book, of GPUs with the given controls.
  DaemonInProcess(Clock& clock, control::Ledger ledger, MakeBook make_book, DaemonServes serves)
      : clock_{clock}, ledger_{std::move(ledger)}, make_book_{std::move(make_book)}, serves_{std::move(serves)} {
    start();
  }
  DaemonInProcess(const DaemonInProcess&) = delete;
  DaemonInProcess& operator=(const DaemonInProcess&) = delete;
  ~DaemonInProcess() { stop(); }

  [[nodiscard]] std::string socket() const { return (folder_.path() / "zeusd.sock").string(); }
  [[nodiscard]] const std::string& host_port() const { return host_port_; }
  // For TCP.
  [[nodiscard]] std::string token(const std::string& subject) const {
    return tokens::issue(
        {.subject = subject, .scopes = {"gpu-control", "gpu-read", "cpu-read"}, .id = tokens::random_id()}, key_);
  }

  void stop() {
    if (!running_) {
      return;
    }
    running_->loop.post([this] { running_->service->stop(Seconds{8}, [this] { running_->loop.stop(); }); });
    running_->thread.join();
    transport::remove_unix_socket(socket(), *running_->unix_socket);
    running_.reset();
  }
  // With these GPUs instead, numbered in this order.
  void start_with(std::vector<device::DiscoveredGpu> gpus) {
    serves_.gpus = std::move(gpus);
    start();
  }
  void start() {
    running_ = std::make_unique<Running>();
    Running& now = *running_;
    std::vector<setter::LocalSeat::Parts> parts;
    std::vector<device::DiscoveredGpu> leased;
    const auto gate = std::make_shared<device::DriverGate>();
    for (const device::DiscoveredGpu& gpu : serves_.gpus) {
      const auto audited = std::make_shared<setter::AuditedControl>(gpu.gpu, gpu.control, nullptr);
      leased.push_back({gpu.gpu, audited, static_cast<int>(leased.size())});
      parts.push_back({leased.back(), audited, gate});
    }
    now.book.emplace(make_book_(leased));
    std::vector<daemon::Service::Gpu> gpus;
    for (const setter::LocalSeat::Parts& one : parts) {
      gpus.push_back({one.gpu, std::make_shared<setter::LocalSeat>(*now.book, ledger_, one, clock_)});
    }
    daemon::ServicePlan plan{.access = {.hosts = {"localhost"}, .served = serves_.groups}};
    plan.version = "0.0.0";
    plan.instance = tokens::random_id();
    plan.boot = "this-boot";
    plan.rules = {.policy = serves_.policy, .credentials = {.keys = tokens::KeyRing{{key_}}, .revoked = {}}};
    plan.read_rules = [this] {
      return daemon::Rules{.policy = serves_.policy, .credentials = {.keys = tokens::KeyRing{{key_}}, .revoked = {}}};
    };
    plan.draw = tokens::random_id;
    now.service.emplace(now.loop, clock_, gpus, serves_.cpus, std::move(plan));
    now.unix_socket.emplace(transport::listen_on_unix({.path = socket(), .mode = 0666, .user = {}, .group = {}}));
    now.service->accept_on(FileDescriptor{::dup(now.unix_socket->socket.get())});
    std::vector<FileDescriptor> tcp = transport::listen_on_tcp(host_port_.empty() ? "127.0.0.1:0" : host_port_);
    host_port_ = transport::address_of(tcp.front());
    now.service->accept_on(std::move(tcp.front()));
    std::promise<void> ready;
    now.service->begin(Seconds{5}, [&ready] { ready.set_value(); });
    now.thread = std::thread{[&now] { now.loop.run(); }};
    ready.get_future().wait();
  }

 private:
  struct Running {
    std::optional<control::LeaseBook> book;
    transport::EventLoop loop;
    std::optional<daemon::Service> service;
    std::optional<transport::UnixListener> unix_socket;
    std::thread thread;
  };

  Clock& clock_;
  control::Ledger ledger_;
  MakeBook make_book_;
  DaemonServes serves_;
  TemporaryFolder folder_;
  std::string host_port_;
  tokens::Key key_{"", "a key of this test alone, and of no use elsewhere"};
  std::unique_ptr<Running> running_;
};

}  // namespace zeus::test
