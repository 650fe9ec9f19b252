// A script's output in the dialect of its trainer: bytes, with a carriage return before a bar is redrawn, at that
// trainer's rate. And the expressions that its user gives Zeus for these lines. One thread.
#pragma once

#include "run/progress_patterns.hpp"
#include "tests/run/truth_script.hpp"

#include "base/clock.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace zeus::truth {

run::PatternTexts expressions_of(const Script& script);

// What a training shows of its progress, when it happens.
class Shown {
 public:
  Shown() = default;
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  virtual ~Shown() = default;

  virtual void begin_epoch(Instant now) = 0;
  virtual void end_step(Instant now) = 0;
  virtual void end_steps() = 0;
  virtual void evaluate(int /*done*/, int /*all*/) {}
  virtual void end_epoch(double metric) = 0;
  virtual void end() = 0;
};
// Of a training of so many epochs.
using Show = std::function<std::unique_ptr<Shown>(const Script& script, const Arm& arm, int epochs)>;

class Printer final : public Shown {
 public:
  // Takes bytes of standard output (0) or standard error (1).
  using Print = std::function<void(std::size_t stream, std::string_view bytes)>;

  Printer(const Script& script, const Arm& arm, int epochs, Print print)
      : dialect_{script.dialect},
        every_{script.every},
        first_epoch_{script.first_epoch},
        steps_{arm.steps},
        epochs_{epochs},
        print_{std::move(print)} {}

  void begin_epoch(Instant now) override;
  void end_step(Instant now) override;
  void end_steps() override;
  void evaluate(int done, int all) override;
  void end_epoch(double metric) override;
  void end() override;

 private:
  void draw_bar(std::string_view before, int done, int all);
  void plain(std::string_view word, int number);

  Dialect dialect_;
  int every_;
  int first_epoch_;
  int steps_;   // of an epoch
  int epochs_;  // of the run
  Print print_;
  int epoch_ = -1;
  int step_ = 0;  // over, of this epoch
  Instant drawn_;
};

inline Show printing(Printer::Print print) {
  return [print = std::move(print)](const Script& script, const Arm& arm, int epochs) {
    return std::make_unique<Printer>(script, arm, epochs, print);
  };
}

}  // namespace zeus::truth
