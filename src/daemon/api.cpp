#include "daemon/api.hpp"

#include "base/log.hpp"
#include "base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

namespace zeus::daemon {

using protocol::Scope;
using protocol::Status;
using service::Anyone;
using service::AnyToken;

namespace {

// "GET /gpu/get_power 200 by user 1000's process 77". Without the query, which may be long and name leases. Bounded and
// printable, because the client wrote it.
std::string line_of(const transport::Request& request, int status, const std::string& client) {
  constexpr std::size_t most = 100;
  return fmt::format("{} {} by {}", shortened(printable(fmt::format("{} {}", request.method, request.path)), most),
                     status, client);
}

// The client's mistakes, and what it may not do. What a GPU refused has a line of its own.
bool is_refusal(int status) {
  return status >= 400 && status < 500;
}

// Of a call that may change settings. The client wrote the query, and a lease's name in it is a secret.
setter::RefusedCall refused_call(const transport::Request& request, int status, std::string_view body,
                                 const std::string& client) {
  constexpr std::size_t most = 300;
  std::string asked;
  for (std::string_view rest = request.query; !rest.empty();) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    if (!rest.starts_with("lease=")) {
      asked += fmt::format("{}{}", asked.empty() ? "" : " ", rest.substr(0, end));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {.who = client,
          .what = std::string{request.path},
          .asked = shortened(printable(asked), most),
          .outcome = fmt::format("{}: {}", status, shortened(printable(body), most))};
}

void note(Node& node, const service::Call& call, int status, std::string_view body, Seconds took) {
  node.metrics.count_request(call.route_name(), status, took);
  const transport::Request& request = call.request();
  const bool is_audited = node.audit && call.route_name() != service::other_route && request.method == "POST";
  if (!node.logs_requests && !is_audited) {
    return;
  }
  const std::string client = call.is_admitted() ? to_text(client_of(call)) : "a client that was refused";
  if (node.logs_requests) {
    log::debug(line_of(request, status, client));
  }
  if (is_audited && is_refusal(status)) {
    node.audit->write_refusal(refused_call(request, status, body, client));
  }
}

void nothing_about_tokens(const SharedCall& call) {
  call->refuse(call->visitor().claims ? protocol::Refusal{.status = Status::not_found, .body = {}}
                                      : protocol::refusal(Status::not_found, no_token_here));
}

}  // namespace

service::Route nothing_there(std::string_view paths, const service::Needs& needs) {
  return {.method = "*", .path = paths, .needs = needs, .handler = [](const SharedCall& call) {
            call->refuse(protocol::Refusal{.status = Status::not_found, .body = {}});
          }};
}

std::vector<service::Route> routes(Node& node) {
  std::vector<service::Route> all;
  for (const std::span<const Row> rows : {node_rows(), gpu_rows(), cpu_rows(), lease_rows()}) {
    for (const Row& row : rows) {
      all.push_back({.name = row.path,
                     .method = row.method,
                     .path = row.path,
                     .needs = row.needs,
                     .handler = [&node, work = row.handler](const SharedCall& call) {
                       if (call->visitor().claims) {
                         node.desk->note_token(client_of(*call));
                       }
                       work(node, call);
                     }});
    }
  }
  // Everything else belongs to a group, too: from the status, clients learn whether they may use that group.
  for (const auto& [paths, needs] :
       std::initializer_list<std::pair<std::string_view, service::Needs>>{{"/discover", Anyone{}},
                                                                          {"/time", Anyone{}},
                                                                          {"/gpu/set_*", Scope::gpu_control},
                                                                          {"/gpu/reset_*", Scope::gpu_control},
                                                                          {"/gpu/*", Scope::gpu_read},
                                                                          {"/cpu/*", Scope::cpu_read},
                                                                          {"/v1/leases*", Scope::gpu_control},
                                                                          {"/v1/outcomes*", Scope::gpu_control}}) {
    all.push_back(nothing_there(paths, needs));
  }
  all.push_back({.method = "*", .path = "/auth/*", .needs = AnyToken{}, .handler = nothing_about_tokens});
  all.push_back(nothing_there("*", AnyToken{}));
  return all;
}

service::Front front_of(Node& node) {
  return {node.loop.clock(),
          door,
          node.access,
          routes(node),
          answer_of,
          [&node](const service::Call& call, int status, std::string_view body, Seconds took) {
            note(node, call, status, body, took);
          }};
}

bool choose_gpus(Node& node, const SharedCall& call, const std::optional<protocol::Ids>& asked, ErrorForm form,
                 std::set<int>& gpus) {
  for (std::size_t gpu = 0; !asked && gpu < node.gpus.size(); ++gpu) {
    gpus.insert(static_cast<int>(gpu));
  }
  if (!asked) {
    // Those that the client may read. One that may read none is refused for all of them, with the reasons.
    std::set<int> readable = gpus;
    std::erase_if(readable, [&](int gpu) { return !verdict_on_reading(node, call, gpu).allowed; });
    gpus = readable.empty() ? gpus : readable;
  }
  for (const std::uint32_t number : asked ? asked->numbers : std::vector<std::uint32_t>{}) {
    if (number >= node.gpus.size()) {
      const std::string why = fmt::format("there is no GPU {}: this node has {}", number,
                                          node.gpus.empty() ? "none" : fmt::format("0 to {}", node.gpus.size() - 1));
      call->refuse(form == ErrorForm::text ? protocol::text_refusal(Status::bad_request, why)
                                           : protocol::refusal(Status::bad_request, why));
      return false;
    }
    gpus.insert(static_cast<int>(number));
  }
  return true;
}

bool choose_cpus(Node& node, const SharedCall& call, const std::optional<protocol::Ids>& asked, std::set<int>& cpus) {
  const Verdict verdict = decide(node.desk->policy(), client_of(*call).asker(), {.action = Action::read_cpu});
  if (!verdict.allowed) {
    call->refuse(Status::forbidden, verdict.why);
    return false;
  }
  for (std::size_t cpu = 0; !asked && cpu < node.cpus.size(); ++cpu) {
    cpus.insert(static_cast<int>(cpu));
  }
  for (const std::uint32_t number : asked ? asked->numbers : std::vector<std::uint32_t>{}) {
    if (number >= node.cpus.size()) {
      call->refuse(Status::bad_request,
                   fmt::format("there is no CPU package {}: this node has {}", number,
                               node.cpus.empty() ? "none" : fmt::format("0 to {}", node.cpus.size() - 1)));
      return false;
    }
    cpus.insert(static_cast<int>(number));
  }
  return true;
}

Verdict verdict_on_reading(const Node& node, const SharedCall& call, int gpu) {
  return decide(node.desk->policy(), client_of(*call).asker(),
                {.action = Action::read, .gpu = node.gpu(gpu).seat->name()});
}

bool may_read(const Node& node, const SharedCall& call, const std::set<int>& gpus) {
  Refusals refusals;
  for (const int gpu : gpus) {
    const Verdict verdict = verdict_on_reading(node, call, gpu);
    if (!verdict.allowed) {
      refusals[gpu] = {Status::forbidden, verdict.why};
    }
  }
  if (!refusals.empty()) {
    refuse(*call, refusals);
  }
  return refusals.empty();
}

namespace {

// Asks each of these devices, and calls `done` with their answers in order, unless one did not answer.
template <typename Readings, typename Ask>
void gather(const SharedCall& call, const std::set<int>& devices, std::string_view kind, const Ask& ask,
            std::function<void(const std::vector<Readings>&)> done) {
  const auto all = std::make_shared<std::vector<Readings>>(devices.size());
  if (devices.empty()) {
    done(*all);
    return;
  }
  const auto gathered =
      std::make_shared<Gathered>(devices.size(), [call, all, done = std::move(done)](const Refusals& refusals) {
        if (refusals.empty()) {
          done(*all);
        } else {
          refuse(*call, refusals);
        }
      });
  std::size_t position = 0;
  for (const int device : devices) {
    ask(device, [all, gathered, device, position, kind](DeviceThread::End end, const Readings& readings) {
      (*all)[position] = readings;
      gathered->add(device, refusal_of(end, fmt::format("{} {}", kind, device)));
    });
    ++position;
  }
}

}  // namespace

void read_gpus(Node& node, const SharedCall& call, const std::set<int>& gpus, std::uint32_t parts,
               std::function<void(const std::vector<protocol::GpuReadings>&)> done) {
  if (may_read(node, call, gpus)) {
    gather<protocol::GpuReadings>(
        call, gpus, "GPU", [&](int gpu, auto told) { node.gpu(gpu).reader->ask(parts, std::move(told)); },
        std::move(done));
  }
}

void read_cpus(Node& node, const SharedCall& call, const std::set<int>& cpus,
               std::function<void(const std::vector<protocol::CpuReadings>&)> done) {
  gather<protocol::CpuReadings>(
      call, cpus, "CPU package", [&](int cpu, auto told) { node.cpu(cpu).reader->ask(std::move(told)); },
      std::move(done));
}

}  // namespace zeus::daemon
