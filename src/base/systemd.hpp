// Our side of systemd's protocol with its services: sockets that systemd has opened for us, and messages that we are
// ready, alive or stopping. Functions of the environment; any thread.
#pragma once

#include "base/environment.hpp"
#include "base/file_descriptor.hpp"

#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus {

// The sockets that were opened for this process; none if it was not started that way.
std::vector<FileDescriptor> inherited_sockets(const Environment& environment);

class Supervisor {
 public:
  explicit Supervisor(const Environment& environment);

  // "READY=1". Does nothing if no supervisor asked to be notified.
  void tell(std::string_view state) const noexcept;
  // How often the supervisor wants to hear from us; nothing if it does not.
  [[nodiscard]] std::optional<Seconds> watchdog() const { return watchdog_; }

 private:
  std::string address_;  // of its socket; empty if there is none
  std::optional<Seconds> watchdog_;
};

}  // namespace zeus
