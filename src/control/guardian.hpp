// Whoever puts things back when this process can not. A lease is taken only once somebody watches.
// Threads: any.
#pragma once

namespace zeus::control {

class Guardian {
 public:
  Guardian() = default;
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  virtual ~Guardian() = default;

  // Returns once somebody watches this process, as before each change; an Error when nobody can.
  virtual void watch() = 0;
  // The records have changed: there may be another expiry to wait for, or something to put back.
  virtual void notice() noexcept = 0;
};

}  // namespace zeus::control
