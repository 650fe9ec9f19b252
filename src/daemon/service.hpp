// The daemon, put together: devices and their threads, leases, routes, and the loop on which they live. Its maker gives
// it the sockets, and calls it to read its files again and to stop.
//
// Threads: that of the loop, or any before the loop runs. Ownership: the loop and the clock outlive this object.
#pragma once

#include "base/file_tree.hpp"
#include "daemon/node.hpp"
#include "daemon/policy.hpp"
#include "device/inventory.hpp"
#include "service/access.hpp"
#include "service/front.hpp"
#include "setter/link/remote_audit.hpp"
#include "setter/link/seat.hpp"
#include "tokens/credentials.hpp"
#include "transport/event_loop.hpp"
#include "transport/server.hpp"

#include <zeus/units.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::daemon {

// What is read from files, at the start and at each reload.
struct Rules {
  Policy policy;
  tokens::Credentials credentials;
};

struct ServicePlan {
  service::Access access;  // without credentials, which are among the rules
  bool logs_requests = false;
  Seconds gpu_period{0.05};
  Seconds cpu_period{0.1};
  std::string version;
  std::string instance;
  std::string boot;
  std::shared_ptr<const FileTree> state;       // where counters are kept; null: they are not kept
  std::shared_ptr<setter::RemoteAudit> audit;  // null: no audit log
  Rules rules;
  // Reads the files again, on a thread of its own; throws an Error if one is not valid.
  std::function<Rules()> read_rules;
  std::function<std::string()> draw;
  transport::ServerLimits limits;
};

class Service {
 public:
  // A GPU with its number, and what sets it.
  struct Gpu {
    device::DiscoveredGpu gpu;
    std::shared_ptr<setter::Seat> seat;
  };

  Service(transport::EventLoop& loop, Clock& clock, const std::vector<Gpu>& gpus,
          std::vector<std::shared_ptr<device::CpuPackage>> cpus, ServicePlan plan);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  // Puts back what a dead daemon has left, on all GPUs in parallel. Calls `ready` once that is done, or after
  // `patience`.
  void begin(Seconds patience, std::function<void()> ready);
  void accept_on(FileDescriptor listener);
  // Every client that can connect here is the administrator.
  void accept_administration_on(FileDescriptor listener);
  // Serves metrics alone, to every client.
  void accept_metrics_on(FileDescriptor listener);

  // `done` gets the Error in a file, or nothing.
  void reload(std::function<void(std::optional<Error>)> done);
  // Accepts no more clients, ends every lease and puts settings back. Calls `done` once that is done, or after
  // `patience`.
  void stop(Seconds patience, std::function<void()> done);
  // Whether a call to a driver hangs, so that its thread cannot be ended. Call it once the loop has stopped; it waits a
  // moment for calls that do not hang.
  [[nodiscard]] bool is_stuck();

 private:
  class RealLoop;
  void tick();
  // Of the administrator's socket.
  std::vector<service::Route> administration();

  std::unique_ptr<RealLoop> loop_;
  ServicePlan plan_;
  Node node_;
  service::Front front_;
  service::Access unchecked_;
  service::Front administration_;
  service::Front metrics_;
  DeviceThread files_;
  transport::HttpServer server_;
  transport::HttpServer administration_server_;
  transport::HttpServer metrics_server_;
  std::optional<transport::EventLoop::Watch> deadline_;
};

}  // namespace zeus::daemon
