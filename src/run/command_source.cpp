#include "run/command_source.hpp"

#include <string_view>
#include <utility>
#include <variant>

namespace zeus::run {

namespace {

// How long nothing may happen before a beat is due.
constexpr Seconds longest_wait{5};

}  // namespace

CommandSource::CommandSource(const RunOptions& options, const Environment& environment, Clock& clock, Launch launch)
    : options_{options}, environment_{environment}, clock_{clock}, launch_{std::move(launch)}, words_{options.command} {
}

void CommandSource::start(int batch_size, std::uint64_t seed) {
  TryValues values{.batch_size = {},
                   .learning_rate = {},
                   .seed = seed,
                   .epochs = options_.max_epochs,
                   .target_metric = options_.target ? std::optional{options_.target->metric} : std::nullopt,
                   .higher_is_better = !options_.target || options_.target->higher_is_better};
  if (!options_.batch_sizes.empty()) {
    values.batch_size = batch_size;
  }
  if (options_.learning_rate) {
    values.learning_rate = values.batch_size ? options_.learning_rate->at(batch_size) : options_.learning_rate->rate;
  }
  replace(nullptr).reset();
  study_.emplace();
  steps_seen_ = false;
  replace(launch_({.command = words_.fill(values),
                   .environment = environment_,
                   .variables = environment_of(values),
                   .patterns = options_.patterns,
                   .grace = options_.grace,
                   .overheard = [this](std::size_t stream, std::string_view bytes) {
                     if (!steps_seen_) {
                       study_->hear(stream, bytes);
                     }
                   }}));
  began_ = clock_.now();
}

std::unique_ptr<Command> CommandSource::replace(std::unique_ptr<Command> command) {
  const std::lock_guard lock{replacing_};
  return std::exchange(command_, std::move(command));
}

void CommandSource::between_its_output(const std::function<void(bool mid_line)>& write) {
  const std::lock_guard lock{replacing_};
  if (command_) {
    command_->between_its_output(write);
  } else {
    write(false);
  }
}

std::vector<trial::Progress> CommandSource::go_on() {
  std::vector<trial::Progress> all = command_->wait(longest_wait);
  for (const trial::Progress& progress : all) {
    steps_seen_ = steps_seen_ || std::holds_alternative<trial::StepsDone>(progress);
  }
  return all;
}

trial::Source::State CommandSource::state() {
  return {.exit_code = command_->exit_code(),
          .interrupted = command_->asked_to_end().has_value(),
          .stood_still = command_->stood_still()};
}

}  // namespace zeus::run
