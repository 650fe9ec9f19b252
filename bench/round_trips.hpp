// Shared by benchmarks of servers: an echo by one thread with epoll that parses nothing, as the yardstick, and the
// client that asks either. One thread each.
#pragma once

#include "base/file_descriptor.hpp"
#include "transport/listener.hpp"

#include <fmt/format.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace zeus::bench {

using Time = std::chrono::steady_clock;

inline double seconds_since(Time::time_point start) {
  return std::chrono::duration<double>(Time::now() - start).count();
}

inline FileDescriptor connect_to(const std::filesystem::path& path) {
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

// The times of a round trip, in microseconds.
struct Times {
  double p50 = 0;
  double p99 = 0;
};

inline Times times_of(std::vector<double> times) {
  std::ranges::sort(times);
  return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

// Each answer must come in one piece.
inline Times round_trip(const std::filesystem::path& path, const std::vector<std::string>& requests_in_turn) {
  const FileDescriptor socket = connect_to(path);
  std::array<char, 4096> bytes{};
  std::vector<double> times;
  constexpr int warming = 500;
  constexpr int requests = 10000;
  for (int i = 0; i < warming + requests; ++i) {
    const std::string& request = requests_in_turn[static_cast<std::size_t>(i) % requests_in_turn.size()];
    const Time::time_point start = Time::now();
    ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
    if (::recv(socket.get(), bytes.data(), bytes.size(), 0) <= 0) {
      std::abort();
    }
    if (i >= warming) {
      times.push_back(seconds_since(start) * 1e6);
    }
  }
  return times_of(std::move(times));
}

// Round trips a second over this many connections, with one request under way on each.
inline double rate(const std::filesystem::path& path, std::size_t count,
                   const std::vector<std::string>& requests_in_turn) {
  std::vector<FileDescriptor> sockets;
  const FileDescriptor epoll{::epoll_create1(EPOLL_CLOEXEC)};
  for (std::size_t i = 0; i < count; ++i) {
    sockets.push_back(connect_to(path));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = sockets.back().get();
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, sockets.back().get(), &event);
  }
  std::size_t turn = 0;
  const auto send = [&](int socket) {
    const std::string& request = requests_in_turn[turn++ % requests_in_turn.size()];
    ::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
  };
  for (const FileDescriptor& socket : sockets) {
    send(socket.get());
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
      send(socket);
      ++done;
    }
  }
  return requests / seconds_since(start);
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

constexpr int rounds = 5;

// `off` is subtracted from our own time: the part that is not the server's.
inline void print_row(const std::string& name, double ours, double yardstick, double off = 0) {
  fmt::print("  {:<34}{:>12.6g}{:>12}{:>12.6g}{:>9.3g}\n", name, ours, off > 0 ? fmt::format("{:.4g}", off) : "",
             yardstick, (ours - off) / yardstick);
}

inline void print_head(std::string_view where, std::string_view ours, std::string_view off,
                       std::string_view yardstick) {
  fmt::print("  {:<34}{:>12}{:>12}{:>12}{:>9}\n", where, ours, off, yardstick, "ratio");
}

inline void compare(std::string_view name, std::string_view unit, const std::function<double(bool ours)>& measure) {
  std::vector<double> ours;
  std::vector<double> yardstick;
  for (int i = 0; i < rounds; ++i) {
    yardstick.push_back(measure(false));
    ours.push_back(measure(true));
  }
  print_row(fmt::format("{}, {}", name, unit), median(ours), median(yardstick));
}

// `off` returns the time to subtract, measured in the same rounds.
inline void compare_times(std::string_view name, const std::function<Times(bool ours)>& measure,
                          const std::function<Times()>& off = {}) {
  std::array<std::vector<double>, 2> p50;
  std::array<std::vector<double>, 2> p99;
  std::vector<double> taken_off;
  for (int i = 0; i < rounds; ++i) {
    for (const bool of_ours : {false, true}) {
      const Times times = measure(of_ours);
      p50.at(of_ours ? 1 : 0).push_back(times.p50);
      p99.at(of_ours ? 1 : 0).push_back(times.p99);
    }
    taken_off.push_back(off ? off().p50 : 0.0);
  }
  print_row(fmt::format("{}, p50, us", name), median(p50[1]), median(p50[0]), median(taken_off));
  print_row(fmt::format("{}, p99, us", name), median(p99[1]), median(p99[0]), median(taken_off));
}

}  // namespace zeus::bench
