#include "tests/support/cutting_proxy.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace zeus::test {

namespace {

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.string().size() >= sizeof address.sun_path) {
    throw std::runtime_error{"the path of a socket is too long: " + path.string()};
  }
  std::memcpy(address.sun_path, path.c_str(), path.string().size() + 1);
  return address;
}

FileDescriptor new_socket() {
  return FileDescriptor{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
}

}  // namespace

CuttingProxy::CuttingProxy(const std::filesystem::path& here, std::filesystem::path server)
    : server_{std::move(server)}, listener_{new_socket()}, wake_{::eventfd(0, EFD_CLOEXEC)} {
  const sockaddr_un address = address_of(here);
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), SOMAXCONN) != 0) {
    throw std::runtime_error{"the proxy cannot listen at " + here.string()};
  }
  thread_ = std::thread{[this] { run(); }};
}

CuttingProxy::~CuttingProxy() {
  stopped_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t told = ::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

void CuttingProxy::cut_at(int count, Way way) {
  const std::scoped_lock lock{mutex_};
  countdown_ = count;
  way_ = way;
}

void CuttingProxy::cut_again_and_again(std::function<std::pair<int, Way>()> next) {
  const std::scoped_lock lock{mutex_};
  next_ = std::move(next);
  std::tie(countdown_, way_) = next_();
}

void CuttingProxy::hold_at(int count) {
  const std::scoped_lock lock{mutex_};
  hold_countdown_ = count;
}

void CuttingProxy::wait_until_held() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return held_; });
}

void CuttingProxy::go_on() {
  const std::scoped_lock lock{mutex_};
  held_ = false;
  changed_.notify_all();
}

void CuttingProxy::stop_cutting() {
  const std::scoped_lock lock{mutex_};
  next_ = nullptr;
  countdown_ = 0;
}

void CuttingProxy::accept() {
  FileDescriptor client{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  FileDescriptor server = new_socket();
  const sockaddr_un address = address_of(server_);
  // If the server is away, clients are disconnected as well.
  if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    pairs_.push_back({std::move(client), std::move(server)});
  }
}

bool CuttingProxy::pass(const FileDescriptor& from, const FileDescriptor& to) {
  std::array<char, 65536> bytes{};
  const ssize_t size = ::recv(from.get(), bytes.data(), bytes.size(), 0);
  if (size <= 0) {
    return false;
  }
  bool cut = false;
  Way way = Way::before;
  {
    std::unique_lock lock{mutex_};
    if (hold_countdown_ > 0 && --hold_countdown_ == 0) {
      held_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return !held_; });
    }
    cut = countdown_ > 0 && --countdown_ == 0;
    way = way_;
    if (cut) {
      ++cuts_;
      if (next_) {
        std::tie(countdown_, way_) = next_();
      }
    }
  }
  if (cut && way == Way::before) {
    return false;
  }
  for (ssize_t sent = 0; sent < size;) {
    const ssize_t more = ::send(to.get(), bytes.data() + sent, static_cast<std::size_t>(size - sent), MSG_NOSIGNAL);
    if (more <= 0) {
      return false;
    }
    sent += more;
  }
  return !cut;
}

void CuttingProxy::run() {
  while (!stopped_) {
    std::vector<pollfd> watched = {{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = listener_.get(), .events = POLLIN, .revents = 0}};
    for (const Pair& pair : pairs_) {
      watched.push_back({.fd = pair.client.get(), .events = POLLIN, .revents = 0});
      watched.push_back({.fd = pair.server.get(), .events = POLLIN, .revents = 0});
    }
    ::poll(watched.data(), watched.size(), -1);
    std::vector<Pair> kept;
    for (std::size_t index = 0; index < pairs_.size(); ++index) {
      Pair& pair = pairs_[index];
      const bool asked = watched[2 + 2 * index].revents != 0;
      const bool answered = watched[3 + 2 * index].revents != 0;
      if ((!answered || pass(pair.server, pair.client)) && (!asked || pass(pair.client, pair.server))) {
        kept.push_back(std::move(pair));
      }
    }
    pairs_ = std::move(kept);
    if (watched[1].revents != 0) {
      accept();
    }
  }
}

}  // namespace zeus::test
