#include "cli/llm_compare_command.hpp"

#include "base/printable.hpp"
#include "cli/input_file.hpp"
#include "command_line/options.hpp"
#include "records/json_writer.hpp"
#include "serving/board.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <ostream>

namespace zeus::cli {

namespace {

std::string value_text(const std::optional<serving::Figure>& figure) {
  return figure ? fmt::format("{:.4g} ± {:.2g}", figure->value, figure->uncertainty) : "-";
}

std::string change_text(const serving::ComparedFigure& figure) {
  if (!figure.change) {
    return "unknown: " + printable(figure.why_unknown);
  }
  const double in_percent = 100 * figure.change->value;
  const double half = 100 * figure.change->uncertainty;
  return figure.is_clear()
             ? fmt::format("{:.1f} ± {:.1f} % {}", std::abs(in_percent), half, in_percent > 0 ? "more" : "less")
             : fmt::format("no clear difference ({:+.1f} ± {:.1f} %)", in_percent, half);
}

std::string comparison_text(const serving::Comparison& comparison) {
  std::string text;
  for (const serving::ComparedFigure& figure : comparison.figures) {
    text += fmt::format("{:<28} {:>20} {:>20}   {}\n", figure.what, value_text(figure.first), value_text(figure.second),
                        change_text(figure));
  }
  for (const std::string& difference : comparison.differences) {
    text += fmt::format("They also differ in {}\n", printable(difference));
  }
  return text;
}

std::string comparison_json(const serving::Comparison& comparison) {
  records::JsonWriter json;
  json.object([&] {
    json.put_list("figures", comparison.figures, [&](const serving::ComparedFigure& figure) {
      json.object([&] {
        json.put("key", figure.key);
        json.put("first", figure.first, figure.why_unknown);
        json.put("second", figure.second, figure.why_unknown);
        json.put("change", figure.change, figure.why_unknown);
        json.put("is_clear", figure.is_clear());
      });
    });
    json.put("differences", comparison.differences);
  });
  return json.take();
}

serving::BenchResult result_in(const std::string& file) {
  const std::string text = read_input_file(file);
  return about_file(file, [&] { return serving::bench_result_from_json(text); });
}

}  // namespace

void LlmCompareCommand::declare(Options& options) {
  options.example("zeus llm compare before.json after.json", "what a change to the server has brought");
  options.add_option("FIRST", first_, "A result of `zeus llm bench --json`").required().path();
  options.add_option("SECOND", second_, "Another, which is shown against it").required().path();
  options.add_flag("--json", json_, "Print JSON");
}

int LlmCompareCommand::run(Context& context) {
  const serving::BenchResult first = result_in(first_);
  const serving::Comparison comparison = serving::compare(first, result_in(second_));
  context.out << (json_ ? comparison_json(comparison) + '\n' : comparison_text(comparison));
  return exit_ok;
}

}  // namespace zeus::cli
