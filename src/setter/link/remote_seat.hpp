// A seat whose work the setter does. Threads: as for any Seat. If the setter is gone or answers with anything but an
// answer, each call fails with an unavailable Error.
#pragma once

#include "setter/link/channel.hpp"
#include "setter/link/messages.hpp"
#include "setter/link/seat.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace zeus::setter {

class RemoteSeat final : public Seat {
 public:
  RemoteSeat(Channel channel, Seconds longest) : channel_{std::move(channel)}, longest_{longest} {}

  Taken take(LeaseNumber lease, Seconds term, const control::LeaseClient& client) override;
  SettingResult set(LeaseNumber lease, const Setting& setting) override;
  std::optional<Error> renew(LeaseNumber lease) override;
  std::optional<Error> restore(LeaseNumber lease) override;
  std::optional<Error> release(LeaseNumber lease, const std::string& why) override;
  std::optional<std::string> put_back_what_was_left() override;
  std::string overruled(LeaseNumber lease) override;
  [[nodiscard]] std::uint64_t calls() const override { return calls_; }
  [[nodiscard]] Seconds longest() const override { return longest_; }

 private:
  Answer ask(const Request& request);

  const Channel channel_;
  const Seconds longest_;
  std::atomic<std::uint64_t> calls_{0};
};

}  // namespace zeus::setter
