// What benchmarks of servers share: an echo by one thread with epoll that parses nothing, as the yardstick, and the
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

// The median of one round trip, in microseconds. Each answer is to come in one piece.
inline double round_trip(const std::filesystem::path& path, const std::vector<std::string>& requests_in_turn) {
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
  std::ranges::nth_element(times, times.begin() + requests / 2);
  return times[requests / 2];
}

// Round trips a second over this many connections, each with one request under way.
inline double rate(const std::filesystem::path& path, std::size_t count, const std::string& request) {
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

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

inline void compare(std::string_view name, std::string_view unit, const std::function<double(bool ours)>& measure) {
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

}  // namespace zeus::bench
