// What a client of a daemon waits for, beside an echo by one thread with epoll that parses nothing: a power read, a
// limit changed under a lease, and reads a second over many connections. The socket of the daemon is the argument; its
// GPU 0 is read and set, between two limits that are given as well.

#include "bench/round_trips.hpp"
#include "protocol/device_leases.hpp"
#include "protocol/wire_values.hpp"
#include "transport/client.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace {

int compare_all(int argc, char** argv) {
  using namespace zeus;
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
  fmt::print("  {:<32}{:>14}{:>14}{:>9}\n", "over a Unix socket", "zeusd", "echo", "ratio");
  bench::compare("power read, p50", "us",
                 [&](bool of_ours) { return bench::round_trip(of_ours ? daemon : echo_path, {read}); });
  bench::compare("limit under a lease, p50", "us",
                 [&](bool of_ours) { return bench::round_trip(of_ours ? daemon : echo_path, changes); });
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
