#include "backends/zeusd/zeusd_lessor.hpp"

#include "backends/zeusd/remote_lease.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::backends::zeusd {

ZeusdLessor::ZeusdLessor(std::shared_ptr<DaemonLink> link) : link_{std::move(link)} {
}

bool ZeusdLessor::offers(std::string_view uuid) const {
  const protocol::DiscoveryAnswer* const known = link_->known();
  // One that says no UUIDs may mean any GPU: what it does not give is not to be looked for elsewhere.
  return known != nullptr && (known->zeusd ? link_->gpu_number(uuid).has_value() : !known->gpus.empty());
}

std::unique_ptr<control::LeaseBacking> ZeusdLessor::take(const device::DiscoveredGpu& gpu, Seconds term) {
  if (!link_->known()->zeusd) {
    throw Error{ErrorKind::unavailable,
                fmt::format("{} gives no leases: it is an older release, or another program", link_->name()),
                "install the zeusd of this package, or name no daemon (ZEUSD_SOCK_PATH=)"};
  }
  return std::make_unique<RemoteLease>(link_, gpu, term);
}

bool ZeusdLessor::has_one(std::string_view uuid) {
  const auto told = protocol::read_answer<protocol::LeaseList>(link_->get("/v1/leases"));
  return std::ranges::any_of(told.leases, [&](const protocol::ListedLease& lease) {
    // Only of its own leases is a client told the names.
    return !lease.id.empty() && lease.kind == protocol::LeaseKind::explicit_lease &&
           std::ranges::any_of(lease.gpus, [&](const protocol::LeasedGpu& gpu) { return gpu.uuid == uuid; });
  });
}

}  // namespace zeus::backends::zeusd
