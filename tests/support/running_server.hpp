// For tests over a socket: a server on its own thread, and a client that sends exactly the given bytes, malformed or
// not.
#pragma once

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "tests/support/temporary_folder.hpp"
#include "transport/event_loop.hpp"
#include "transport/listener.hpp"
#include "transport/server.hpp"

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace zeus::test {

// In each answer of a RunningServer: the example of RFC 9110.
constexpr std::string_view date_line{"Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"};

class RunningServer {
 public:
  explicit RunningServer(transport::HttpServer::Handler handler, transport::ServerLimits limits = {},
                         transport::HttpServer::RefusalOf refusal_of = {})
      : listener_{transport::listen_on_unix({.path = path()})},
        server_{std::make_unique<transport::HttpServer>(loop_, clock_, std::move(limits), std::move(handler),
                                                        std::move(refusal_of))} {
    server_->accept_on(std::move(listener_.socket));
    for (FileDescriptor& each : transport::listen_on_tcp("127.0.0.1:0")) {
      tcp_ = transport::address_of(each);
      server_->accept_on(std::move(each));
    }
    thread_ = std::thread{[this] { loop_.run(); }};
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;
  ~RunningServer() {
    if (thread_.joinable()) {
      loop_.stop();
      thread_.join();
    }
  }

  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "socket"; }
  [[nodiscard]] const std::string& tcp() const { return tcp_; }
  transport::EventLoop& loop() { return loop_; }
  transport::HttpServer& server() { return *server_; }

  // On the loop's thread.
  void call(const std::function<void()>& work) {
    std::promise<void> done;
    loop_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  void end_server() {
    call([this] { server_.reset(); });
  }

 private:
  TemporaryFolder folder_;
  std::string tcp_;
  VirtualClock clock_{{}, WallTime{784'111'777'000'000}};  // `date_line`
  transport::EventLoop loop_;
  transport::UnixListener listener_;
  std::unique_ptr<transport::HttpServer> server_;
  std::thread thread_;
};

// Waits as long as needed, with a limit that suffices for any machine.
inline bool comes_true(const std::function<bool()>& what) {
  for (int i = 0; i < 10000; ++i) {
    if (what()) {
      return true;
    }
    ::usleep(1000);
  }
  return false;
}

class RawClient {
 public:
  explicit RawClient(const std::filesystem::path& path) : socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    connect(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  explicit RawClient(int port) : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connect(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return;
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void end_sending() { ::shutdown(socket_.get(), SHUT_WR); }
  void close() { socket_.close(); }
  [[nodiscard]] int descriptor() const { return socket_.get(); }

  // One complete answer with a Content-Length; or everything received if the connection ends.
  std::string answer() {
    while (true) {
      const std::size_t head = got_.find("\r\n\r\n");
      if (head != std::string::npos) {
        const std::size_t length = got_.find("Content-Length: ");
        const std::size_t whole =
            head + 4 + (length < head ? std::stoul(got_.substr(length + std::strlen("Content-Length: "))) : 0);
        if (got_.size() >= whole) {
          std::string first = got_.substr(0, whole);
          got_.erase(0, whole);
          return first;
        }
      }
      if (!receive()) {
        return std::exchange(got_, {});
      }
    }
  }
  int status() {
    const std::string all = answer();
    return all.starts_with("HTTP/1.1 ") ? std::stoi(all.substr(std::strlen("HTTP/1.1 "))) : 0;
  }
  // Until this has arrived; returns everything up to and including it.
  std::string until(std::string_view text) {
    while (true) {
      if (const std::size_t found = got_.find(text); found != std::string::npos) {
        std::string first = got_.substr(0, found + text.size());
        got_.erase(0, found + text.size());
        return first;
      }
      if (!receive()) {
        return std::exchange(got_, {});
      }
    }
  }
  std::string until_end() {
    while (receive()) {
    }
    return std::exchange(got_, {});
  }
  // Whether the server has closed the connection; false if it sends something first, or does nothing.
  bool is_closed_within(int milliseconds) {
    pollfd asked{socket_.get(), POLLIN, 0};
    char next = 0;
    return got_.empty() && ::poll(&asked, 1, milliseconds) == 1 && ::recv(socket_.get(), &next, 1, MSG_PEEK) <= 0;
  }

 private:
  void connect(const sockaddr* address, socklen_t length) {
    EXPECT_EQ(::connect(socket_.get(), address, length), 0) << std::strerror(errno);
    const timeval patience{20, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  }
  bool receive() {
    std::array<char, 16384> bytes{};
    const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (count > 0) {
      got_.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return count > 0;
  }

  FileDescriptor socket_;
  std::string got_;
};

}  // namespace zeus::test
