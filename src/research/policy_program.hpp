// A policy that is a program of the user's: it hears of the job's events and answers questions, a JSON line each, over
// its standard input and output (policy_lines.hpp). One thread at a time.
#pragma once

#include "base/environment.hpp"
#include "base/line_program.hpp"
#include "optimize/batch_size/policy.hpp"
#include "research/policy_lines.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace zeus::research {

// An answer from its line. Anything else is a corrupt_data Error that begins with `refusal`.
PolicyAnswer parse_policy_answer(std::string_view line, std::string_view refusal);

class PolicyProgram {
 public:
  // How long it may take to answer, and to read what it is told: beginning included, so that a program that does not
  // work is named within five seconds.
  static constexpr Seconds patience{4.0};

  PolicyProgram(const std::string& command, const Environment& environment);

  void tell(const PolicyLine& line);
  // Each failure is an Error that names the program and, if it printed nonsense, the line of its output.
  PolicyAnswer ask(const DecideLine& question);
  // An Error about the last answer: it makes no sense in this job.
  [[nodiscard]] Error nonsense(const std::string& why) const;

 private:
  [[nodiscard]] Error failure(LineProgram::Outcome outcome, std::string_view instead);
  [[nodiscard]] std::string place() const;

  std::string name_;  // in quotes
  LineProgram program_;
  std::uint64_t lines_ = 0;  // that it has printed
};

// One job under such a program. A program learns from one job at a time: a new ProgramPolicy ends the former one. The
// program's state is its own, so this policy can be neither copied nor stored: that is an invalid_argument Error.
class ProgramPolicy final : public optimize::Policy {
 public:
  ProgramPolicy(const optimize::JobSpec& spec, std::shared_ptr<PolicyProgram> program);

  [[nodiscard]] std::string_view name() const override { return "exec"; }
  [[nodiscard]] std::unique_ptr<Policy> clone() const override;
  void apply(const records::JobEvent& event, const optimize::ProfileBook& profiles) override;
  [[nodiscard]] optimize::Decision decide(const optimize::Question& question,
                                          const optimize::ProfileBook& profiles) const override;
  [[nodiscard]] std::vector<std::optional<optimize::CostBelief>> beliefs(
      const optimize::ProfileBook& /*profiles*/) const override {
    return std::vector<std::optional<optimize::CostBelief>>(spec_.arms());
  }

  [[nodiscard]] int version() const override { return 1; }
  void save(StateWriter& writer) const override;
  void restore(StateReader& reader) override;

 private:
  optimize::JobSpec spec_;
  std::shared_ptr<PolicyProgram> program_;
};

}  // namespace zeus::research
