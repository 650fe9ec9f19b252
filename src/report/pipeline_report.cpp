#include "report/pipeline_report.hpp"

#include "base/amount_text.hpp"
#include "report/axis.hpp"
#include "report/color.hpp"
#include "report/markup.hpp"
#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace zeus::report {

namespace {

using records::MeasuredRun;
using records::MeasuredStudy;
using records::PipelineStudy;
using records::StudyPoint;
using records::Timeline;
using records::TimelineBox;

constexpr double drawing_width = 1000;  // of shapes, which are stretched to the page's
constexpr double row_height = 34;
constexpr std::size_t most_boxes = 12'000;     // in all drawings together, so that browsers stay fast
constexpr std::size_t most_line_points = 800;  // of the frontier

// The range of powers that the colours cover, the same in all drawings of a page.
struct PowerRange {
  Watts low;
  Watts high;
  [[nodiscard]] double share(Watts power) const { return high > low ? (power - low) / (high - low) : 0.5; }
};

void widen(PowerRange& range, const Timeline& timeline) {
  for (const TimelineBox& box : timeline.boxes) {
    range.low = std::min(range.low, box.power);
    range.high = std::max(range.high, box.power);
  }
}

PowerRange power_range(const PipelineStudy& study) {
  PowerRange range{study.blocking_power, study.blocking_power};
  widen(range, study.fastest);
  for (const Timeline& plan : study.plans) {
    widen(range, plan);
  }
  return range;
}

std::string text_at(std::string_view x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format(R"(<text class="label" x="{}" y="{}" text-anchor="{}">{}</text>)", x, coordinate(y), anchor,
                     escaped(text));
}

std::string percent(double x) {
  return coordinate(100.0 * x / drawing_width) + "%";
}

// A drawing as wide as the page. Its names, at the left, keep their width. The rest is stretched: `shapes` as a whole,
// of the others, which are labels and dots, only the horizontal positions.
class WideDrawing {
 public:
  explicit WideDrawing(double height) : height_{height} {}

  void name(double y, std::string_view text) { names_ += text_at("100%", y, "end", text); }
  void shape(std::string_view svg) { shapes_ += svg; }
  void other(std::string_view svg) { others_ += svg; }

  // With lines from the height `from` to `to`, and labels below. Narrow pages show every other label.
  void x_axis(const Axis& axis, double from, double to, std::string_view says) {
    bool wide_only = false;
    for (const Tick& tick : axis.ticks(8)) {
      const double x = axis.at(tick.value);
      shape(fmt::format(R"(<line class="grid" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>)", coordinate(x), coordinate(from),
                        coordinate(to + 4)));
      const std::string_view anchor = x < 0.05 * drawing_width ? "start" : x > 0.95 * drawing_width ? "end" : "middle";
      other(fmt::format(R"(<text class="label{}" x="{}" y="{}" text-anchor="{}">{}</text>)", wide_only ? " wide" : "",
                        percent(x), coordinate(to + 18), anchor, tick.label));
      wide_only = !wide_only;
    }
    other(text_at("100%", to + 34, "end", says));
  }

  [[nodiscard]] std::string take() && {
    return fmt::format(
        R"svg(<div class="drawing" style="height:{0}px"><svg class="names">{1}</svg><svg role="img"><svg viewBox="0 0 {2} {0}" preserveAspectRatio="none">{3}</svg>{4}</svg></div>)svg"
        "\n",
        coordinate(height_), names_, coordinate(drawing_width), shapes_, others_);
  }

