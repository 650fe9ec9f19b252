#include "tests/run/scripted_loop.hpp"

#include "tests/run/scripted_command.hpp"

#include <deque>
#include <memory>
#include <utility>

namespace zeus::truth {

namespace {

struct Happened {
  enum class What { epoch_begun, step, steps_over, epoch_over, all_over } what;
  double metric = 0.0;
};

class Noted final : public Shown {
 public:
  explicit Noted(std::deque<Happened>& all) : all_{all} {}

  void begin_epoch(Instant /*now*/) override { all_.push_back({.what = Happened::What::epoch_begun}); }
  void end_step(Instant /*now*/) override { all_.push_back({.what = Happened::What::step}); }
  void end_steps() override { all_.push_back({.what = Happened::What::steps_over}); }
  void end_epoch(double metric) override { all_.push_back({.what = Happened::What::epoch_over, .metric = metric}); }
  void end() override { all_.push_back({.what = Happened::What::all_over}); }

 private:
  std::deque<Happened>& all_;
};

// Tells the try what has happened; false once the loop ends.
bool tell(Try& attempt, const Happened& happened, bool marks_steps, bool has_target) {
  switch (happened.what) {
    case Happened::What::epoch_begun:
      if (!attempt.next_epoch()) {
        return false;
      }
      [[fallthrough]];
    case Happened::What::step:
      if (marks_steps) {
        attempt.begin_step();
      }
      break;
    case Happened::What::steps_over:
      attempt.end_steps();
      break;
    case Happened::What::epoch_over:
      if (has_target) {
        attempt.report(happened.metric);
      }
      break;
    case Happened::What::all_over:
      return !has_target || attempt.next_epoch();
  }
  return !attempt.over();
}

}  // namespace

void train_in_loop(Try& attempt, const Script& script, std::size_t arm, test::VirtualMachine& machine, Random& draws,
                   ScriptedTraining::Tell tell_cost) {
  Clock& clock = machine.clock();
  std::deque<Happened> happened;
  ScriptedTraining training{script,
                            arm,
                            draws,
                            seen_by(machine.gpu()),
                            [&](const Script&, const Arm&, int) { return std::make_unique<Noted>(happened); },
                            std::move(tell_cost),
                            clock.now(),
                            clock.now()};
  bool goes_on = true;
  while (goes_on && !training.is_over()) {
    clock.sleep_until(training.next());
    training.live(clock.now());
    while (goes_on && !happened.empty()) {
      const Happened one = happened.front();
      happened.pop_front();
      // A step that begins with the end of the last one in its epoch is none.
      if (one.what == Happened::What::step && !happened.empty() &&
          happened.front().what == Happened::What::steps_over) {
        continue;
      }
      goes_on = tell(attempt, one, script.dialect != Dialect::silent, script.has_target);
    }
  }
  training.end();
}

}  // namespace zeus::truth
