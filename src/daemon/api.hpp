// The daemon's HTTP interface: the existing daemon's routes, and ours beside them under /v1. One table lists the
// routes. A request is admitted (access.hpp), found in the table and passed to its handler, which answers now or later.
// The loop's thread. The node outlives this object.
#pragma once

#include "daemon/call.hpp"
#include "daemon/node.hpp"
#include "transport/server.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::daemon {

class Api {
 public:
  explicit Api(Node& node) : node_{node} {}

  void handle(std::shared_ptr<transport::Exchange> exchange);

  // For sockets of their own, where clients need not identify themselves (node_routes.cpp, lease_routes.cpp).
  void metrics(const SharedCall& call);
  void list_all_leases(const SharedCall& call);

 private:
  struct Route {
    std::string_view method;
    std::string_view path;
    void (Api::*handler)(const SharedCall&);
  };
  static const std::vector<Route>& routes();

  // node_routes.cpp
  void discover(const SharedCall& call);
  void time(const SharedCall& call);
  void who_am_i(const SharedCall& call);
  void readings(const SharedCall& call);

  // gpu_routes.cpp
  void set_power_limit(const SharedCall& call);
  void set_persistence_mode(const SharedCall& call);
  void set_gpu_locked_clocks(const SharedCall& call);
  void reset_gpu_locked_clocks(const SharedCall& call);
  void set_mem_locked_clocks(const SharedCall& call);
  void reset_mem_locked_clocks(const SharedCall& call);
  void reset_locked_clocks(const SharedCall& call);
  void get_power(const SharedCall& call);
  void get_cumulative_energy(const SharedCall& call);
  void get_power_limit(const SharedCall& call);
  void get_power_limit_constraints(const SharedCall& call);
  void get_persistence_mode(const SharedCall& call);
  void stream_power(const SharedCall& call);

  // cpu_routes.cpp
  void get_cpu_energy(const SharedCall& call);
  void get_cpu_power(const SharedCall& call);
  void stream_cpu_power(const SharedCall& call);

  // lease_routes.cpp
  void take_lease(const SharedCall& call);
  void list_leases(const SharedCall& call);
  void renew_lease(const SharedCall& call);
  void set_leased_power_limit(const SharedCall& call);
  void lock_leased_clocks(const SharedCall& call);
  void unlock_leased_clocks(const SharedCall& call);
  void set_leased_persistence_mode(const SharedCall& call);
  void restore_lease(const SharedCall& call);
  void release_lease(const SharedCall& call);
  void ask_whether_overruled(const SharedCall& call);
  void outcomes(const SharedCall& call);

  // All GPUs (or CPU packages) that a request asks for. If it names none: the GPUs that this client may read, or all of
  // them if it may read none; all CPU packages. Refuses the request and returns
  // false if one does not exist, or the policy does not let this client read it. Setters are refused in plain text.
  enum class ErrorForm { json, text };
  bool choose_gpus(const SharedCall& call, const std::optional<protocol::Ids>& asked, ErrorForm form,
                   std::set<int>& gpus);
  bool choose_cpus(const SharedCall& call, const std::optional<protocol::Ids>& asked, std::set<int>& cpus);
  [[nodiscard]] Verdict verdict_on_reading(const SharedCall& call, int gpu) const;
  bool may_read(const SharedCall& call, const std::set<int>& gpus);
  void set(const SharedCall& call, const protocol::Ids& gpus, bool block, const Setting& setting);
  void set_leased(const SharedCall& call, const std::string& lease, const protocol::Ids& gpus, const Setting& setting);
  template <typename Readings, typename Ask>
  void gather(const SharedCall& call, const std::set<int>& devices, std::string_view kind, const Ask& ask,
              std::function<void(const std::vector<Readings>&)> done);
  // Reads these GPUs, and calls `done` with the readings unless one of them did not answer.
  void read(const SharedCall& call, const std::set<int>& gpus, std::uint32_t parts,
            std::function<void(const std::vector<protocol::GpuReadings>&)> done);
  void read_cpus(const SharedCall& call, const std::set<int>& cpus,
                 std::function<void(const std::vector<protocol::CpuReadings>&)> done);

  Node& node_;
};

}  // namespace zeus::daemon
