#include "cli/demo_progress.hpp"

#include "base/amount_text.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace zeus::cli {

namespace {

constexpr std::size_t night_bar_width = 12;

std::string_view how_it_ended(records::TryOutcome outcome) {
  switch (outcome) {
    case records::TryOutcome::reached:
      return "reached the target";
    case records::TryOutcome::stopped:
      return "stopped early: too expensive";
    case records::TryOutcome::exhausted:
      return "did not reach the target";
    case records::TryOutcome::lost:
      break;
  }
  return "was lost";
}

std::string at(int batch_size, const std::optional<Watts>& limit) {
  return limit ? fmt::format("batch size {:>4} at {:>3.0f} W", batch_size, limit->value())
               : fmt::format("batch size {:>4}, all limits", batch_size);
}

}  // namespace

DemoProgress::DemoProgress(WorkingLine& working, bool quiet, std::size_t most_nights)
    : working_{working}, quiet_{quiet}, most_nights_{most_nights} {
}

void DemoProgress::line(const std::string& text) {
  if (!quiet_) {
    working_.print(text);
  }
}

void DemoProgress::draw(const std::string& doing) {
  const std::size_t done = night_bar_width * night_ / most_nights_;
  working_.show(fmt::format("[{}{}] night {} of at most {}: {}", std::string(done, '#'),
                            std::string(night_bar_width - done, '-'), night_ + 1, most_nights_, doing));
}

void DemoProgress::tell(const demo::TourEvent& event) {
  if (const auto* begun = std::get_if<demo::NightBegun>(&event)) {
    night_ = begun->night;
    if (begun->labels_went_wrong) {
      line("    from this night on, two in five images to learn from carry a wrong label");
    }
    draw("deciding");
  } else if (const auto* measured = std::get_if<demo::LimitsMeasured>(&event)) {
    if (measured->limits > 1) {
      line(fmt::format(
          "night {:>3}: batch size {:>4}: {} power limits measured while it trained, of which {:.0f} W is cheapest",
          night_ + 1, measured->batch_size, measured->limits, measured->cheapest.value()));
    }
  } else if (const auto* begins = std::get_if<demo::TryBegun>(&event)) {
    try_ = at(begins->step.event.plan.batch_size, begins->step.event.plan.limit);
    draw(try_);
  } else if (const auto* epoch = std::get_if<demo::EpochTrained>(&event)) {
    draw(fmt::format("{}, epoch {}, {:.1f} % right", try_, epoch->epoch, 100.0 * epoch->accuracy));
  } else if (const auto* over = std::get_if<demo::TryOver>(&event)) {
    line(fmt::format("night {:>3}: {}: {} after {} epochs, {}, {}", night_ + 1, at(over->batch_size, over->limit),
                     how_it_ended(over->outcome), over->epochs, to_text(over->time), to_text(over->energy)));
  } else if (const auto* done = std::get_if<demo::NightOver>(&event)) {
    if (done->settled != std::exchange(settled_, done->settled)) {
      line(done->settled ? fmt::format("    it has settled on batch size {}", *done->settled)
                         : std::string{"    it has not settled any more"});
    }
  }
}

}  // namespace zeus::cli
