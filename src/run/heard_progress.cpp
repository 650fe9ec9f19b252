#include "run/heard_progress.hpp"

#include "run/reports.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>
#include <variant>

namespace zeus::run {

HeardProgress::HeardProgress(const PatternTexts& patterns)
    : streams_{{{{}, ProgressPatterns{patterns}}, {{}, ProgressPatterns{patterns}}}} {
}

// Two streams have no order: a bar on standard error may be read after the epoch on standard output that it was drawn
// before.
void HeardProgress::add_to_the_epoch_before(trial::StepsDone steps) {
  const auto epoch = std::ranges::find_if(progress_ | std::views::reverse, [](const trial::Progress& one) {
    return std::holds_alternative<trial::EpochsDone>(one);
  });
  steps.timed = false;
  progress_.insert(std::prev(epoch.base()), steps);
}

void HeardProgress::add(const std::optional<trial::Progress>& progress, std::size_t source) {
  if (!progress) {
    return;
  }
  if (const auto* steps = std::get_if<trial::StepsDone>(&*progress)) {
    if (source_of_epoch_ && *source_of_epoch_ != source) {
      add_to_the_epoch_before(*steps);
      return;
    }
    // Single steps in a row are added into one event.
    auto* const last = progress_.empty() ? nullptr : std::get_if<trial::StepsDone>(&progress_.back());
    if (last != nullptr && last->timed == steps->timed && last->series == steps->series &&
        last->reported == steps->reported && !steps->begins) {
      last->count += steps->count;
      last->ends = steps->ends;
      return;
    }
  }
  if (std::holds_alternative<trial::EpochsDone>(*progress)) {
    source_of_epoch_ = source;
    for (trial::Progress& before : progress_ | std::views::reverse) {
      if (auto* steps = std::get_if<trial::StepsDone>(&before)) {
        steps->timed = false;
        break;
      }
    }
  }
  progress_.push_back(*progress);
}

void HeardProgress::add_printed(std::size_t stream, const std::vector<trial::Progress>& all) {
  for (trial::Progress progress : all) {
    if (auto* steps = std::get_if<trial::StepsDone>(&progress)) {
      // Each stream has counts of its own.
      steps->series = steps->series * static_cast<std::uint32_t>(streams_.size()) + static_cast<std::uint32_t>(stream);
    }
    add(sources_.printed(progress), stream);
  }
}

void HeardProgress::hear(std::size_t stream, std::string_view bytes) {
  Stream& heard = streams_.at(stream);
  heard.lines.feed(bytes, [&](std::string_view line) { add_printed(stream, heard.patterns.read(line)); });
  add_printed(stream, heard.patterns.read_redrawn(heard.lines.redrawn()));
}

void HeardProgress::hear_reports(std::string_view bytes) {
  report_lines_.feed(bytes, [&](std::string_view line) {
    if (std::optional<trial::Progress> progress = parse_report(line)) {
      ++reports_;
      if (auto* steps = std::get_if<trial::StepsDone>(&*progress)) {
        steps->reported = true;
      }
      add(sources_.reported(*progress), streams_.size());
    } else {
      ++strange_reports_;
    }
  });
}

void HeardProgress::finish() {
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    Stream& heard = streams_.at(stream);
    heard.lines.finish([&](std::string_view line) { add_printed(stream, heard.patterns.read(line)); });
  }
}

std::vector<trial::Progress> HeardProgress::take() {
  source_of_epoch_.reset();
  return std::exchange(progress_, {});
}

HeardProgress::Seen HeardProgress::seen() const {
  return {.output = streams_[0].patterns.matches(),
          .error = streams_[1].patterns.matches(),
          .reports = reports_,
          .strange_reports = strange_reports_,
          .metric_reported = sources_.metric_reported(),
          .cut_lines = streams_[0].lines.has_cut() || streams_[1].lines.has_cut()};
}

}  // namespace zeus::run
