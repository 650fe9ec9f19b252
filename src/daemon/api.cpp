#include "daemon/api.hpp"

#include "base/log.hpp"
#include "base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::daemon {

using protocol::Status;

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

}  // namespace

const std::vector<Api::Route>& Api::routes() {
  static const std::vector<Route> all{
      {"GET", "/discover", &Api::discover},
      {"GET", "/time", &Api::time},
      {"GET", "/auth/whoami", &Api::who_am_i},
      {"GET", "/metrics", &Api::metrics},
      {"POST", "/gpu/set_power_limit", &Api::set_power_limit},
      {"POST", "/gpu/set_persistence_mode", &Api::set_persistence_mode},
      {"POST", "/gpu/set_gpu_locked_clocks", &Api::set_gpu_locked_clocks},
      {"POST", "/gpu/reset_gpu_locked_clocks", &Api::reset_gpu_locked_clocks},
      {"POST", "/gpu/set_mem_locked_clocks", &Api::set_mem_locked_clocks},
      {"POST", "/gpu/reset_mem_locked_clocks", &Api::reset_mem_locked_clocks},
      {"POST", "/gpu/reset_locked_clocks", &Api::reset_locked_clocks},
      {"GET", "/gpu/get_power", &Api::get_power},
      {"GET", "/gpu/get_cumulative_energy", &Api::get_cumulative_energy},
      {"GET", "/gpu/get_power_limit", &Api::get_power_limit},
      {"GET", "/gpu/get_power_limit_constraints", &Api::get_power_limit_constraints},
      {"GET", "/gpu/get_persistence_mode", &Api::get_persistence_mode},
      {"GET", "/gpu/stream_power", &Api::stream_power},
      {"GET", "/cpu/get_cumulative_energy", &Api::get_cpu_energy},
      {"GET", "/cpu/get_power", &Api::get_cpu_power},
      {"GET", "/cpu/stream_power", &Api::stream_cpu_power},
      {"GET", "/v1/readings", &Api::readings},
      {"GET", "/v1/leases", &Api::list_leases},
      {"POST", "/v1/leases/take", &Api::take_lease},
      {"POST", "/v1/leases/renew", &Api::renew_lease},
      {"POST", "/v1/leases/set_power_limit", &Api::set_leased_power_limit},
      {"POST", "/v1/leases/lock_clocks", &Api::lock_leased_clocks},
      {"POST", "/v1/leases/unlock_clocks", &Api::unlock_leased_clocks},
      {"POST", "/v1/leases/set_persistence_mode", &Api::set_leased_persistence_mode},
      {"POST", "/v1/leases/restore", &Api::restore_lease},
      {"POST", "/v1/leases/release", &Api::release_lease},
      {"GET", "/v1/leases/overruled", &Api::ask_whether_overruled},
      {"GET", "/v1/outcomes", &Api::outcomes},
  };
  return all;
}

void Api::handle(std::shared_ptr<transport::Exchange> exchange) {
  const Instant began = node_.loop.clock().now();
  const transport::Request& request = exchange->request();
  const auto route = std::ranges::find_if(
      routes(), [&](const Route& one) { return one.path == request.path && one.method == request.method; });
  const bool is_known = route != routes().end();
  std::variant<Visitor, TurnedAway> admitted =
      admit(request, exchange->peer(), {node_.groups, node_.credentials, node_.hosts}, node_.loop.clock().wall());
  const auto* const away = std::get_if<TurnedAway>(&admitted);
  const bool is_audited = node_.audit && is_known && request.method == "POST";
  const bool is_noted = node_.logs_requests || is_audited;
  const auto answered = [this, began, is_audited, name = is_known ? route->path : std::string_view{"other"},
                         noted = is_noted ? exchange : nullptr,
                         client = !is_noted         ? std::string{}
                                  : away != nullptr ? "a client that was refused"
                                                    : to_text(std::get<Visitor>(admitted).client)](
                            int status, std::string_view body) {
    node_.metrics.count_request(name, status, node_.loop.clock().now() - began);
    if (node_.logs_requests) {
      log::debug(line_of(noted->request(), status, client));
    }
    if (is_audited && is_refusal(status)) {
      node_.audit->write_refusal(refused_call(noted->request(), status, body, client));
    }
  };
  if (away != nullptr) {
    Call{std::move(exchange), {}, answered}.refuse(away->refusal);
    return;
  }
  auto call = std::make_shared<Call>(std::move(exchange), std::move(std::get<Visitor>(admitted)), answered);
  if (call->client().token) {
    node_.desk->note_token(call->client());
  }
  if (is_known) {
    (this->*route->handler)(call);
  } else {
    call->refuse(protocol::Refusal{.status = Status::not_found, .body = {}});
  }
}

