// The daemon, put together: devices and their threads, leases, routes, and the loop that they live on. Whoever makes it
// gives it the sockets, says when its files are to be read anew, and when to stop.
//
// Threads: that of the loop, or before the loop runs. Ownership: the loop, the clock, the book and the ledger outlive
// it.
#pragma once

#include "base/file_tree.hpp"
#include "control/lease_book.hpp"
#include "control/ledger.hpp"
#include "daemon/access.hpp"
#include "daemon/api.hpp"
#include "daemon/audit_log.hpp"
#include "daemon/node.hpp"
#include "daemon/policy.hpp"
#include "device/inventory.hpp"
#include "transport/event_loop.hpp"
#include "transport/server.hpp"

#include <zeus/units.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::daemon {

// What is read of files, at the start and anew when asked to.
struct Rules {
  Policy policy;
  Credentials credentials;
};

struct ServicePlan {
  std::vector<Group> groups;
  std::vector<std::string> hosts;
  bool logs_requests = false;
  Seconds gpu_period{0.05};
  Seconds cpu_period{0.1};
  std::string version;
  std::string instance;
  std::string boot;
  std::shared_ptr<const FileTree> state;  // where counters are kept; null: nowhere
  std::shared_ptr<AuditLog> audit;        // null: none
  Rules rules;
  // Reads the files anew, on a thread of its own; an Error where one cannot be understood.
  std::function<Rules()> read_rules;
  std::function<std::string()> draw;
  transport::ServerLimits limits;
};

class Service {
 public:
  // `gpus` have their numbers, and their controls are AuditedControls.
  struct Gpu {
    device::DiscoveredGpu gpu;
    std::shared_ptr<AuditedControl> audited;
  };

  Service(transport::EventLoop& loop, Clock& clock, control::LeaseBook& book, const control::Ledger& ledger,
          const std::vector<Gpu>& gpus, std::vector<std::shared_ptr<device::CpuPackage>> cpus, ServicePlan plan);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  // Puts back what a dead daemon has left, on all GPUs side by side; `ready` is called once that is done, or has taken
  // `patience`.
  void begin(Seconds patience, std::function<void()> ready);
  void accept_on(FileDescriptor listener);
  // Whoever can connect here is the administrator.
  void accept_administration_on(FileDescriptor listener);
  // Metrics alone, for everybody.
  void accept_metrics_on(FileDescriptor listener);

  // `done` is told what is wrong with a file, or nothing.
  void reload(std::function<void(std::optional<Error>)> done);
  // Accepts nobody more, ends every lease and puts back; `done` is called once that is done, or cannot be for
  // `patience`.
  void stop(Seconds patience, std::function<void()> done);
  // Whether a call to a driver hangs, so that its thread cannot be ended. Once the loop does not run any more; waits a
  // moment for what does not hang.
  [[nodiscard]] bool is_stuck();

 private:
  class RealLoop;
  void tick();
  void administrate(const std::shared_ptr<transport::Exchange>& exchange);

  std::unique_ptr<RealLoop> loop_;
  ServicePlan plan_;
  Node node_;
  Api api_;
  DeviceThread files_;
  transport::HttpServer server_;
  transport::HttpServer administration_;
  transport::HttpServer metrics_;
  std::optional<transport::EventLoop::Watch> deadline_;
};

}  // namespace zeus::daemon
