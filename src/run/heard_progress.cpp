#include "run/heard_progress.hpp"

#include "run/reports.hpp"

#include <ranges>
#include <utility>
#include <variant>

namespace zeus::run {

HeardProgress::HeardProgress(const PatternTexts& patterns)
    : streams_{{{{}, ProgressPatterns{patterns}}, {{}, ProgressPatterns{patterns}}}} {
}

void HeardProgress::add(const std::optional<Progress>& progress) {
  if (!progress) {
    return;
  }
  // Single steps in a row are added into one event.
  if (const auto* steps = std::get_if<StepsDone>(&*progress); steps != nullptr && !progress_.empty()) {
    if (auto* last = std::get_if<StepsDone>(&progress_.back())) {
      last->count += steps->count;
      return;
    }
  }
  if (std::holds_alternative<EpochsDone>(*progress)) {
    for (Progress& before : progress_ | std::views::reverse) {
      if (auto* steps = std::get_if<StepsDone>(&before)) {
        steps->timed = false;
        break;
      }
    }
  }
  progress_.push_back(*progress);
}

void HeardProgress::read_line(Stream& stream, std::string_view line) {
  for (const Progress& progress : stream.patterns.read(line)) {
    add(sources_.printed(progress));
  }
}

void HeardProgress::hear(std::size_t stream, std::string_view bytes) {
  Stream& heard = streams_.at(stream);
  heard.lines.feed(bytes, [&](std::string_view line) { read_line(heard, line); });
}

void HeardProgress::hear_reports(std::string_view bytes) {
  report_lines_.feed(bytes, [&](std::string_view line) {
    if (const std::optional<Progress> progress = parse_report(line)) {
      ++reports_;
      add(sources_.reported(*progress));
    } else {
      ++strange_reports_;
    }
  });
}

void HeardProgress::finish() {
  for (Stream& stream : streams_) {
    stream.lines.finish([&](std::string_view line) { read_line(stream, line); });
  }
}

std::vector<Progress> HeardProgress::take() {
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
