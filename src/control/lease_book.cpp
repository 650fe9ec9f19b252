#include "control/lease_book.hpp"

#include "control/local_leases.hpp"
#include "device/inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace zeus::control {

using device::DiscoveredGpu;

LeaseBook::LeaseBook(Ledger ledger, std::vector<DiscoveredGpu> gpus, std::shared_ptr<Guardian> guardian, Clock& clock,
                     Lends lends, std::shared_ptr<Lessor> lessor)
    : gpus_{std::move(gpus)},
      lends_{lends},
      local_{std::make_shared<LocalLeases>(
          LeasePlace{std::make_shared<const Ledger>(std::move(ledger)), std::move(guardian), &clock}, lends)},
      lessor_{std::move(lessor)} {
}

LeaseBook::LeaseBook(std::vector<DiscoveredGpu> gpus, std::shared_ptr<Lessor> lessor, Lends lends, Error why_not_here)
    : gpus_{std::move(gpus)}, lends_{lends}, lessor_{std::move(lessor)}, why_not_here_{std::move(why_not_here)} {
}

Lease LeaseBook::acquire(std::string_view uuid, Seconds term, LeaseTaking taking) {
  const auto gpu = std::ranges::find(gpus_, uuid, [](const DiscoveredGpu& one) { return one.gpu->identity().uuid; });
  if (gpu == gpus_.end()) {
    throw Error{ErrorKind::not_found, fmt::format("there is no GPU {}", uuid), "`zeus devices` lists what is there"};
  }
  if (!(term > Seconds{0})) {
    throw Error{ErrorKind::invalid_argument, fmt::format("a lease cannot last {} s", term.value())};
  }
  if (lessor_ && lessor_->offers(uuid)) {
    return Lease{lessor_->take(*gpu, term, lends_, taking.of_lessor), std::move(taking.client)};
  }
  if (!gpu->control) {
    throw Error{ErrorKind::unavailable, fmt::format("nothing can be set on {}", to_text(*gpu)),
                "`zeus doctor` says why"};
  }
  if (!local_) {
    throw Error{*why_not_here_};
  }
  return Lease{local_->take(*gpu, term, taking), std::move(taking.client)};
}

bool LeaseBook::has_one(std::string_view uuid, Seconds patience) const {
  if (lessor_ && lessor_->offers(uuid)) {
    return lessor_->has_one(uuid);
  }
  return local_ && local_->has_one(uuid, patience);
}

}  // namespace zeus::control
