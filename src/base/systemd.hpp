// What systemd and its services say to one another, spoken by hand: sockets that it has opened for us, and that we are
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

// The sockets that were opened for this process; none where it was not started that way.
std::vector<FileDescriptor> inherited_sockets(const Environment& environment);

class Supervisor {
 public:
  explicit Supervisor(const Environment& environment);

  // "READY=1". Does nothing where nobody asked to be told.
  void tell(std::string_view state) const noexcept;
  // How often it wants to hear from us; nothing where it does not.
  [[nodiscard]] std::optional<Seconds> watchdog() const { return watchdog_; }

 private:
  std::string address_;  // of its socket; empty where there is none
  std::optional<Seconds> watchdog_;
};

}  // namespace zeus
