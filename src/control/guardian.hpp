// Puts settings back when this process cannot. A lease is taken only while a guardian watches this process.
// Threads: any.
#pragma once

namespace zeus::control {

class Guardian {
 public:
  Guardian() = default;
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  virtual ~Guardian() = default;

  // Returns once the guardian watches this process; called before each change. An Error if no guardian can.
  virtual void watch() = 0;
  // The records have changed: there may be another expiry to wait for, or settings to put back.
  virtual void notice() noexcept = 0;
};

}  // namespace zeus::control
