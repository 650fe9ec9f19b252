// The way to one daemon, for all that asks it: the back-end, its devices, the lessor and its leases.
//
// Threads: any, each request on a connection of its own, which is kept for the next. Fork: a child makes its own
// connections, so that it never speaks in its parent's name, and takes no lock that a thread of its parent may hold.
// Ownership: shared by all that asks; the Clock outlives it.
#pragma once

#include "backends/zeusd/daemon_place.hpp"
#include "base/clock.hpp"
#include "protocol/zeusd_api.hpp"
#include "transport/client.hpp"

#include <zeus/error.hpp>
#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::backends::zeusd {

// The parameters of a request, in order.
using Query = std::vector<std::pair<std::string_view, std::string>>;

class DaemonLink {
 public:
  // What a person waits for at most where a program only begins.
  static constexpr Seconds patience_at_start{2};
  // Longer than a call to a driver may take there, after which the daemon answers all the same.
  static constexpr Seconds patience{10};

  DaemonLink(DaemonPlace place, Clock& clock);
  DaemonLink(const DaemonLink&) = delete;
  DaemonLink& operator=(const DaemonLink&) = delete;
  ~DaemonLink();

  [[nodiscard]] const DaemonPlace& place() const { return place_; }
  // "zeusd at /run/zeusd/zeusd.sock"
  [[nodiscard]] std::string name() const;
  [[nodiscard]] Clock& clock() const { return clock_; }

  // The answer, whatever its status; Errors as transport::HttpClient::ask().
  transport::Answer ask(std::string_view method, std::string_view path, const Query& query = {},
                        Seconds answer_time = patience);
  // The body of an answer that must be 200; otherwise the Error that its status stands for.
  std::string get(std::string_view path, const Query& query = {}, Seconds answer_time = patience);

  // Asks what there is, and keeps it for known().
  const protocol::DiscoveryAnswer& discover(Seconds answer_time = patience);
  // As it was last discovered; null before the first time. What was returned once stays for as long as this lives.
  [[nodiscard]] const protocol::DiscoveryAnswer* known() const;
  // Its number there; nothing for one that it does not have.
  [[nodiscard]] std::optional<std::uint32_t> gpu_number(std::string_view uuid) const;

  // The readings of one GPU, at least these parts (protocol::GpuParts), or of one CPU package, with times on this
  // machine's clock. Where the daemon's clock is another
  // one, they are as certain as half the time that the question took, which each latency has in it then.
  protocol::GpuReadings read_gpu(std::uint32_t number, std::uint32_t parts);
  protocol::CpuReadings read_cpu(std::uint32_t number);
  // Whether the daemon that was discovered is on this machine: by its clock, which no other machine has, and by its
  // kind of socket where nothing may be read.
  [[nodiscard]] bool is_here();

  // What a status other than 200 stands for; `number` is the GPU's that was asked for alone.
  [[nodiscard]] Error refusal(const transport::Answer& answer, std::optional<std::uint32_t> number = {}) const;

 private:
  struct Pool;
  struct Known;
  struct Timed;

  Pool& pool();
  Timed read(const Query& query, Seconds answer_time = patience);
  protocol::GpuReadings read_existing_gpu(std::uint32_t number);
  protocol::CpuReadings read_existing_cpu(std::uint32_t number);
  [[nodiscard]] bool is_ours() const;

  DaemonPlace place_;
  Clock& clock_;
  std::atomic<Pool*> pool_{nullptr};
  std::atomic<Known*> known_{nullptr};
};

// The way to the daemon that find_daemon() finds; null where there is none, or, with a warning in the log, where what
// names it cannot be used. Asks nothing yet.
std::shared_ptr<DaemonLink> link_to_daemon(const Environment& environment, const FileTree& machine, Clock& clock);

// Why a reading has no value, where asking failed so.
Failure failure_of(const Error& error);

}  // namespace zeus::backends::zeusd
