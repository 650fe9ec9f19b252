#include "drivers/session/attachment.hpp"

#include "base/environment.hpp"

#include <zeus/error.hpp>

#include <pthread.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

namespace zeus::drivers {

Attachment::Attachment() : process_{::getpid()} {
}

Attachment& Attachment::instance() {
  // Never destroyed: threads of the client may outlive the end of main.
  static Attachment& attachment = *[] {
    auto* const made = new Attachment;
    ::pthread_atfork([] { Attachment::instance().mutex_.lock(); }, [] { Attachment::instance().mutex_.unlock(); },
                     [] {
                       Attachment& child = Attachment::instance();
                       child.users_.store(0);
                       child.process_.store(::getpid());
                       // It exists in the parent only, so it cannot be joined here.
                       (void)child.own_thread_.release();
                       child.mutex_.unlock();
                     });
    return made;
  }();
  return attachment;
}

AttachResult Attachment::attach() {
  if (session_) {
    return AttachResult::attached;
  }
  const std::optional<std::string> reference = Environment::of_process().get(session_variable);
  if (!reference) {
    return AttachResult::no_session;
  }
  try {
    std::optional<Session> session = Session::attach(*reference, clock_);
    if (!session) {
      return AttachResult::no_session;
    }
    session_ = std::make_unique<Session>(std::move(*session));
    return AttachResult::attached;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::conflict ? AttachResult::other_layout : AttachResult::no_session;
  }
}

AttachResult Attachment::initialise(Vendor vendor) {
  const std::lock_guard lock{mutex_};
  const AttachResult result = attach();
  if (result == AttachResult::attached && session_->shown_by(vendor).empty()) {
    return AttachResult::no_session;
  }
  if (result == AttachResult::attached) {
    if (users_.load() == 0 && vendor == Vendor::nvidia) {
      own_thread_ = std::make_unique<OwnThread>();
      own_thread_->thread = std::thread{[&over = own_thread_->over] { over.wait(false); }};
    }
    users_.fetch_add(1, std::memory_order_release);
  }
  return result;
}

bool Attachment::shut_down() {
  const std::lock_guard lock{mutex_};
  if (users_.load() == 0) {
    return false;
  }
  if (users_.fetch_sub(1) == 1 && own_thread_) {
    own_thread_->over.store(true);
    own_thread_->over.notify_all();
    own_thread_->thread.join();
    own_thread_.reset();
  }
  return true;
}

Session* Attachment::attached() {
  const std::lock_guard lock{mutex_};
  return attach() == AttachResult::attached ? session_.get() : nullptr;
}

}  // namespace zeus::drivers
