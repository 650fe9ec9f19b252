// Windows of time and the energy that GPUs, CPU packages and memory used in them.
//
//   zeus::Monitor monitor;   // all GPUs and CPUs that can be seen
//   monitor.begin("epoch");  // windows may nest and overlap in any way
//   train();
//   const zeus::Measurement at_once = monitor.end("epoch");
//   const zeus::Measurement settled = monitor.settle(at_once);
//   std::cout << settled.total_gpu_energy() << '\n';  // "63.0 ± 0.4 J"
//
// Threads: any thread may call any member of a Monitor at any time. Cost: an edge of a window is one driver call per
// GPU. Fork: in a child, windows that were open are unknown, and new ones work. One sampler thread per process serves
// all monitors, from the first open window until two seconds after the last.
#pragma once

#include <zeus/energy.hpp>
#include <zeus/export.hpp>
#include <zeus/units.hpp>

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus {

class Monitor;
struct MonitorOptions;

namespace measure {
class SamplerSource;
class SamplerUse;
class Windows;
struct WindowEdges;
Monitor monitor_of(std::shared_ptr<SamplerSource> source, const MonitorOptions& options);
}  // namespace measure

// An energy, or the reason why it is unknown; `remark` is what a careful reader should know about it.
struct MeasuredEnergy {
  std::optional<Energy> energy = {};
  std::string reason = {};  // empty if the energy is known
  std::string remark = {};  // usually empty
};

// The energy, or "unknown (the reason)".
ZEUS_API std::ostream& operator<<(std::ostream& stream, const MeasuredEnergy& measured);

// How long each cause held a GPU's clocks back within a window; unknown if the driver does not count it.
struct ThrottleTime {
  std::optional<Seconds> power_cap = {};
  std::optional<Seconds> thermal = {};
  std::optional<Seconds> sync_boost = {};   // by a slower GPU of the same group
  std::optional<Seconds> power_brake = {};  // by a signal from outside, such as the power supply's
};

struct Measurement {
  std::string window = {};
  Seconds start = {};  // on the monotonic clock of this machine
  Seconds end = {};
  double start_wall = 0;  // seconds since 1970, for logs
  std::map<int, MeasuredEnergy> gpu_energy = {};
  std::map<int, MeasuredEnergy> cpu_energy = {};
  std::map<int, MeasuredEnergy> dram_energy = {};  // only of packages that count their memory
  std::map<int, ThrottleTime> gpu_throttle = {};
  bool settled = false;  // waiting longer would not change it

  std::shared_ptr<measure::WindowEdges> edges = {};  // used by settle()

  [[nodiscard]] Seconds time() const { return end - start; }
  // Over all GPUs; unknown if any of them is.
  [[nodiscard]] ZEUS_API MeasuredEnergy total_gpu_energy() const;
};

struct PowerSample {
  Seconds at = {};  // on the monotonic clock of this machine
  Watts power = {};
};

struct TemperatureSample {
  Seconds at = {};
  Celsius temperature = {};
};

struct SamplerCost {
  Seconds running = {};  // wall time for which the sampler thread has run
  Seconds busy = {};     // the part of it spent on its own work
  Seconds driver = {};   // the part of it spent inside the driver's calls
};

struct MonitorOptions {
  std::optional<std::vector<int>> gpus = {};  // numbers in the machine's list of GPUs to measure; all by default
  std::optional<std::vector<int>> cpus = {};
  std::function<void()> synchronize = {};   // waits for the GPUs before each edge; if it throws, the window is dropped
  std::filesystem::path log = {};           // start_time,window_name,elapsed_time,gpu0_energy,... ; none if empty
  std::filesystem::path complete_log = {};  // the same with CPUs, memory, uncertainty, method and throttling
};

class ZEUS_API Monitor {
 public:
  using Options = MonitorOptions;

  // Measures this machine. A GPU or CPU that is requested by number but not there is a not_found Error. Without
  // numbers, a machine without any is fine.
  explicit Monitor(const Options& options = {});
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  Monitor(Monitor&&) noexcept;
  Monitor& operator=(Monitor&&) noexcept;
  ~Monitor();

  // Opens a window. A name that is already open is an already_exists Error, unless `restart` is true.
  void begin(std::string_view name, bool restart = false);
  // Closes the window and returns the best estimate at once. A name that is not open is a not_found Error.
  Measurement end(std::string_view name);
  // The same, reusing the memory of `into`. If the caller always passes the same one, neither begin() nor end()
  // allocates after the first window, except for strings: the reason of an unknown energy, and the lines of a log.
  void end(std::string_view name, Measurement& into);
  // The best estimate of an open window from its beginning to now, which goes on. Like an end, it costs one driver call
  // per GPU; unlike one, it is not logged and does not synchronize, since the work is not interrupted for it. settle()
  // makes it as exact as that of an end. A name that is not open is a not_found Error.
  [[nodiscard]] Measurement so_far(std::string_view name) const;
  // Waits until a measurement cannot get any better: two updates of the counters, and at most `patience`.
  Measurement settle(const Measurement& measurement, Seconds patience = Seconds{2});
  void cancel(std::string_view name);
  void reset();  // cancels all

  // A window that lasts as long as the object, or until its end() is called; to end it twice is a not_found Error.
  class ZEUS_API Window {
   public:
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    ~Window();
    Measurement end();

   private:
    friend class Monitor;
    Window(std::shared_ptr<measure::Windows> windows, std::string name);

    std::shared_ptr<measure::Windows> windows_;
    std::string name_;
    bool open_ = true;
  };
  [[nodiscard]] Window window(std::string name);

  [[nodiscard]] std::vector<int> gpus() const;
  [[nodiscard]] std::vector<int> cpus() const;

  // Keeps the sampler running as long as the object lives, so that timelines are filled even if no window is open.
  class ZEUS_API Listening {
   public:
    Listening(Listening&&) noexcept;
    Listening& operator=(Listening&&) noexcept;
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    ~Listening();

   private:
    friend class Monitor;
    explicit Listening(std::unique_ptr<measure::SamplerUse> use);

    std::unique_ptr<measure::SamplerUse> use_;
  };
  [[nodiscard]] Listening listen();
  // The samples later than `since`, oldest first; at most those of the last few minutes.
  [[nodiscard]] std::vector<PowerSample> power_timeline(int gpu, Seconds since = {}) const;
  [[nodiscard]] std::vector<TemperatureSample> temperature_timeline(int gpu, Seconds since = {}) const;
  [[nodiscard]] SamplerCost sampler_cost() const;
  // For how long this process has been suspended in all, while a window was open or a Listening lived: times of a
  // second or more in which all of its threads stood still. A busy machine alone does not count. Grows only; a forked
  // child begins at 0.
  [[nodiscard]] Seconds stood_still() const;

 private:
  friend Monitor measure::monitor_of(std::shared_ptr<measure::SamplerSource> source, const MonitorOptions& options);
  explicit Monitor(std::shared_ptr<measure::Windows> windows);
  [[nodiscard]] measure::Windows& open() const;

  std::shared_ptr<measure::Windows> windows_;  // null in a moved-from monitor
};

}  // namespace zeus
