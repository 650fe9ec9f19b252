// A thread that reads one quantity of some GPUs at a steady pace, for PowerMonitor and TemperatureMonitor. Equal
// readings in a row are one run, with the times of the first and the last, so that steady values cost no memory and do
// not look like silence.
//
// Threads: any thread may call any member. Fork: the watch belongs to the process that made it; a forked child's copy
// is stopped and empty.
#pragma once

#include <zeus/device.hpp>

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace zeus::python {

class ReadingsWatch {
 public:
  struct Run {
    double first = 0;  // on the monotonic clock, in seconds
    double last = 0;   // when the same value was last seen
    double value = 0;
  };
  // A reading and its time, or nothing and the reason.
  using Read = std::function<Reading<std::pair<double, double>>(const Gpu& gpu)>;

  // Keeps up to `most_runs` for each GPU; all of them if it is not given.
  ReadingsWatch(const std::vector<Gpu>& gpus, Read read, Seconds period, std::optional<std::size_t> most_runs);
  ReadingsWatch(const ReadingsWatch&) = delete;
  ReadingsWatch& operator=(const ReadingsWatch&) = delete;
  ~ReadingsWatch();

  // Ends the thread; what was read stays. Does nothing the second time.
  void stop();
  [[nodiscard]] bool running() const;

  // The runs that were last seen at or after `since`, oldest first; empty for a GPU that is not watched.
  [[nodiscard]] std::vector<Run> runs(int gpu, double since) const;
  // Why the last reading of a GPU failed; empty if it did not.
  [[nodiscard]] std::string trouble(int gpu) const;

 private:
  struct Watched {
    Gpu gpu;
    std::deque<Run> runs;
    std::string trouble;
  };
  // Everything that the thread uses. A forked child leaves it alone: its lock may be locked there without end.
  struct State {
    std::mutex mutex;
    std::condition_variable wake;
    std::map<int, Watched> watched;
    bool stopping = false;
    std::thread thread;
  };

  [[nodiscard]] bool is_ours() const;
  void run();
  // Returns how long it took, by the times of the readings.
  Seconds read_all();
  void take_in(Watched& watched, const Reading<std::pair<double, double>>& reading) const;

  pid_t owner_;
  Read read_;
  Seconds period_;
  std::optional<std::size_t> most_runs_;
  std::unique_ptr<State> state_;
};

}  // namespace zeus::python
