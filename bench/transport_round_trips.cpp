// A small GET over a Unix socket, answered by the server on its loop's thread, beside an echo by one thread with epoll
// that parses nothing: the median time of one round trip, and round trips a second over several connections. The same
// client asks both in turn; the medians of the rounds are printed. Then one piece of a stream to each of 1,000 readers,
// beside a loop that writes the same bytes to as many sockets: the sender's processor time.

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "bench/round_trips.hpp"
#include "transport/event_loop.hpp"
#include "transport/listener.hpp"
#include "transport/server.hpp"

#include <fmt/format.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace zeus;
using bench::compare;
using bench::compare_times;
using bench::connect_to;
using bench::Echo;
using bench::rate;
using bench::round_trip;

const std::string request{"GET /gpu/get_power?gpu_ids=0 HTTP/1.1\r\nHost: localhost\r\n\r\n"};

class Ours {
 public:
  explicit Ours(const std::filesystem::path& path)
      : listener_{transport::listen_on_unix({.path = path})},
        server_{loop_, clock_, {}, [](const std::shared_ptr<transport::Exchange>& exchange) {
                  exchange->answer({200, {{"Content-Type", "application/json"}}, R"({"power_mw":{"0":61234}})"});
                }} {
    server_.accept_on(std::move(listener_.socket));
    thread_ = std::thread{[this] { loop_.run(); }};
  }
  Ours(const Ours&) = delete;
  Ours& operator=(const Ours&) = delete;
  ~Ours() {
    loop_.stop();
    thread_.join();
  }

 private:
  SystemClock clock_;
  transport::EventLoop loop_;
  transport::UnixListener listener_;
  transport::HttpServer server_;
  std::thread thread_;
};

// Sends a piece to each of many readers, and takes the sender's processor time for each.
class Readers {
 public:
  explicit Readers(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::array<int, 2> ends{};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
        throw system_failure(errno, "cannot make sockets");
      }
      plain_.emplace_back(ends[0]);
      add(FileDescriptor{ends[1]});
    }
    ours_ = std::make_unique<transport::HttpServer>(loop_, clock_, transport::ServerLimits{.from_one_peer = 2 * count},
                                                    [this](const std::shared_ptr<transport::Exchange>& exchange) {
                                                      streams_.push_back(exchange->stream(200, {}));
                                                    });
  }

  void connect_to_ours(const std::filesystem::path& path) {
    transport::UnixListener listener = transport::listen_on_unix({.path = path});
    ours_->accept_on(std::move(listener.socket));
    std::thread loop{[this] { loop_.run(); }};
    for (std::size_t i = 0; i < plain_.size(); ++i) {
      FileDescriptor socket = connect_to(path);
      ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
      add(std::move(socket));
    }
    while (ours_->connections() < plain_.size()) {
      ::usleep(1000);
    }
    ::usleep(100000);
    loop_.stop();
    loop.join();
  }

  // The time in microseconds.
  double piece_time(bool of_ours) {
    const auto piece =
        std::make_shared<const std::string>("data: {\"timestamp_ms\":1795231401845,\"power_mw\":61234}\n\n");
    const std::string chunk = fmt::format("{:x}\r\n{}\r\n", piece->size(), *piece);
    double used = 0;
    constexpr int rounds = 20;
    for (int i = 0; i < rounds; ++i) {
      const double start = processor_time();
      if (of_ours) {
        for (const auto& stream : streams_) {
          if (!stream->offer(piece)) {
            std::abort();
          }
        }
      } else {
        for (const FileDescriptor& socket : plain_) {
          if (::write(socket.get(), chunk.data(), chunk.size()) != static_cast<ssize_t>(chunk.size())) {
            std::abort();
          }
        }
      }
      used += processor_time() - start;
      drain();
    }
    return used * 1e6 / rounds / static_cast<double>(plain_.size());
  }

 private:
  static double processor_time() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  void add(FileDescriptor reader) { readers_.push_back(std::move(reader)); }
  void drain() {
    std::array<char, 4096> bytes{};
    for (const FileDescriptor& reader : readers_) {
      while (::recv(reader.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
      }
    }
  }

  SystemClock clock_;
  transport::EventLoop loop_;
  std::vector<FileDescriptor> plain_;
  std::vector<FileDescriptor> readers_;
  std::vector<std::shared_ptr<transport::Stream>> streams_;
  std::unique_ptr<transport::HttpServer> ours_;
};

int compare_all() {
  std::string folder = (std::filesystem::temp_directory_path() / "zeus-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    return 1;
  }
  const std::filesystem::path echo_path = folder + "/echo";
  const std::filesystem::path our_path = folder + "/ours";
  bench::print_head("over a Unix socket", "ours", "", "yardstick");
  {
    const Echo echo{echo_path};
    const Ours ours{our_path};
    const auto path_of = [&](bool of_ours) { return of_ours ? our_path : echo_path; };
    compare_times("round trip", [&](bool of_ours) { return round_trip(path_of(of_ours), {request}); });
    for (const std::size_t connections : {1UL, 16UL, 256UL}) {
      compare(fmt::format("{} connections", connections), "1/s",
              [&](bool of_ours) { return rate(path_of(of_ours), connections, {request}); });
    }
  }
  constexpr std::size_t streams = 1000;
  const rlimit descriptors{8 * streams, 8 * streams};
  ::setrlimit(RLIMIT_NOFILE, &descriptors);
  Readers readers{streams};
  readers.connect_to_ours(folder + "/streams");
  compare("a piece to 1000 streams", "us each", [&](bool of_ours) { return readers.piece_time(of_ours); });
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace

int main() {
  try {
    return compare_all();
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    return 1;
  }
}
