#include "transport/event_loop.hpp"

#include "base/file_descriptor.hpp"
#include "transport/asio_loop.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

namespace zeus::transport {

namespace asio = boost::asio;

EventLoop::EventLoop() {
  int error = 0;
  try {
    state_ = std::make_unique<State>();
    // The first timer opens what the loop waits with.
    const asio::steady_timer first{state_->context};
    return;
  } catch (const boost::system::system_error& failure) {
    error = failure.code().value();
  }
  throw system_failure(error, "cannot wait for connections");
}

EventLoop::~EventLoop() = default;

void EventLoop::run() {
  const auto stays = asio::make_work_guard(state_->context);
  state_->context.run();
}

void EventLoop::stop() {
  state_->context.stop();
}

void EventLoop::post(std::function<void()> work) {
  asio::post(state_->context, std::move(work));
}

// Held by the Watch, and by its pending operation in the loop.
struct EventLoop::Watch::State : std::enable_shared_from_this<EventLoop::Watch::State> {
  std::optional<asio::steady_timer> timer;
  FileDescriptor own;  // a copy: the system watches a descriptor once, but several may wait for it
  std::optional<asio::posix::stream_descriptor> descriptor;
  std::function<void()> work;
  bool is_over = false;

  void wait_until_readable() {
    descriptor->async_wait(asio::posix::descriptor_base::wait_read,
                           [self = shared_from_this()](const boost::system::error_code& error) {
                             if (error || self->is_over) {
                               return;
                             }
                             self->work();
                             if (!self->is_over) {
                               self->wait_until_readable();
                             }
                           });
  }

  void end() {
    is_over = true;
    timer.reset();
    if (descriptor) {
      descriptor->release();
      descriptor.reset();
      own = {};
    }
  }
};

EventLoop::Watch::Watch() = default;

EventLoop::Watch::Watch(std::shared_ptr<State> state) : state_{std::move(state)} {
}

EventLoop::Watch::Watch(Watch&& other) noexcept = default;

EventLoop::Watch& EventLoop::Watch::operator=(Watch&& other) noexcept {
  if (this != &other) {
    const std::shared_ptr<State> former = std::exchange(state_, std::move(other.state_));
    if (former) {
      former->end();
    }
  }
  return *this;
}

EventLoop::Watch::~Watch() {
  if (state_) {
    state_->end();
  }
}

EventLoop::Watch EventLoop::after(Seconds time, std::function<void()> work) {
  const auto state = std::make_shared<Watch::State>();
  state->work = std::move(work);
  state->timer.emplace(state_->context);
  state->timer->expires_after(std::chrono::nanoseconds{static_cast<std::int64_t>(time.value() * 1e9)});
  state->timer->async_wait([state](const boost::system::error_code& error) {
    if (!error && !state->is_over) {
      state->work();
    }
  });
  return Watch{state};
}

EventLoop::Watch EventLoop::when_readable(int descriptor, std::function<void()> work) {
  const auto state = std::make_shared<Watch::State>();
  state->work = std::move(work);
  state->descriptor.emplace(state_->context);
  state->own = FileDescriptor{::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)};
  if (!state->own) {
    throw system_failure(errno, "cannot wait for a descriptor");
  }
  boost::system::error_code error;
  state->descriptor->assign(state->own.get(), error);
  if (error) {
    throw system_failure(error.value(), "cannot wait for a descriptor");
  }
  state->wait_until_readable();
  return Watch{state};
}

}  // namespace zeus::transport
