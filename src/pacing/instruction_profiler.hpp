// Measures a pipeline's instructions alone, at the clocks worth trying: the working part of zeus::PipelineProfiler.
//
// Threads: one at a time. Ownership: it owns its ProfiledGpu; the Clock outlives it.
#pragma once

#include "base/clock.hpp"

#include <zeus/pipeline.hpp>
#include <zeus/units.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::pacing {

// A window of the GPU: its energy with the half-width of its 95 % interval, or why that is unknown.
struct MeteredWindow {
  std::optional<Joules> energy;
  Joules uncertainty;
  std::string reason;
};

// One GPU as the profiler uses it. If it cannot be set or measured, a call throws an Error.
class ProfiledGpu {
 public:
  ProfiledGpu() = default;
  ProfiledGpu(const ProfiledGpu&) = delete;
  ProfiledGpu& operator=(const ProfiledGpu&) = delete;
  virtual ~ProfiledGpu() = default;

  [[nodiscard]] virtual std::vector<Megahertz> clocks() = 0;  // that it can be locked to, highest first
  virtual void lock(Megahertz clock) = 0;
  virtual void begin_window() = 0;
  // Closes the window; waits until its energy is final.
  virtual MeteredWindow end_window() = 0;
  virtual void put_back() = 0;
};

class InstructionProfiler {
 public:
  using Work = PipelineProfiler::Work;

  // Calls `open`. What an Error of it says becomes trouble().
  InstructionProfiler(const std::function<std::unique_ptr<ProfiledGpu>()>& open, Clock& clock, Seconds window);
  InstructionProfiler(const InstructionProfiler&) = delete;
  InstructionProfiler& operator=(const InstructionProfiler&) = delete;
  ~InstructionProfiler();  // as close()

  std::optional<Watts> measure_blocking(const std::function<void()>& wait);
  void measure(int stage, std::string_view instruction, const Work& work, std::string_view including);
  void measure_beside(int stage, std::string_view instruction, Megahertz clock, const Work& work,
                      std::string_view including);

  [[nodiscard]] const std::vector<PipelineMeasurement>& measurements() const { return measurements_; }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  void close();

 private:
  // What is measured: its name, its work, and what to subtract.
  struct Subject {
    int stage = 0;
    std::string_view instruction;
    const Work& work;
    std::string_view including;
  };

  // One run, as a window has it; or why that is unknown.
  struct Repeated {
    std::optional<PipelineMeasurement> once;
    std::string reason;
  };

  template <typename Attempt>
  void unless_troubled(const Attempt& attempt);
  void measure_at(const Subject& subject, Megahertz clock);
  Seconds warm_up(const Work& work);
  Repeated repeat(const Subject& subject, Megahertz clock, int times);
  Repeated steadiest(const Subject& subject, Megahertz clock, Seconds once, Seconds window);
  Repeated without_part(const Subject& subject, PipelineMeasurement whole, std::optional<Seconds> again);
  [[nodiscard]] PipelineMeasurement* find(int stage, std::string_view instruction, Megahertz clock);
  [[nodiscard]] bool costs_more(const PipelineMeasurement& one, const PipelineMeasurement& other) const;
  [[nodiscard]] Joules cost_of(const PipelineMeasurement& measurement) const;

  Clock& clock_;
  Seconds window_;
  std::unique_ptr<ProfiledGpu> gpu_;  // null after trouble, and once closed
  std::vector<Megahertz> clocks_;
  std::optional<Watts> blocking_;
  std::vector<PipelineMeasurement> measurements_;
  std::map<std::pair<int, std::string>, Work> works_;  // of stages' instructions that others may include
  std::string trouble_;
};

}  // namespace zeus::pacing
