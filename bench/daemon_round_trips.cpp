// How long a client of a daemon waits, beside an echo by one thread with epoll that parses nothing: a power read, a
// limit changed under a lease, and reads a second over many connections. The arguments are the daemon's socket and two
// limits, between which its GPU 0 is set. In the same rounds this program times the driver's own call (one that reads
// power, one that sets a limit) and subtracts it: the ratio is of what is left. With many clients nothing is
// subtracted, since they share calls.

#include "backends/nvml/nvml_backend.hpp"
#include "base/clock.hpp"
#include "bench/round_trips.hpp"
#include "protocol/device_leases.hpp"
#include "protocol/wire_values.hpp"
#include "transport/client.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
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

int compare_all(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "daemon_round_trips SOCKET MILLIWATTS MILLIWATTS\n");
    return 2;
  }
  const std::filesystem::path daemon = argv[1];
  std::string folder = (std::filesystem::temp_directory_path() / "zeus-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    return 1;
  }
  const auto get = [](const std::string& path) {
    return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
  };
  const auto post = [](const std::string& path) {
    return fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", path);
  };
  const std::string read = get("/gpu/get_power?gpu_ids=0");
  transport::HttpClient client{{.server = {.unix_path = daemon, .host_port = {}}, .token = {}}};
  const transport::Answer answer = client.ask(
      {.method = "POST", .path = "/v1/leases/take", .query = "gpu_ids=0&term_s=600", .headers = {}, .body = {}});
  const auto lease = protocol::read_answer<protocol::LeaseAnswer>(answer.body);
  std::vector<std::string> changes;
  for (const char* const limit : {argv[2], argv[3]}) {
    changes.push_back(
        post(fmt::format("/v1/leases/set_power_limit?lease={}&gpu_ids=0&power_limit_mw={}", lease.id, limit)));
  }
  const std::filesystem::path echo_path = folder + "/echo";
  const bench::Echo echo{echo_path};
  const device::DiscoveredGpu gpu = first_gpu();
  int calls = 0;
  bench::print_head("over a Unix socket", "zeusd", "driver", "echo");
  bench::compare_times(
      "power read", [&](bool of_ours) { return bench::round_trip(of_ours ? daemon : echo_path, {read}); },
      [&] { return time_of([&] { return gpu.gpu->power(PowerKind::instant, PowerScope::gpu).has_value(); }); });
  bench::compare_times(
      "limit under a lease", [&](bool of_ours) { return bench::round_trip(of_ours ? daemon : echo_path, changes); },
      [&] {
        return time_of([&] {
          const double milliwatts = std::strtod(argv[2 + ++calls % 2], nullptr);
          return gpu.control->set_power_limit(Watts{milliwatts / 1000}).has_value();
        });
      });
  for (const std::size_t connections : {1UL, 16UL, 256UL}) {
    bench::compare(fmt::format("reads, {} connections", connections), "1/s",
                   [&](bool of_ours) { return bench::rate(of_ours ? daemon : echo_path, connections, read); });
  }
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
