// The daemon's HTTP interface: the existing daemon's routes, and ours beside them under /v1, as a table for a front
// (service/front.hpp). The loop's thread. The node outlives what is made of it.
#pragma once

#include "daemon/node.hpp"
#include "daemon/policy.hpp"
#include "protocol/device_readings.hpp"
#include "protocol/query.hpp"
#include "service/access.hpp"
#include "service/call.hpp"
#include "service/front.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace zeus::daemon {

using service::SharedCall;

inline constexpr service::Door door{
    .kind = "daemon",
    .machine = "node",
    .knows_local_clients = true,
    .challenge_header = "www-authenticate",
    .challenge = R"(Bearer realm="zeusd")",
    .name_advice = "use its address, or have the daemon started with --host-name",
    .no_token_advice = "send it as 'Authorization: Bearer TOKEN'",
};

struct Row {
  std::string_view method;
  std::string_view path;
  service::Needs needs;
  void (*handler)(Node&, const SharedCall&);
};
std::span<const Row> node_rows();
std::span<const Row> gpu_rows();
std::span<const Row> cpu_rows();
std::span<const Row> lease_rows();

// All of them, and for every other path why it is not there.
std::vector<service::Route> routes(Node& node);
// 404 without a body, for requests to these paths that no earlier route takes.
service::Route nothing_there(std::string_view paths, const service::Needs& needs);
service::Front front_of(Node& node);

// For sockets of their own, where clients need not identify themselves.
void show_metrics(Node& node, const SharedCall& call);
void list_all_leases(Node& node, const SharedCall& call);

inline constexpr std::string_view no_token_here = "this daemon asks for no token here";

// All GPUs (or CPU packages) that a request asks for. If it names none: the GPUs that this client may read, or all of
// them if it may read none; all CPU packages. Refuses the request and returns
// false if one does not exist, or the policy does not let this client read it. Setters are refused in plain text.
enum class ErrorForm { json, text };
bool choose_gpus(Node& node, const SharedCall& call, const std::optional<protocol::Ids>& asked, ErrorForm form,
                 std::set<int>& gpus);
bool choose_cpus(Node& node, const SharedCall& call, const std::optional<protocol::Ids>& asked, std::set<int>& cpus);
Verdict verdict_on_reading(const Node& node, const SharedCall& call, int gpu);
bool may_read(const Node& node, const SharedCall& call, const std::set<int>& gpus);
// Reads these devices, and calls `done` with the readings unless one of them did not answer.
void read_gpus(Node& node, const SharedCall& call, const std::set<int>& gpus, std::uint32_t parts,
               std::function<void(const std::vector<protocol::GpuReadings>&)> done);
void read_cpus(Node& node, const SharedCall& call, const std::set<int>& cpus,
               std::function<void(const std::vector<protocol::CpuReadings>&)> done);

}  // namespace zeus::daemon
