#include "research/policy_program.hpp"

#include "base/printable.hpp"
#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace zeus::research {

namespace {

constexpr std::string_view how_to_answer =
    "answer each 'decide' with one line such as {\"batch_size\": 64}, print nothing else to standard output, and flush "
    "it";

Error not_kept() {
  return Error{ErrorKind::invalid_argument, "the state of a policy program is its own",
               "use one of the policies inside where jobs are copied or stored"};
}

std::vector<LimitLine> lines_of(const std::vector<records::LimitProfile>& limits) {
  std::vector<LimitLine> lines;
  for (const records::LimitProfile& one : limits) {
    lines.push_back({.limit = one.limit, .epoch_time = one.epoch_time, .average_power = one.average_power});
  }
  return lines;
}

// Simulated trainings have no other events.
std::optional<PolicyLine> line_of(const records::JobEvent& event, const optimize::ProfileBook& profiles) {
  if (const auto* submitted = std::get_if<records::TrySubmitted>(&event)) {
    return StartedLine{
        .try_number = submitted->try_number, .recurrence = submitted->recurrence, .plan = submitted->plan};
  }
  if (const auto* profiled = std::get_if<records::LimitsProfiled>(&event)) {
    return ProfiledLine{.recurrence = profiled->recurrence,
                        .batch_size = profiled->batch_size,
                        .limits = lines_of(profiled->limits),
                        .energy = profiled->energy,
                        .time = profiled->time};
  }
  if (const auto* ended = std::get_if<records::TryEnded>(&event)) {
    return FinishedLine{.try_number = ended->try_number,
                        .recurrence = ended->recurrence,
                        .batch_size = ended->batch_size,
                        .outcome = ended->outcome,
                        .epochs = ended->epochs,
                        .energy = ended->energy,
                        .time = ended->time,
                        .cost = profiles.cost().of(ended->energy, ended->time)};
  }
  if (const auto* abandoned = std::get_if<records::RecurrenceAbandoned>(&event)) {
    return GivenUpLine{.recurrence = abandoned->recurrence};
  }
  if (const auto* changed = std::get_if<records::DeviceChanged>(&event)) {
    return MovedLine{.device = changed->model, .max_power = changed->max_power, .limits = changed->power_limits};
  }
  return std::nullopt;
}

}  // namespace

PolicyAnswer parse_policy_answer(std::string_view line, std::string_view refusal) {
  return records::record_from_json<PolicyAnswer>(line, {.refusal = refusal, .advice = how_to_answer});
}

PolicyProgram::PolicyProgram(const std::string& command, const Environment& environment)
    : name_{in_quotes(command)}, program_{command, environment} {
}

std::string PolicyProgram::place() const {
  return fmt::format("policy program {}, line {} of its output", name_, lines_);
}

Error PolicyProgram::failure(LineProgram::Outcome outcome, std::string_view instead) {
  switch (outcome) {
    case LineProgram::Outcome::timed_out:
      return Error{ErrorKind::timeout,
                   fmt::format("policy program {} did not {} within {} s", name_, instead, patience.value()),
                   std::string{how_to_answer}};
    case LineProgram::Outcome::too_long:
      ++lines_;
      return Error{ErrorKind::corrupt_data,
                   fmt::format("{} is longer than {} bytes", place(), LineProgram::longest_line),
                   std::string{how_to_answer}};
    default:
      return Error{ErrorKind::unavailable,
                   fmt::format("policy program {} {}; it did not {}", name_, program_.why_ended(), instead),
                   "run it by itself: it must read lines until its standard input ends"};
  }
}

void PolicyProgram::tell(const PolicyLine& line) {
  const std::string text = std::visit(
      [](const auto& one) {
        records::JsonWriter json;
        json.object([&] {
          json.put("kind", one.kind);
          json.put_fields(one);
        });
        return json.take();
      },
      line);
  const LineProgram::Outcome outcome = program_.write(text, patience);
  if (outcome != LineProgram::Outcome::done) {
    throw failure(outcome, "read what it was told");
  }
}

PolicyAnswer PolicyProgram::ask(const DecideLine& question) {
  std::string line;
  if (program_.has_more()) {
    ++lines_;
    (void)program_.read(line, patience);
    throw nonsense(fmt::format("nothing was asked, and it printed {}", in_quotes(line)));
  }
  tell(question);
  const LineProgram::Outcome outcome = program_.read(line, patience);
  if (outcome != LineProgram::Outcome::done) {
    throw failure(outcome, "answer");
  }
  ++lines_;
  return parse_policy_answer(line, fmt::format("{} is not a decision", place()));
}

Error PolicyProgram::nonsense(const std::string& why) const {
  return Error{ErrorKind::corrupt_data, fmt::format("{}: {}", place(), why), std::string{how_to_answer}};
}

ProgramPolicy::ProgramPolicy(const optimize::JobSpec& spec, std::shared_ptr<PolicyProgram> program)
    : spec_{spec}, program_{std::move(program)} {
  program_->tell(JobLine{.batch_sizes = spec.batch_sizes,
                         .default_batch_size = spec.default_batch_size,
                         .limits = spec.power_limits,
                         .max_power = spec.max_power,
                         .max_epochs = spec.max_epochs,
                         .eta = spec.eta,
                         .beta = spec.beta,
                         .window = spec.window,
                         .seed = spec.seed});
}

std::unique_ptr<optimize::Policy> ProgramPolicy::clone() const {
  throw not_kept();
}

void ProgramPolicy::save(StateWriter& /*writer*/) const {
  throw not_kept();
}

void ProgramPolicy::restore(StateReader& /*reader*/) {
  throw not_kept();
}

void ProgramPolicy::apply(const records::JobEvent& event, const optimize::ProfileBook& profiles) {
  if (const auto* changed = std::get_if<records::DeviceChanged>(&event)) {
    spec_.move_to(*changed);
  }
  if (const std::optional<PolicyLine> line = line_of(event, profiles)) {
    program_->tell(*line);
  }
}

optimize::Decision ProgramPolicy::decide(const optimize::Question& question,
                                         const optimize::ProfileBook& profiles) const {
  const PolicyAnswer answer = program_->ask({.number = question.number,
                                             .recurrence = question.recurrence,
                                             .tries = question.tries,
                                             .spent = question.spent,
                                             .best = question.best});
  if (!std::ranges::binary_search(spec_.batch_sizes, answer.batch_size)) {
    throw program_->nonsense(
        fmt::format("the job has no batch size {}, but {}", answer.batch_size, fmt::join(spec_.batch_sizes, ", ")));
  }
  const std::size_t arm = spec_.arm_of(answer.batch_size);
  const auto check = [&](Watts limit) {
    if (!std::ranges::binary_search(spec_.power_limits, limit)) {
      throw program_->nonsense(fmt::format("the job has no limit of {} W", limit.value()));
    }
  };
  if (!answer.measure.empty()) {
    for (const Watts limit : answer.measure) {
      check(limit);
      if (profiles.find(arm, limit) != nullptr) {
        throw program_->nonsense(
            fmt::format("{} W is measured already at batch size {}", limit.value(), answer.batch_size));
      }
    }
    return optimize::ProfileLimits{.arm = arm, .limits = answer.measure};
  }
  if (answer.limit) {
    check(*answer.limit);
  }
  return optimize::RunTry{.arm = arm,
                          .limit = answer.limit,
                          .profile = answer.profile.value_or(false),
                          .max_epochs = answer.max_epochs,
                          .purpose = answer.purpose.value_or(records::TryPurpose::exploit),
                          .usual_cost = answer.usual_cost};
}

}  // namespace zeus::research
