// Objects that exist once in a process, by name. A forked child starts with an empty table: it does not hold what its
// parent held, and the parent's mutexes may have been locked at the fork. Any thread; an object stays in the table as
// long as the process lives, longer than any static object.
#pragma once

#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace zeus::control {

template <typename Value>
class ProcessTable {
 public:
  // The object of this name; `make` makes it at the first call.
  template <typename Make>
  static std::shared_ptr<Value> one(const std::string& name, const Make& make) {
    ProcessTable& table = of_this_process();
    const std::lock_guard guard{table.mutex_};
    std::shared_ptr<Value>& value = table.values_[name];
    if (!value) {
      value = make();
    }
    return value;
  }

 private:
  static ProcessTable& of_this_process() {
    static std::atomic<ProcessTable*> current{nullptr};
    ProcessTable* found = current.load();
    if (found == nullptr || found->process_ != ::getpid()) {
      auto fresh = std::make_unique<ProcessTable>();
      if (current.compare_exchange_strong(found, fresh.get())) {
        found = fresh.release();
      }
    }
    return *found;
  }

  pid_t process_ = ::getpid();
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Value>> values_;
};

}  // namespace zeus::control
