#include "backends/zeusd/zeusd_lessor.hpp"

#include "backends/zeusd/remote_lease.hpp"
#include "base/holder.hpp"
#include "protocol/error_body.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace zeus::backends::zeusd {

ZeusdLessor::ZeusdLessor(std::shared_ptr<DaemonLink> link) : link_{std::move(link)} {
}

bool ZeusdLessor::offers(std::string_view uuid) const {
  const protocol::DiscoveryAnswer* const known = link_->known();
  if (known == nullptr) {
    // It may answer when a lease is taken. Without it, this process has no other way to set anything.
    return !link_->place().may_set_here;
  }
  if (known->zeusd) {
    return link_->gpu_number(uuid).has_value();
  }
  // The daemon reports no UUIDs and so may mean any GPU. If this process may not set one, take() says why.
  return !link_->place().may_set_here && !known->gpus.empty();
}

std::vector<device::WattRange> ZeusdLessor::allowed_power_limits(std::string_view uuid) const {
  const protocol::DiscoveryAnswer* const known = link_->known();
  for (const protocol::ListedGpu& gpu : known != nullptr ? known->gpus : std::vector<protocol::ListedGpu>{}) {
    if (gpu.uuid == uuid) {
      return gpu.allowed_power_limits.value_or(std::vector<device::WattRange>{});
    }
  }
  return {};
}

std::unique_ptr<control::LeaseBacking> ZeusdLessor::take(const device::DiscoveredGpu& gpu, Seconds term,
                                                         control::Lends lends, control::LessorPatience patience) {
  if (link_->known() == nullptr) {
    meet();
  }
  if (!link_->known()->zeusd) {
    throw Error{ErrorKind::unavailable,
                fmt::format("{} gives no leases: it is an older release or another program", link_->name()),
                "install the zeusd of this package, or name no daemon (ZEUSD_SOCK_PATH=)"};
  }
  return std::make_unique<RemoteLease>(link_, gpu, term, lends, patience);
}

// A daemon that was away when this program began. A user's own call waits for it no longer than a training does: the
// program has already waited when it looked for devices.
void ZeusdLessor::meet() {
  try {
    link_->discover_in_passing();
  } catch (const control::LessorAway& away) {
    throw control::LessorAway{ErrorKind::timeout, away.message(), away.advice()};
  }
}

bool ZeusdLessor::has_one(std::string_view uuid) {
  const auto told = protocol::read_answer<protocol::LeaseList>(link_->get_in_passing("/v1/leases"));
  return std::ranges::any_of(told.leases, [&](const protocol::ListedLease& lease) {
    // A client gets the names of its own leases only.
    return !lease.id.empty() && lease.kind == protocol::LeaseKind::explicit_lease &&
           std::ranges::any_of(lease.gpus, [&](const protocol::LeasedGpu& gpu) { return gpu.uuid == uuid; });
  });
}

std::map<std::string, control::LeaseClient, std::less<>> ZeusdLessor::clients() {
  std::map<std::string, control::LeaseClient, std::less<>> all;
  if (link_->known() == nullptr || !link_->known()->zeusd) {
    return all;
  }
  try {
    const auto told =
        protocol::read_answer<protocol::LeaseList>(link_->get("/v1/leases", {}, DaemonLink::patience_at_start));
    for (const protocol::ListedLease& lease : told.leases) {
      control::LeaseClient client;
      client.user = lease.holder.uid;
      if (lease.holder.pid) {
        client.process = Holder{*lease.holder.pid, 0, lease.holder.command.value_or("")};
      }
      client.control_group = lease.holder.cgroup;
      client.token = lease.holder.token;
      for (const protocol::LeasedGpu& gpu : lease.gpus) {
        all.emplace(gpu.uuid, client);
      }
    }
  } catch (const Error&) {  // these routes are not served, or not to this user
    all.clear();
  }
  return all;
}

