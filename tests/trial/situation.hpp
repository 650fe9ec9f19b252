// A situation that a job meets while it trains: the machine, the job, and a training whose every figure is known. Each
// front plays it in its own way, on the same virtual machine. One thread.
#pragma once

#include "physics/gpu_model.hpp"
#include "physics/load.hpp"
#include "tests/support/virtual_machine.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace zeus::test {

// A training at one batch size, on one GPU or on several in step.
struct Work {
  int batch_size = 64;
  int steps = 50;     // of an epoch
  Seconds step{0.2};  // at the highest clock
  Seconds evaluation{0};
  int epochs = 12;  // to the target; 0: never
};

inline constexpr Seconds suspended_for{8};

// What happens to the first training of a night.
enum class Mishap {
  none,
  suspended,
  late,            // on a machine so busy that the threads of the process wait 0.8 s for a processor
  limits_refused,  // from then on
  gpu_lost,
  counter_reset,
  fails,
  stopped,  // by its user
};

struct Situation {
  std::string name;
  std::string truth;            // the entries of the last night, in words
  std::vector<Work> works{{}};  // the first is the default
  std::vector<physics::GpuModel> gpus{physics::preset("V100")};
  physics::Demand demand = physics::Demand::of_work(1.0, 0.9, 0.3);
  std::vector<Watts> limits{Watts{100}, Watts{175}, Watts{250}};
  const char* policy = "zeus";
  std::size_t window = 0;
  std::uint64_t seed = 0;  // of the policy
  bool sets_limits = true;
  bool has_target = true;
  bool nan_in_odd_epochs = false;  // in place of a metric short of the target
  int max_epochs = 40;
  double beta = 2.0;
  Seconds profile_time{2};
  bool shows_steps = true;
  int nights = 1;
  Mishap mishap = Mishap::none;
  int in_epoch = 1;         // the mishap, from 1, at half its steps
  int of_night = 0;         // the mishap, from 1; 0: the last
  bool puts_back = true;    // the limit that was found
  bool true_limits = true;  // an epoch under a limit takes what its steps take
  double epoch_is = 1.0;    // as reported, in epochs of the last night
  bool in_demo = false;     // whether the demo can meet it
  // Before each night, from 1, with the situation as it will be.
  std::function<void(VirtualMachine& machine, Situation& situation, int night)> before = {};

  [[nodiscard]] bool has_batch_sizes() const { return works.size() > 1 || in_demo; }

  // NOLINTNEXTLINE(readability-identifier-naming)
  friend void PrintTo(const Situation& situation, std::ostream* stream) { *stream << situation.name; }
};

// The cost of a training up to its target, or to its end. Its time is without a suspension.
struct TrueCost {
  Joules energy;
  Seconds time;
};

// Where one night of a situation is played.
struct Stage {
  VirtualMachine& machine;
  const Situation& situation;  // as it is on this night
  std::filesystem::path store;
  int night = 1;
  std::vector<TrueCost> trained = {};  // on this night, by trainings
};

class PlayedTraining {
 public:
  // Begins now.
  PlayedTraining(Stage& stage, int batch_size);
  PlayedTraining(const PlayedTraining&) = delete;
  PlayedTraining& operator=(const PlayedTraining&) = delete;
  ~PlayedTraining() { end(); }

  [[nodiscard]] int steps() const { return work_.steps; }
  // The mishap that is due now, before the next step. The front plays those that concern its process.
  Mishap due();
  void step();
  // The end of an epoch; returns its metric.
  double evaluate();
  void end();

 private:
  void pass(Seconds work);
  void note_cost();

  Stage& stage_;
  Work work_;
  bool has_mishap_;
  int epochs_ = 0;
  int steps_ = 0;
  Joules energy_;
  Instant began_;
  Seconds stood_still_;
  bool noted_ = false;
  bool ended_ = false;
};

}  // namespace zeus::test