bool Api::choose_gpus(const SharedCall& call, const std::optional<protocol::Ids>& asked, ErrorForm form,
                      std::set<int>& gpus) {
  for (std::size_t gpu = 0; !asked && gpu < node_.gpus.size(); ++gpu) {
    gpus.insert(static_cast<int>(gpu));
  }
  if (!asked) {
    // Those that the client may read. One that may read none is refused for all of them, with the reasons.
    std::set<int> readable = gpus;
    std::erase_if(readable, [&](int gpu) { return !verdict_on_reading(call, gpu).allowed; });
    gpus = readable.empty() ? gpus : readable;
  }
  for (const std::uint32_t number : asked ? asked->numbers : std::vector<std::uint32_t>{}) {
    if (number >= node_.gpus.size()) {
      const std::string why = fmt::format("there is no GPU {}: this node has {}", number,
                                          node_.gpus.empty() ? "none" : fmt::format("0 to {}", node_.gpus.size() - 1));
      call->refuse(form == ErrorForm::text ? protocol::text_refusal(Status::bad_request, why)
                                           : protocol::refusal(Status::bad_request, why));
      return false;
    }
    gpus.insert(static_cast<int>(number));
  }
  return true;
}

bool Api::choose_cpus(const SharedCall& call, const std::optional<protocol::Ids>& asked, std::set<int>& cpus) {
  const Verdict verdict = decide(node_.desk->policy(), call->client().asker(), {.action = Action::read_cpu});
  if (!verdict.allowed) {
    call->refuse(Status::forbidden, verdict.why);
    return false;
  }
  for (std::size_t cpu = 0; !asked && cpu < node_.cpus.size(); ++cpu) {
    cpus.insert(static_cast<int>(cpu));
  }
  for (const std::uint32_t number : asked ? asked->numbers : std::vector<std::uint32_t>{}) {
    if (number >= node_.cpus.size()) {
      call->refuse(Status::bad_request,
                   fmt::format("there is no CPU package {}: this node has {}", number,
                               node_.cpus.empty() ? "none" : fmt::format("0 to {}", node_.cpus.size() - 1)));
      return false;
    }
    cpus.insert(static_cast<int>(number));
  }
  return true;
}

Verdict Api::verdict_on_reading(const SharedCall& call, int gpu) const {
  return decide(node_.desk->policy(), call->client().asker(),
                {.action = Action::read, .gpu = node_.gpu(gpu).seat->name()});
}

bool Api::may_read(const SharedCall& call, const std::set<int>& gpus) {
  Refusals refusals;
  for (const int gpu : gpus) {
    const Verdict verdict = verdict_on_reading(call, gpu);
    if (!verdict.allowed) {
      refusals[gpu] = {Status::forbidden, verdict.why};
    }
  }
  if (!refusals.empty()) {
    call->refuse(refusals);
  }
  return refusals.empty();
}

// Asks each of these devices, and calls `done` with their answers in order, unless one did not answer.
template <typename Readings, typename Ask>
void Api::gather(const SharedCall& call, const std::set<int>& devices, std::string_view kind, const Ask& ask,
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
          call->refuse(refusals);
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

void Api::read(const SharedCall& call, const std::set<int>& gpus, std::uint32_t parts,
               std::function<void(const std::vector<protocol::GpuReadings>&)> done) {
  if (may_read(call, gpus)) {
    gather<protocol::GpuReadings>(
        call, gpus, "GPU", [&](int gpu, auto told) { node_.gpu(gpu).reader->ask(parts, std::move(told)); },
        std::move(done));
  }
}

void Api::read_cpus(const SharedCall& call, const std::set<int>& cpus,
                    std::function<void(const std::vector<protocol::CpuReadings>&)> done) {
  gather<protocol::CpuReadings>(
      call, cpus, "CPU package", [&](int cpu, auto told) { node_.cpu(cpu).reader->ask(std::move(told)); },
      std::move(done));
}

}  // namespace zeus::daemon
