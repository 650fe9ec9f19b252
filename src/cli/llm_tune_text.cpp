#include "cli/llm_tune_text.hpp"

#include "base/amount_text.hpp"
#include "records/json_writer.hpp"
#include "serving/board.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>

namespace zeus::cli {

namespace {

constexpr std::string_view why_none = "no setting that was tried keeps all bounds for certain";

// Against the setting that was tried first, the highest limit.
serving::ComparedFigure change_by(const serving::Tuning& tuning, std::size_t best) {
  return serving::compare(tuning.tried().front().result, tuning.tried()[best].result).figures.front();
}

// What keeps the setting until the next reboot; empty if there is no such command for these GPUs.
std::string keeping_command(const serving::TriedSetting& one) {
  std::string commands;
  for (const serving::BenchGpu& gpu : one.result.gpus) {
    if (!gpu.uuid.starts_with("GPU-")) {
      return {};
    }
    commands += commands.empty() ? "" : " && ";
    commands += one.setting.clock
                    ? fmt::format("nvidia-smi -i {} -lgc 0,{:.0f}", gpu.uuid, one.setting.clock->value())
                    : fmt::format("nvidia-smi -i {} -pl {:.0f}", gpu.uuid, std::ceil(one.setting.limit.value()));
  }
  return commands;
}

std::string recommendation(const serving::Tuning& tuning, std::size_t best) {
  const serving::TriedSetting& chosen = tuning.tried()[best];
  const std::string highest = setting_text(tuning.tried().front().setting);
  std::string text = fmt::format("\n Best: {}, within all bounds", setting_text(chosen.setting));
  if (best > 0) {
    const serving::ComparedFigure figure = change_by(tuning, best);
    if (figure.change && figure.is_clear()) {
      text +=
          fmt::format(", takes {:.1f} ± {:.1f} % {} energy for a token than {}", 100 * std::abs(figure.change->value),
                      100 * figure.change->uncertainty, figure.change->value < 0 ? "less" : "more", highest);
    } else {
      text += fmt::format(", takes about as much energy for a token as {}", highest);
    }
  }
  text += "\n";
  if (const std::string command = keeping_command(chosen); !command.empty()) {
    text += fmt::format(" To keep it until the next reboot:  {}\n", command);
  }
  return text + "\n";
}

std::string tried_line(const serving::TriedSetting& one) {
  const std::optional<Energy>& energy = one.result.steady.energy_per_output_token;
  return fmt::format("   {:>9}   {:>20} per token   {}\n", setting_text(one.setting),
                     energy ? to_text(energy->value, energy->uncertainty) : "unknown",
                     one.verdict.why_not.empty() ? "within all bounds" : one.verdict.why_not);
}

void put_setting(records::JsonWriter& json, const PowerSetting& setting) {
  json.put("limit_w", setting.limit);
  json.put("clock_mhz", setting.clock, "clocks are left to the driver");
}

}  // namespace

std::string setting_text(const PowerSetting& setting) {
  return setting.clock ? fmt::format("{:.0f} MHz", setting.clock->value())
                       : fmt::format("{:.0f} W", setting.limit.value());
}

std::string llm_tune_text(const serving::Tuning& tuning, serving::Ended ended) {
  std::string text;
  for (const serving::TriedSetting& one : tuning.tried()) {
    text += tried_line(one);
  }
  if (ended == serving::Ended::interrupted) {
    text += "   interrupted: lower settings were not tried\n";
  } else if (ended == serving::Ended::gave_up) {
    text += "   given up, because too many requests in a row failed\n";
  }
  const std::optional<std::size_t> best = tuning.best();
  return best ? text + recommendation(tuning, *best) : text + fmt::format("\n None: {}\n\n", why_none);
}

std::string llm_tune_json(const serving::Tuning& tuning, const std::vector<serving::LatencyBound>& bounds,
                          serving::Ended ended) {
  records::JsonWriter json;
  json.object([&] {
    json.put("version", 1);
    json.put_list("bounds", bounds, [&](const serving::LatencyBound& bound) { json.value(to_text(bound)); });
    json.put("ended", ended);
    json.put_list("tried", tuning.tried(), [&](const serving::TriedSetting& one) {
      json.object([&] {
        put_setting(json, one.setting);
        json.put("within", one.verdict.why_not.empty());
        json.put("why_not", one.verdict.why_not);
        json.put("result", one.result);
      });
    });
    const std::optional<std::size_t> best = tuning.best();
    if (!best) {
      json.put_unknown("recommended", why_none);
      return;
    }
    json.put("recommended", [&] {
      const serving::ComparedFigure figure = change_by(tuning, *best);
      put_setting(json, tuning.tried()[*best].setting);
      json.put("change", figure.change, figure.why_unknown);
      json.put("command", keeping_command(tuning.tried()[*best]));
    });
  });
  return json.take();
}

}  // namespace zeus::cli
