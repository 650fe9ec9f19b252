// The connection to one daemon, for all its users: the back-end, its devices, the lessor and its leases.
//
// Threads: any; each request has a connection of its own, which is kept for the next. Fork: a child makes its own
// connections, so that it never speaks in its parent's name, and takes no lock that a thread of its parent may hold.
// Ownership: shared by all its users; the Clock outlives it.
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

// What a request makes the daemon do with a device, whose driver may hang while the daemon lives.
struct DeviceWork {
  std::string name;      // "setting GPU 0"; empty if the daemon answers without a device
  bool is_owed = false;  // it ends something, so the daemon has to hear of it even while the driver hangs
};

class DaemonLink {
 public:
  // The longest that a person waits when a program only starts.
  static constexpr Seconds patience_at_start{2};
  // Longer than a call to a driver may take in the daemon, after which the daemon answers anyway.
  static constexpr Seconds patience{10};
  // How long a training waits.
  struct InPassing {
    Seconds moment{0.4};
    // For the answer to a simple question, `/discover`: many times what a daemon needs.
    Seconds simple{0.05};
  };

  DaemonLink(DaemonPlace place, Clock& clock, InPassing in_passing);
  DaemonLink(DaemonPlace place, Clock& clock) : DaemonLink{std::move(place), clock, InPassing{}} {}
  DaemonLink(const DaemonLink&) = delete;
  DaemonLink& operator=(const DaemonLink&) = delete;
  ~DaemonLink();

  [[nodiscard]] const DaemonPlace& place() const { return place_; }
  // "zeusd at /run/zeusd/zeusd.sock"
  [[nodiscard]] std::string name() const;
  [[nodiscard]] Clock& clock() const { return clock_; }

  // The answer, whatever its status; Errors as for transport::HttpClient::ask().
  transport::Answer ask(std::string_view method, std::string_view path, const Query& query = {},
                        Seconds answer_time = patience);
  // For calls on a training's path: as ask(), for a moment. A daemon that has no answer by then gets a simple question.
  // Throws control::LessorAway if the daemon cannot be reached
  // or does not answer a simple question either. From then on, the calls of all users of this link throw it at once.
  // After a pause, which grows as long as the daemon stays away, the next call begins with the simple question.
  //
  // If the daemon answers the simple question only, the same holds for calls with the same work alone: they throw
  // LessorAway, of kind timeout, until a pause is over; a call that is owed is sent, and waits as for a simple
  // question. Without a work, that is a timeout Error.
  transport::Answer ask_in_passing(std::string_view method, std::string_view path, const Query& query = {},
                                   const DeviceWork& work = {});
  // The body of a 200 answer; for any other status, the Error that it stands for.
  std::string get(std::string_view path, const Query& query = {}, Seconds answer_time = patience);
  // The same, as ask_in_passing() does.
  std::string get_in_passing(std::string_view path, const Query& query = {}, const DeviceWork& work = {});

  // Asks for the node's devices, and keeps the answer for known().
  const protocol::DiscoveryAnswer& discover(Seconds answer_time = patience);
  // The same, as ask_in_passing() does.
  const protocol::DiscoveryAnswer& discover_in_passing();
  // The last discovery; null before the first. A returned pointer stays valid as long as this object lives.
  [[nodiscard]] const protocol::DiscoveryAnswer* known() const;
  // The daemon's number for a GPU; nothing if it does not have that GPU.
  [[nodiscard]] std::optional<std::uint32_t> gpu_number(std::string_view uuid) const;

  // The readings of one GPU, at least these parts (protocol::GpuParts), or of one CPU package, with times on this
  // machine's clock. If the daemon's clock is another one, the times are certain to half the duration of the request;
  // then each latency includes that.
  // As ask_in_passing() does.
  protocol::GpuReadings read_gpu(std::uint32_t number, std::uint32_t parts);
  protocol::CpuReadings read_cpu(std::uint32_t number);
  // Whether the daemon that was discovered is on this machine: judged by its clock, which no other machine has, or by
  // the kind of socket if nothing may be read.
  [[nodiscard]] bool is_here();

  // The Error that a status other than 200 stands for; `number` is the one GPU of the request, if it had one.
  [[nodiscard]] Error refusal(const transport::Answer& answer, std::optional<std::uint32_t> number = {}) const;

 private:
  struct Pool;
  struct Known;
  struct Timed;

  Pool& pool();
  const protocol::DiscoveryAnswer& keep(std::string_view body);
  template <typename Get>
  Timed timed(const Get& get);
  [[nodiscard]] bool answers_at_all();
  [[nodiscard]] bool is_paused(const DeviceWork& work);
  void begin_pause(const DeviceWork& work, std::string_view path);
  void end_pause(const DeviceWork& work, std::string_view path);
  // Notes that it is away, and throws that.
  [[noreturn]] void throw_away(std::string_view how);
  protocol::GpuReadings read_existing_gpu(std::uint32_t number);
  protocol::CpuReadings read_existing_cpu(std::uint32_t number);
  [[nodiscard]] bool is_ours() const;

  DaemonPlace place_;
  Clock& clock_;
  InPassing in_passing_;
  std::atomic<Pool*> pool_{nullptr};
  std::atomic<Known*> known_{nullptr};
  // While it is away: when to ask again (0: it is not away), and the pause that comes after that.
  std::atomic<std::int64_t> ask_again_at_{0};
  std::atomic<double> pause_s_{0};
};

// The link to the daemon that find_daemon() finds. Null if there is none, or if the variable that names it cannot be
// used (which is logged as a warning). Sends no request yet.
std::shared_ptr<DaemonLink> link_to_daemon(const Environment& environment, const FileTree& machine, Clock& clock);

// Why a reading has no value, if the request failed with this Error.
Failure failure_of(const Error& error);

}  // namespace zeus::backends::zeusd
