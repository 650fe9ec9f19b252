#include "report/pipeline_report.hpp"

#include "report/axis.hpp"
#include "report/color.hpp"
#include "report/markup.hpp"
#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace zeus::report {

namespace {

using records::PipelineStudy;
using records::StudyPoint;
using records::Timeline;
using records::TimelineBox;

constexpr double width = 1120;
constexpr double left = 78;
constexpr double right = 16;
constexpr double row_height = 34;
constexpr std::size_t most_boxes = 12'000;     // in all drawings together, so that browsers stay fast
constexpr std::size_t most_line_points = 800;  // of the frontier

// The range of powers that the colours cover, the same in all drawings of a page.
struct PowerRange {
  Watts low;
  Watts high;
  [[nodiscard]] double share(Watts power) const { return high > low ? (power - low) / (high - low) : 0.5; }
};

PowerRange power_range(const PipelineStudy& study) {
  PowerRange range{study.blocking_power, study.blocking_power};
  const auto take = [&](const Timeline& timeline) {
    for (const TimelineBox& box : timeline.boxes) {
      range.low = std::min(range.low, box.power);
      range.high = std::max(range.high, box.power);
    }
  };
  take(study.fastest);
  std::ranges::for_each(study.plans, take);
  return range;
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format(R"(<text class="label" x="{}" y="{}" text-anchor="{}">{}</text>)", coordinate(x), coordinate(y),
                     anchor, escaped(text));
}

std::string boxes_of(const Timeline& timeline, const Axis& time, const PowerRange& range) {
  std::string svg;
  for (const TimelineBox& box : timeline.boxes) {
    const double x = time.at(box.start.value());
    const double across = std::max(time.at((box.start + box.duration).value()) - x, 0.3);
    const double y = static_cast<double>(box.device) * row_height + 3;
    const Color color = heat(range.share(box.power));
    const std::string clock =
        box.frequency > Megahertz{0} ? fmt::format("{} MHz, ", readable(box.frequency.value())) : std::string{};
    svg += fmt::format(
        R"svg(<rect x="{}" y="{}" width="{}" height="{}" fill="{}" stroke="var(--panel)" stroke-width=".6"><title>{}: {}{} W, {} s</title></rect>)svg",
        coordinate(x), coordinate(y), coordinate(across), coordinate(row_height - 6), to_css(color), escaped(box.name),
        clock, readable(box.power.value()), readable(box.duration.value()));
    // The number of the micro-batch, if it fits.
    const std::string number = box.name.substr(box.name.find_last_of(". ") + 1);
    if (across > 9.0 * static_cast<double>(number.size()) + 6.0 && number.size() < 5) {
      svg +=
          fmt::format(R"(<text x="{}" y="{}" text-anchor="middle" style="fill:{};pointer-events:none">{}</text>)",
                      coordinate(x + across / 2), coordinate(y + row_height / 2 + 1), ink_on(color), escaped(number));
    }
  }
  return svg;
}

std::string critical_path_of(const Timeline& timeline, const Axis& time) {
  std::string points;
  for (const std::size_t i : timeline.critical) {
    const TimelineBox& box = timeline.boxes[i];
    const double y = (static_cast<double>(box.device) + 0.5) * row_height + 8;
    points += fmt::format("{},{} {},{} ", coordinate(time.at(box.start.value())), coordinate(y),
                          coordinate(time.at((box.start + box.duration).value())), coordinate(y));
  }
  return fmt::format(
      R"svg(<polyline points="{0}" fill="none" stroke="var(--panel)" stroke-width="4" pointer-events="none"/><polyline class="line" points="{0}" pointer-events="none"/>)svg",
      points);
}

std::string iteration_drawing(const Timeline& timeline, std::size_t devices, Seconds horizon, const PowerRange& range) {
  const double height = static_cast<double>(devices) * row_height;
  const Axis time{0, horizon.value(), left, width - right};
  std::string svg = fmt::format(R"(<div class="scroll"><svg viewBox="0 0 {} {}" role="img">)", coordinate(width),
                                coordinate(height + 40));
  for (const Tick& tick : time.ticks(8)) {
    const double x = time.at(tick.value);
    svg +=
        fmt::format(R"(<line class="grid" x1="{0}" x2="{0}" y1="0" y2="{1}"/>)", coordinate(x), coordinate(height + 4));
    svg += text_at(x, height + 18, "middle", tick.label);
  }
  svg += text_at(width - right, height + 34, "end", "time (s)");
  for (std::size_t device = 0; device < devices; ++device) {
    svg += text_at(left - 8, (static_cast<double>(device) + 0.5) * row_height + 4, "end",
                   fmt::format("device {}", device));
  }
  svg += boxes_of(timeline, time, range);
  svg += critical_path_of(timeline, time);
  const double end = time.at(timeline.time.value());
  svg += fmt::format(
      R"svg(<line x1="{0}" x2="{0}" y1="0" y2="{1}" stroke="var(--second)" stroke-dasharray="4 3"/></svg></div>)svg",
      coordinate(end), coordinate(height));
  return svg + "\n";
}

std::string legend(const PowerRange& range) {
  constexpr int steps = 24;
  std::string svg = R"(<div class="scroll"><svg viewBox="0 0 1120 40" role="img">)";
  for (int i = 0; i < steps; ++i) {
    svg += fmt::format(R"(<rect x="{}" y="4" width="10.5" height="14" fill="{}"/>)", coordinate(left + 10.0 * i),
                       to_css(heat(i / (steps - 1.0))));
  }
  svg += text_at(left, 34, "start", fmt::format("{} W", readable(range.low.value())));
  svg += text_at(left + 10.0 * steps, 34, "end", fmt::format("{} W", readable(range.high.value())));
  svg += text_at(left + 10.0 * steps + 16, 16, "start", "mean power of a computation");
  svg += fmt::format(R"(<line class="line" x1="{}" x2="{}" y1="12" y2="12"/>)", coordinate(620), coordinate(650));
  svg += text_at(658, 16, "start", "critical path");
  svg += fmt::format(R"svg(<line x1="{}" x2="{}" y1="12" y2="12" stroke="var(--second)" stroke-dasharray="4 3"/>)svg",
                     coordinate(780), coordinate(810));
  svg += text_at(818, 16, "start", "end of the iteration");
  return svg + "</svg></div>\n";
}

std::string plan_title(const PipelineStudy& study, const Timeline& plan) {
  const double saved = 100.0 * (1.0 - plan.energy / study.fastest.energy);
  const double slower = 100.0 * (plan.time / study.fastest.time - 1.0);
  return fmt::format("{} s, {} J: {:.1f} % {} energy, {:.1f} % slower than all-fastest", readable(plan.time.value()),
                     readable(plan.energy.value()), saved < 0 ? -saved : saved, saved < 0 ? "more" : "less",
                     slower < 0.05 ? 0.0 : slower);
}

std::string frontier_drawing(const PipelineStudy& study) {
  constexpr double height = 330;
  double low_energy = study.fastest.energy.value();
  double high_energy = low_energy;
  double high_time = study.fastest.time.value();
  for (const StudyPoint& point : study.frontier) {
    low_energy = std::min(low_energy, point.energy.value());
    high_energy = std::max(high_energy, point.energy.value());
    high_time = std::max(high_time, point.time.value());
  }
  for (const Timeline& plan : study.plans) {
    high_energy = std::max(high_energy, plan.energy.value());
    high_time = std::max(high_time, plan.time.value());
  }
  const double time_margin = (high_time - study.frontier.front().time.value()) * 0.03;
  const double energy_margin = (high_energy - low_energy) * 0.06;
  const Axis x{study.frontier.front().time.value() - time_margin, high_time + time_margin, left, width - right};
  const Axis y{low_energy - energy_margin, high_energy + energy_margin, height, 12};
  std::string svg = fmt::format(R"(<div class="scroll"><svg viewBox="0 0 {} {}" role="img">)", coordinate(width),
                                coordinate(height + 44));
  for (const Tick& tick : x.ticks(8)) {
    svg += fmt::format(R"(<line class="grid" x1="{0}" x2="{0}" y1="12" y2="{1}"/>)", coordinate(x.at(tick.value)),
                       coordinate(height));
    svg += text_at(x.at(tick.value), height + 18, "middle", tick.label);
  }
  for (const Tick& tick : y.ticks(6)) {
    svg += fmt::format(R"(<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>)", coordinate(left),
                       coordinate(width - right), coordinate(y.at(tick.value)));
    svg += text_at(left - 8, y.at(tick.value) + 4, "end", tick.label);
  }
  svg += text_at(width - right, height + 36, "end", "iteration time (s)");
  svg += fmt::format(
      R"svg(<text class="label" transform="translate(14 {}) rotate(-90)" text-anchor="end">energy (J)</text>)svg",
      coordinate(14));
  std::string line;
  const std::size_t stride = study.frontier.size() / most_line_points + 1;
  for (std::size_t i = 0; i < study.frontier.size(); ++i) {
    if (i % stride == 0 || i + 1 == study.frontier.size()) {
      line += fmt::format("{},{} ", coordinate(x.at(study.frontier[i].time.value())),
                          coordinate(y.at(study.frontier[i].energy.value())));
    }
  }
  svg += fmt::format(R"(<polyline class="line" points="{}"/>)", line);
  const auto mark = [&](const Timeline& at, std::string_view attributes, const std::string& title) {
    svg += fmt::format(R"(<circle cx="{}" cy="{}" {}><title>{}</title></circle>)", coordinate(x.at(at.time.value())),
                       coordinate(y.at(at.energy.value())), attributes, escaped(title));
  };
  mark(study.fastest, R"svg(r="6" fill="var(--second)")svg",
       fmt::format("every computation at its fastest: {} s, {} J", readable(study.fastest.time.value()),
                   readable(study.fastest.energy.value())));
  for (std::size_t i = 0; i < study.plans.size(); ++i) {
    mark(study.plans[i], fmt::format(R"(class="mark" r="5.5" data-plan="{}" tabindex="0")", i),
         plan_title(study, study.plans[i]));
  }
  return svg + "</svg></div>\n";
}

// The plans that are drawn as iterations: always the chosen one, and others while there is room.
std::vector<std::size_t> drawn_plans(const PipelineStudy& study) {
  const std::size_t boxes = std::max<std::size_t>(study.fastest.boxes.size(), 1);
  const std::size_t room = most_boxes / boxes > 2 ? most_boxes / boxes - 1 : 1;
  std::vector<std::size_t> drawn;
  for (std::size_t i = 0; i < study.plans.size(); ++i) {
    if (i == study.chosen || study.plans.size() <= room) {
      drawn.push_back(i);
    }
  }
  return drawn;
}

constexpr std::string_view script = R"js(
(function(){
  var show=function(n){
    if(!document.getElementById('plan-'+n)){return;}
    document.querySelectorAll('.plan').forEach(function(p){p.hidden=p.id!=='plan-'+n;});
    document.querySelectorAll('[data-plan]').forEach(function(m){
      m.setAttribute('r',m.getAttribute('data-plan')===n?'8':'5.5');});
  };
  document.querySelectorAll('[data-plan]').forEach(function(m){
    ['mouseenter','focus','click'].forEach(function(e){m.addEventListener(e,function(){show(m.getAttribute('data-plan'));});});
  });
})();
)js";