 private:
  double height_;
  std::string names_;
  std::string shapes_;
  std::string others_;
};

void draw_boxes(const Timeline& timeline, const Axis& time, const PowerRange& range, WideDrawing& drawing) {
  for (const TimelineBox& box : timeline.boxes) {
    const double x = time.at(box.start.value());
    const double across = std::max(time.at((box.start + box.duration).value()) - x, 0.3);
    const double y = static_cast<double>(box.device) * row_height + 3;
    const Color color = heat(range.share(box.power));
    const std::string clock =
        box.frequency > Megahertz{0} ? fmt::format("{} MHz, ", readable(box.frequency.value())) : std::string{};
    drawing.shape(fmt::format(
        R"svg(<rect x="{}" y="{}" width="{}" height="{}" fill="{}" stroke="var(--panel)" stroke-width=".6"><title>{}: {}{} W, {} s</title></rect>)svg",
        coordinate(x), coordinate(y), coordinate(across), coordinate(row_height - 6), to_css(color), escaped(box.name),
        clock, readable(box.power.value()), readable(box.duration.value())));
    // The number of the micro-batch, if it fits; on a narrow page few would.
    const std::string number = box.name.substr(box.name.find_last_of(". ") + 1);
    if (across > 9.0 * static_cast<double>(number.size()) + 6.0 && number.size() < 5) {
      drawing.other(fmt::format(
          R"(<text class="wide" x="{}" y="{}" text-anchor="middle" style="fill:{};pointer-events:none">{}</text>)",
          percent(x + across / 2), coordinate(y + row_height / 2 + 1), ink_on(color), escaped(number)));
    }
  }
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
      R"svg(<g pointer-events="none"><polyline points="{0}" fill="none" stroke="var(--panel)" stroke-width="4"/><polyline class="line" points="{0}"/></g>)svg",
      points);
}

std::string iteration_drawing(const Timeline& timeline, std::size_t devices, Seconds horizon, const PowerRange& range) {
  const double height = static_cast<double>(devices) * row_height;
  const Axis time{0, horizon.value(), 0, drawing_width};
  WideDrawing drawing{height + 40};
  drawing.x_axis(time, 0, height, "time (s)");
  for (std::size_t device = 0; device < devices; ++device) {
    drawing.name((static_cast<double>(device) + 0.5) * row_height + 4, fmt::format("device {}", device));
  }
  draw_boxes(timeline, time, range, drawing);
  drawing.shape(critical_path_of(timeline, time));
  drawing.shape(
      fmt::format(R"svg(<line x1="{0}" x2="{0}" y1="0" y2="{1}" stroke="var(--second)" stroke-dasharray="4 3"/>)svg",
                  coordinate(std::min(time.at(timeline.time.value()), drawing_width - 0.5)), coordinate(height)));
  return std::move(drawing).take();
}

std::string legend(const PowerRange& range) {
  constexpr int steps = 24;
  std::string colors;
  for (int i = 0; i < steps; ++i) {
    colors +=
        fmt::format(R"(<rect x="{}" width="5.5" height="14" fill="{}"/>)", 5 * i, to_css(heat(i / (steps - 1.0))));
  }
  const auto entry = [](double wide, std::string_view svg, std::string_view text) {
    return fmt::format(R"(<span><svg width="{}" height="14">{}</svg> {}</span>)", coordinate(wide), svg, text);
  };
  return "<p class=\"legend\">" +
         entry(5 * steps, colors,
               fmt::format("mean power of a computation: {} to {} W", readable(range.low.value()),
                           readable(range.high.value()))) +
         entry(30, R"(<line class="line" x2="30" y1="7" y2="7"/>)", "critical path") +
         entry(30, R"svg(<line x2="30" y1="7" y2="7" stroke="var(--second)" stroke-dasharray="4 3"/>)svg",
               "end of the iteration") +
         "</p>\n";
}

std::string plan_title(const PipelineStudy& study, const Timeline& plan) {
  const double saved = 100.0 * (1.0 - plan.energy / study.fastest.energy);
  const double slower = 100.0 * (plan.time / study.fastest.time - 1.0);
  return fmt::format("{} s, {} J: {:.1f} % {} energy, {:.1f} % slower than all-fastest", readable(plan.time.value()),
                     readable(plan.energy.value()), saved < 0 ? -saved : saved, saved < 0 ? "more" : "less",
                     slower < 0.05 ? 0.0 : slower);
}

