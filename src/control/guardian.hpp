// Puts settings back when this process cannot. A lease is taken only while a guardian watches this process.
// Threads: any.
#pragma once

#include <string>

namespace zeus::control {

class Guardian {
 public:
  Guardian() = default;
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  virtual ~Guardian() = default;

  // Returns once the guardian watches this process, and sees the GPU with this UUID; called before each change of it.
  // An Error if no guardian can.
  virtual void watch(const std::string& gpu) = 0;
  // The records have changed: there may be another expiry to wait for, or settings to put back.
  virtual void notice() noexcept = 0;
};

}  // namespace zeus::control