namespace {

// How this user can open the socket, given its group.
std::string way_in(const std::string& socket) {
  struct stat status {};
  const struct group* const named =
      ::stat(socket.c_str(), &status) == 0 && status.st_gid != 0 ? ::getgrgid(status.st_gid) : nullptr;
  if (named == nullptr) {
    return "run `sudo groupadd --system zeus && sudo usermod -aG zeus $USER`, restart zeusd, and log in again";
  }
  return fmt::format("run `sudo usermod -aG {} $USER` and log in again", named->gr_name);
}

std::string fix_for(const Error& error, const DaemonPlace& place) {
  const std::string& socket = place.endpoint.unix_path;
  if (error.kind() == ErrorKind::permission_denied && !socket.empty()) {
    return way_in(socket);
  }
  if (error.kind() == ErrorKind::unavailable && !socket.empty()) {
    return place.is_asked_for ? "start zeusd with that `--socket-path`, or unset ZEUSD_SOCK_PATH"
                              : "run `sudo systemctl restart zeusd.socket zeusd`";
  }
  return error.advice();
}

}  // namespace

control::LessorReport ZeusdLessor::report() {
  control::LessorReport report;
  report.name = link_->name();
  try {
    const protocol::DiscoveryAnswer& told = link_->discover(DaemonLink::patience_at_start);
    if (told.auth_required.value_or(false)) {
      static_cast<void>(link_->get("/auth/whoami", {}, DaemonLink::patience_at_start));
    }
    if (!told.zeusd) {
      report.works.emplace_back("it answers");
      report.problems.push_back({report.name, "it gives no leases: it is an older release or another program",
                                 "install the zeusd of this package, or name no daemon (ZEUSD_SOCK_PATH=)"});
      return report;
    }
    report.works.push_back(fmt::format("it answers, as version {}", told.zeusd->version));
    report_readings(report);
    report_leases(report);
  } catch (const Error& error) {
    report.problems.push_back({report.name, error.message(), fix_for(error, link_->place())});
  }
  return report;
}

void ZeusdLessor::report_readings(control::LessorReport& report) {
  const protocol::DiscoveryAnswer& told = *link_->known();
  const auto try_to_read = [&](const std::string& what, const Query& query) {
    try {
      static_cast<void>(link_->get("/v1/readings", query, DaemonLink::patience_at_start));
      report.works.push_back("this user may read " + what);
    } catch (const Error& error) {
      report.problems.push_back(
          {report.name, fmt::format("this user may not read {}: {}", what, error.message()), error.advice()});
    }
  };
  if (!told.gpus.empty()) {
    try_to_read("its GPUs", {{"gpu_ids", std::to_string(told.gpus.front().id)}});
  }
  if (!told.cpus.empty()) {
    try_to_read("the energy of its CPU packages", {{"cpu_ids", std::to_string(told.cpus.front().id)}});
  }
}

void ZeusdLessor::report_leases(control::LessorReport& report) {
  for (const protocol::ListedGpu& gpu : link_->known()->gpus) {
    const std::string name = fmt::format("its GPU {} ({})", gpu.id, gpu.name.value_or("GPU"));
    const transport::Answer taken =
        link_->ask("POST", "/v1/leases/take", {{"gpu_ids", std::to_string(gpu.id)}, {"term_s", "1"}},
                   DaemonLink::patience_at_start);
    const Error refused = link_->refusal(taken, gpu.id);
    if (taken.status == static_cast<int>(protocol::Status::ok)) {
      const std::string lease = protocol::read_answer<protocol::LeaseAnswer>(taken.body).id;
      static_cast<void>(link_->ask("POST", "/v1/leases/release", {{"lease", lease}}));
      report.works.push_back(fmt::format("this user may set {}, as the node's policy says", name));
    } else if (refused.kind() == ErrorKind::conflict) {
      report.works.push_back(fmt::format("this user may set {} once it is free: {}", name, refused.message()));
    } else {
      report.problems.push_back(
          {report.name, fmt::format("this user may not set {}: {}", name, refused.message()), refused.advice()});
    }
  }
}

}  // namespace zeus::backends::zeusd
