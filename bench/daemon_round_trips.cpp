// How long a client of a daemon waits: a power read, a limit changed under a lease, its renewal, and requests a second
// over many connections. The yardstick is an echo by one thread with epoll that parses nothing, or another daemon. The
// arguments are two limits, between which GPUs are set, the daemon's socket and perhaps that of the other daemon. Each
// daemon is asked about a GPU of its own. Beside an echo, this program times the driver's own call in the same rounds
// (one that reads power, one that sets a limit) and subtracts it: the ratio is of what is left. With many clients
// nothing is subtracted, since they share calls.

#include "backends/nvml/nvml_backend.hpp"
#include "base/clock.hpp"
#include "bench/round_trips.hpp"
#include "protocol/device_leases.hpp"
#include "protocol/wire_values.hpp"
#include "transport/client.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace zeus;

// The GPU that the daemon serves, as this process sees it.
device::DiscoveredGpu first_gpu() {
  static const SystemClock clock;
  static backends::nvml::NvmlBackend nvml{clock};
  return nvml.discover().gpus.at(0);
}

bench::Times time_of(const std::function<bool()>& call) {
  std::vector<double> times;
  for (int i = 0; i < 2000; ++i) {
    const bench::Time::time_point start = bench::Time::now();
    if (!call()) {
      throw Error{ErrorKind::unavailable, "the driver refuses what is to be timed"};
    }
    times.push_back(bench::seconds_since(start) * 1e6);
  }
  return bench::times_of(std::move(times));
}

// A place to ask, and what is asked there.
struct Subject {
  std::filesystem::path socket;
  std::vector<std::string> read;
  std::vector<std::string> changes;  // in turn
  std::vector<std::string> renewal;
};

// With a lease of this GPU, which this process holds.
Subject subject_of(const std::filesystem::path& daemon, int gpu, const std::array<const char*, 2>& limits) {
  transport::HttpClient client{{.server = {.unix_path = daemon, .host_port = {}}, .token = {}}};
  const transport::Answer answer = client.ask({.method = "POST",
                                               .path = "/v1/leases/take",
                                               .query = fmt::format("gpu_ids={}&term_s=3600", gpu),
                                               .headers = {},
                                               .body = {}});
  const auto lease = protocol::read_answer<protocol::LeaseAnswer>(answer.body);
  const auto post = [&lease](std::string_view what, const std::string& more) {
    return fmt::format("POST /v1/leases/{}?lease={}{} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", what,
                       lease.id, more);
  };
  Subject subject{.socket = daemon,
                  .read = {fmt::format("GET /gpu/get_power?gpu_ids={} HTTP/1.1\r\nHost: localhost\r\n\r\n", gpu)},
                  .changes = {},
                  .renewal = {post("renew", {})}};
  for (const char* const limit : limits) {
    subject.changes.push_back(post("set_power_limit", fmt::format("&gpu_ids={}&power_limit_mw={}", gpu, limit)));
  }
  return subject;
}

int compare_all(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    fmt::print(stderr, "daemon_round_trips MILLIWATTS MILLIWATTS SOCKET [SOCKET]\n");
    return 2;
  }
  const bool is_beside_echo = argc == 4;
  const std::array<const char*, 2> limits{argv[1], argv[2]};
  std::string folder = (std::filesystem::temp_directory_path() / "zeus-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    return 1;
  }
  const bench::Echo echo{folder + "/echo"};
  const Subject ours = subject_of(argv[3], 0, limits);
  Subject yardstick = ours;
  yardstick.socket = folder + "/echo";
  if (!is_beside_echo) {
    yardstick = subject_of(argv[4], 1, limits);
  }
  const device::DiscoveredGpu gpu = first_gpu();
  std::size_t calls = 0;
  const auto compare_latencies = [&](std::string_view name, const std::vector<std::string> Subject::*asked,
                                     const std::function<bool()>& call) {
    bench::compare_times(
        name,
        [&](bool of_ours) {
          const Subject& subject = of_ours ? ours : yardstick;
          return bench::round_trip(subject.socket, subject.*asked);
        },
        is_beside_echo && call ? [&call] { return time_of(call); } : std::function<bench::Times()>{});
  };
  const auto compare_rates = [&](std::string_view name, const std::vector<std::string> Subject::*asked,
                                 std::initializer_list<std::size_t> connections) {
    for (const std::size_t count : connections) {
      bench::compare(fmt::format("{}, {} connections", name, count), "1/s", [&](bool of_ours) {
        const Subject& subject = of_ours ? ours : yardstick;
        return bench::rate(subject.socket, count, subject.*asked);
      });
    }
  };
  bench::print_head("over a Unix socket", "zeusd", is_beside_echo ? "driver" : "", is_beside_echo ? "echo" : "other");
  compare_latencies("power read", &Subject::read,
                    [&] { return gpu.gpu->power(PowerKind::instant, PowerScope::gpu).has_value(); });
  compare_latencies("limit under a lease", &Subject::changes, [&] {
    const double milliwatts = std::strtod(limits.at(++calls % limits.size()), nullptr);
    return gpu.control->set_power_limit(Watts{milliwatts / 1000}).has_value();
  });
  compare_latencies("renewal of a lease", &Subject::renewal, {});
  compare_rates("reads", &Subject::read, {1, 16, 256});
  compare_rates("limits", &Subject::changes, {1, 16});
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return compare_all(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    return 1;
  }
}
