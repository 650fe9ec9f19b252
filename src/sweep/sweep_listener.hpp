// Hears what happens in a sweep, for people. One thread.
#pragma once

#include "sweep/ledger.hpp"

#include <string>
#include <string_view>

namespace zeus::sweep {

class SweepListener {
 public:
  SweepListener() = default;
  SweepListener(const SweepListener&) = delete;
  SweepListener& operator=(const SweepListener&) = delete;
  virtual ~SweepListener() = default;

  // Something to know of, one line.
  virtual void warn(const std::string& line) = 0;
  // How far the sweep is.
  virtual void progress(const std::string& line) = 0;
  virtual void ended(const KnownRun& run) = 0;
  // A whole line of a run's output, without its end.
  virtual void line(const std::string& place, std::string_view line) = 0;
};

}  // namespace zeus::sweep