std::string plans_body(const PipelineStudy& study, Seconds horizon, const PowerRange& range) {
  std::string body;
  for (const std::size_t i : drawn_plans(study)) {
    const Timeline& plan = study.plans[i];
    body +=
        fmt::format(R"(<div class="plan" id="plan-{}"{}><p>{}. Choosing among whole frequencies cost {:.2f} %.</p>)", i,
                    i == study.chosen ? "" : " hidden", escaped(plan_title(study, plan)),
                    100.0 * std::max(plan.energy / plan.bound - 1.0, 0.0));
    body += iteration_drawing(plan, study.devices, horizon, range) + "</div>\n";
  }
  return body;
}

}  // namespace

std::string pipeline_report(const PipelineStudy& study) {
  const PowerRange range = power_range(study);
  Seconds horizon = study.fastest.time;
  for (const std::size_t i : drawn_plans(study)) {
    horizon = std::max(horizon, study.plans[i].time);
  }
  const Timeline& chosen = study.plans[study.chosen];
  Page page{.title = study.title, .subtitle = study.subtitle, .figures = {}, .sections = {}, .script = {}};
  page.figures = {
      {fmt::format("{:.1f} %", 100.0 * (1.0 - chosen.energy / study.fastest.energy)),
       fmt::format("less energy at {} s", readable(chosen.time.value()))},
      {fmt::format("{} s", readable(study.fastest.time.value())), "iteration, every computation at its fastest"},
      {fmt::format("{} J", readable(study.fastest.energy.value())), "energy of that iteration, all GPUs"},
      {fmt::format("{} s", readable(study.least_energy.value())), "iteration of least energy"},
  };
  page.sections.push_back(
      {"Time and energy of one iteration",
       frontier_drawing(study) +
           R"(<p class="note">The line is the least energy for each iteration time; the dots are plans with frequencies the GPU has: point at one to see it below. The orange dot runs everything at its fastest.</p>)"
           "\n"});
  page.sections.push_back({"Before: every computation at its fastest",
                           iteration_drawing(study.fastest, study.devices, horizon, range) + legend(range)});
  page.sections.push_back({"After: the plan", plans_body(study, horizon, range)});
  page.script = script;
  return to_html(page);
}

}  // namespace zeus::report
