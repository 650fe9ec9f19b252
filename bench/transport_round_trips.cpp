// A small GET over a Unix socket, answered by the server on its loop's thread, beside an echo by one thread with epoll
// that parses nothing: the median time of one round trip, and round trips a second over several connections. Both are
// asked by the same client, in turns, and the medians of the rounds are printed. Then one piece of a stream to each of
// 1,000 readers, beside a loop that writes the same bytes to as many sockets: processor time of whoever sends.

#include "base/file_descriptor.hpp"
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
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace zeus;
using Time = std::chrono::steady_clock;

constexpr std::string_view request{"GET /gpu/get_power?gpu_ids=0 HTTP/1.1\r\nHost: localhost\r\n\r\n"};

double seconds_since(Time::time_point start) {
  return std::chrono::duration<double>(Time::now() - start).count();
}

FileDescriptor connect_to(const std::filesystem::path& path) {
  FileDescriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw system_failure(errno, "cannot connect");
  }
  return socket;
}

class Echo {
 public:
  explicit Echo(const std::filesystem::path& path)
      : listener_{transport::listen_on_unix({.path = path})}, thread_{[this] { run(); }} {}
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;
  ~Echo() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(end_.get(), &one, sizeof one);
    thread_.join();
  }

 private:
  void watch(int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);
  }
  void run() {
    watch(listener_.socket.get());
    watch(end_.get());
    std::vector<FileDescriptor> connections;
    std::array<epoll_event, 128> events{};
    std::array<char, 4096> bytes{};
    while (true) {
      const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int ready = events.at(static_cast<std::size_t>(i)).data.fd;
        if (ready == end_.get()) {
          return;
        }
        if (ready == listener_.socket.get()) {
          connections.emplace_back(::accept4(ready, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
          watch(connections.back().get());
          continue;
        }
        const ssize_t length = ::recv(ready, bytes.data(), bytes.size(), 0);
        if (length > 0) {
          ::send(ready, bytes.data(), static_cast<std::size_t>(length), MSG_NOSIGNAL);
        } else {
          ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, ready, nullptr);
        }
      }
    }
  }

  transport::UnixListener listener_;
  FileDescriptor epoll_{::epoll_create1(EPOLL_CLOEXEC)};
  FileDescriptor end_{::eventfd(0, EFD_CLOEXEC)};
  std::thread thread_;
};

class Ours {
 public:
  explicit Ours(const std::filesystem::path& path)
      : listener_{transport::listen_on_unix({.path = path})},
        server_{loop_, {}, [](const std::shared_ptr<transport::Exchange>& exchange) {
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
  transport::EventLoop loop_;
  transport::UnixListener listener_;
  transport::HttpServer server_;
  std::thread thread_;
};

// The median, in microseconds.
double round_trip(const std::filesystem::path& path) {
  const FileDescriptor socket = connect_to(path);
  std::array<char, 4096> bytes{};
  std::vector<double> times;
  constexpr int warming = 500;
  constexpr int requests = 10000;
  for (int i = 0; i < warming + requests; ++i) {
    const Time::time_point start = Time::now();
    ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
    if (::recv(socket.get(), bytes.data(), bytes.size(), 0) <= 0) {
      std::abort();
    }
    if (i >= warming) {
      times.push_back(seconds_since(start) * 1e6);
    }
  }
  std::ranges::nth_element(times, times.begin() + requests / 2);
  return times[requests / 2];
}

// Round trips a second over this many connections, each with one request under way.
double rate(const std::filesystem::path& path, std::size_t count) {
  std::vector<FileDescriptor> sockets;
  const FileDescriptor epoll{::epoll_create1(EPOLL_CLOEXEC)};
  for (std::size_t i = 0; i < count; ++i) {
    sockets.push_back(connect_to(path));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = sockets.back().get();
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, sockets.back().get(), &event);
  }
  for (const FileDescriptor& socket : sockets) {
    ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
  }
  std::array<epoll_event, 128> events{};
  std::array<char, 4096> bytes{};
  constexpr int requests = 40000;
  const Time::time_point start = Time::now();
  for (int done = 0; done < requests;) {
    const int ready = ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < ready; ++i) {
      const int socket = events.at(static_cast<std::size_t>(i)).data.fd;
      if (::recv(socket, bytes.data(), bytes.size(), 0) <= 0) {
        std::abort();
      }
      ::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
      ++done;
    }
  }
  return requests / seconds_since(start);
}

// One piece to each of many readers, ten times a second's worth of it: processor time of whoever sends, for each piece.
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
    ours_ = std::make_unique<transport::HttpServer>(loop_, transport::ServerLimits{.from_one_peer = 2 * count},
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

  // In microseconds.
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

  transport::EventLoop loop_;
  std::vector<FileDescriptor> plain_;
  std::vector<FileDescriptor> readers_;
  std::vector<std::shared_ptr<transport::Stream>> streams_;
  std::unique_ptr<transport::HttpServer> ours_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void compare(std::string_view name, std::string_view unit, const std::function<double(bool ours)>& measure) {
  constexpr int rounds = 5;
  std::vector<double> ours;
  std::vector<double> yardstick;
  for (int i = 0; i < rounds; ++i) {
    yardstick.push_back(measure(false));
    ours.push_back(measure(true));
  }
  fmt::print("  {:<32}{:>14.6g}{:>14.6g}{:>9.3g}\n", fmt::format("{}, {}", name, unit), median(ours), median(yardstick),
             median(ours) / median(yardstick));
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "zeus-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    return 1;
  }
  const std::filesystem::path echo_path = folder + "/echo";
  const std::filesystem::path our_path = folder + "/ours";
  fmt::print("  {:<32}{:>14}{:>14}{:>9}\n", "over a Unix socket", "ours", "yardstick", "ratio");
  {
    const Echo echo{echo_path};
    const Ours ours{our_path};
    const auto path_of = [&](bool of_ours) { return of_ours ? our_path : echo_path; };
    compare("round trip, p50", "us", [&](bool of_ours) { return round_trip(path_of(of_ours)); });
    for (const std::size_t connections : {1UL, 16UL, 256UL}) {
      compare(fmt::format("{} connections", connections), "1/s",
              [&](bool of_ours) { return rate(path_of(of_ours), connections); });
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
