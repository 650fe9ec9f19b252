// The setter's work, from start to end: it opens the GPUs, says so to zeusd, and does what zeusd asks until the sockets
// between them end. Then it puts back what is still set. Each GPU has a thread of its own, so that one that hangs in
// its driver does not hold up the others. It reads nothing but fixed messages (setter/link/messages.hpp); a message
// that is none ends the channel that it came by, and the leases of that GPU.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "device/backend.hpp"
#include "setter/link/channel.hpp"
#include "setter/link/messages.hpp"
#include "setter/work/local_seat.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zeus::setter {

// Any thread, as for the seat.
Answer answer_to(Seat& seat, const Request& request);

// Answers until the other end is gone or sends anything but a request; then ends all leases of the seat.
void serve(LocalSeat& seat, const Channel& channel);

struct Duty {
  Clock& clock;
  const Environment& environment;
  std::vector<device::Backend*> backends;
  FileTree machine;  // has /proc
  // Puts commands in front of the drivers of these GPUs; empty if there are none.
  std::function<void(std::span<device::DiscoveredGpu>)> set_by_commands;
};

// The main function of a setter's program, with its arguments after the program's name (SetterProcess). Gives up all
// rights that it does not need before it loads a driver. Returns the exit code.
int run_setter(const std::vector<std::string>& arguments, const Duty& duty);

}  // namespace zeus::setter
