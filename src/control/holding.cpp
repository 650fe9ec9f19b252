#include "control/holding.hpp"

#include <algorithm>

namespace zeus::control {

Seconds Holding::term() const {
  Seconds longest{0};
  for (const auto& [number, share] : shares) {
    longest = std::max(longest, share.term);
  }
  return longest;
}

Seconds Holding::renewed_after() const {
  return client() ? std::min<Seconds>(term() / 4, 1_s) : term() / 2;
}

Seconds Holding::written_for() const {
  return client() ? term() + renewed_after() : term();
}

std::optional<LeaseClient> Holding::client() const {
  return shares.empty() ? std::nullopt : shares.begin()->second.client;
}

bool Holding::is_in(const LeaseRecord& written) const {
  const Claim* const claim = borrowed ? written.child() : &written;
  return claim != nullptr && claim->lease == ours().lease && written.boot == record.boot;
}

Instant Holding::ends() const {
  return std::min(ours().expires, record.expires);
}

}  // namespace zeus::control