std::string frontier_drawing(const PipelineStudy& study) {
  constexpr double top = 26;
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
  const Axis x{study.frontier.front().time.value() - time_margin, high_time + time_margin, 0, drawing_width};
  const Axis y{low_energy - energy_margin, high_energy + energy_margin, height, top};
  WideDrawing drawing{height + 44};
  drawing.x_axis(x, top, height, "iteration time (s)");
  for (const Tick& tick : y.ticks(6)) {
    drawing.shape(fmt::format(R"(<line class="grid" x1="0" x2="{0}" y1="{1}" y2="{1}"/>)", coordinate(drawing_width),
                              coordinate(y.at(tick.value))));
    drawing.name(y.at(tick.value) + 4, tick.label);
  }
  drawing.name(12, "energy (J)");
  std::string line;
  const std::size_t stride = study.frontier.size() / most_line_points + 1;
  for (std::size_t i = 0; i < study.frontier.size(); ++i) {
    if (i % stride == 0 || i + 1 == study.frontier.size()) {
      line += fmt::format("{},{} ", coordinate(x.at(study.frontier[i].time.value())),
                          coordinate(y.at(study.frontier[i].energy.value())));
    }
  }
  drawing.shape(fmt::format(R"(<polyline class="line" points="{}"/>)", line));
  const auto mark = [&](const Timeline& at, std::string_view attributes, const std::string& title) {
    drawing.other(fmt::format(R"(<circle cx="{}" cy="{}" {}><title>{}</title></circle>)",
                              percent(x.at(at.time.value())), coordinate(y.at(at.energy.value())), attributes,
                              escaped(title)));
  };
  mark(study.fastest, R"svg(r="6" fill="var(--second)")svg",
       fmt::format("every computation at its fastest: {} s, {} J", readable(study.fastest.time.value()),
                   readable(study.fastest.energy.value())));
  for (std::size_t i = 0; i < study.plans.size(); ++i) {
    mark(study.plans[i], fmt::format(R"(class="mark" r="5.5" data-plan="{}" tabindex="0")", i),
         plan_title(study, study.plans[i]));
  }
  return std::move(drawing).take();
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

double saved_percent(Joules before, Joules after) {
  return 100.0 * (1.0 - after / before);
}

double slower_percent(Seconds before, Seconds after) {
  return 100.0 * (after / before - 1.0);
}

std::string measured_row(std::string_view name, const MeasuredRun& run) {
  const auto claimed = [&](const auto& say) { return run.claimed ? say(*run.claimed) : std::string{"—"}; };
  return fmt::format(R"(<tr><th scope="row">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>)", name,
                     with_interval(run.timeline.time.value(), run.time_uncertainty.value(), "s"),
                     claimed([](const StudyPoint& point) { return readable(point.time.value()) + " s"; }),
                     with_interval(run.timeline.energy.value(), run.energy_uncertainty.value(), "J"),
                     claimed([](const StudyPoint& point) { return readable(point.energy.value()) + " J"; }),
                     run.iterations);
}

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

std::string measured_report(const MeasuredStudy& study) {
  const Timeline& before = study.before.timeline;
  const Timeline& after = study.after.timeline;
  PowerRange range{before.boxes.front().power, before.boxes.front().power};
  widen(range, before);
  widen(range, after);
  // What is drawn is one iteration, which may have taken longer than the mean.
  Seconds horizon = std::max(before.time, after.time);
  for (const Timeline* const timeline : {&before, &after}) {
    for (const TimelineBox& box : timeline->boxes) {
      horizon = std::max(horizon, box.start + box.duration);
    }
  }
  Page page{.title = "A pipeline as measured",
            .subtitle = fmt::format("{} ranks, without a plan and with it", study.devices),
            .figures = {},
            .sections = {},
            .script = {}};
  const double slower = slower_percent(before.time, after.time);
  page.figures = {
      {fmt::format("{:.1f} %", saved_percent(before.energy, after.energy)), "less energy, measured"},
      {fmt::format("{:.1f} %", std::abs(slower)), slower <= -0.05 ? "less time, measured" : "more time, measured"}};
  if (study.before.claimed && study.after.claimed) {
    page.figures.push_back(
        {fmt::format("{:.1f} %", saved_percent(study.before.claimed->energy, study.after.claimed->energy)),
         "less energy, claimed by the plan"});
  }
  page.sections.push_back(
      {"One iteration",
       table("", {"", "time", "time claimed", "energy", "energy claimed", "iterations"},
             measured_row("before", study.before) + measured_row("after", study.after)) +
           "<p class=\"note\">Means with 95 % intervals, of all GPUs. Claims are made from the profile.</p>\n"});
  page.sections.push_back(
      {"Before: without a plan",
       iteration_drawing(before, study.devices, horizon, range) + legend(range) +
           "<p class=\"note\">An iteration of median length. Times are measured in it, powers in the profile.</p>\n"});
  page.sections.push_back({"After: under the plan", iteration_drawing(after, study.devices, horizon, range)});
  return to_html(page);
}

}  // namespace zeus::report
