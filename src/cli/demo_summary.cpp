#include "cli/demo_summary.hpp"

#include "base/amount_text.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

namespace zeus::cli {

namespace {

// The result is judged by the last quarter of the nights, at most fifteen.
std::size_t last_nights_of(const demo::TourResult& result) {
  return std::clamp<std::size_t>(result.nights.size() / 4, 1, 15);
}

// The last try of a night, counted from 0: the one that reached the target, if any did.
const records::TryView& last_try(const demo::TourResult& result, std::size_t night) {
  const auto& tries = result.job.tries;
  return *std::ranges::find(tries.rbegin(), tries.rend(), night + 1, &records::TryView::recurrence);
}

std::string setting(const records::TryView& one) {
  return fmt::format("batch size {} at {:.0f} W", one.batch_size, one.limit.value_or(Watts{}).value());
}

bool is_the_default(const demo::TourResult& result) {
  const records::TryView& last = last_try(result, result.nights.size() - 1);
  return last.batch_size == result.job.definition.default_batch_size &&
         last.limit == result.job.device.power_limits.back();
}

std::string change(double saved, double of_default) {
  const double part = of_default > 0.0 ? 100.0 * saved / of_default : 0.0;
  return std::abs(part) < 0.05 ? "the same" : fmt::format("{:.1f} % {}", std::abs(part), part > 0.0 ? "less" : "more");
}

std::string grams(double value) {
  return fmt::format("{:.0f} g", value);
}

std::string row(std::string_view what, std::string_view of_default, std::string_view with_zeus,
                std::string_view change) {
  return fmt::format("  {:<28}{:>14}{:>14}   {}\n", what, of_default, with_zeus, change);
}

std::string block(const std::string& title, const records::SavingsView& savings,
                  const records::CarbonIntensity& carbon) {
  const auto line = [](std::string_view what, auto saved, auto of_default) {
    return row(what, to_text(of_default), to_text(of_default - saved), change(saved.value(), of_default.value()));
  };
  return title + "\n" + line("energy of the GPU", savings.energy, savings.energy_of_default) +
         line("time", savings.time, savings.time_of_default) +
         line("energy-time cost", savings.cost, savings.cost_of_default) +
         row("CO2 equivalents", grams(carbon.grams(savings.energy_of_default)),
             grams(carbon.grams(savings.energy_of_default - savings.energy)),
             change(savings.energy.value(), savings.energy_of_default.value()));
}

std::string story(const demo::TourResult& result) {
  const std::size_t nights = result.nights.size();
  std::string text;
  if (result.labels_went_wrong) {
    text += fmt::format("Before the labels went wrong, on night {}, the job had settled on {}.\n",
                        *result.labels_went_wrong + 1, setting(last_try(result, *result.labels_went_wrong - 1)));
  }
  const std::string now = setting(last_try(result, nights - 1));
  if (!result.settled) {
    return text + fmt::format("After {} nights the job has not settled{}; it ran {} last.\n", nights,
                              result.labels_went_wrong ? " again" : "", now);
  }
  if (is_the_default(result)) {
    return text +
           fmt::format("The default, {}, is already the best that was found: there is nothing to save on it.\n", now);
  }
  text += fmt::format("After {} nights the job has settled on {}.\n", *result.settled + 1, now);
  return text;
}

}  // namespace

records::SavingsView savings_of(const demo::TourResult& result, std::size_t last) {
  records::SavingsView savings;
  const std::size_t count = std::min(last, result.nights.size());
  for (std::size_t i = result.nights.size() - count; i < result.nights.size(); ++i) {
    const demo::Night& night = result.nights[i];
    ++savings.recurrences;
    savings.energy_of_default += night.default_energy;
    savings.time_of_default += night.default_time;
    savings.cost_of_default += night.default_cost;
    savings.energy += night.default_energy - night.energy;
    savings.time += night.default_time - night.time;
    savings.cost += night.default_cost - night.cost;
  }
  return savings;
}

std::string demo_summary(const demo::TourResult& result, const records::CarbonIntensity& carbon) {
  const records::JobDefinition& definition = result.job.definition;
  std::string text = story(result);
  text += fmt::format("\nThe default, batch size {} at {:.0f} W, was really run every night too:\n\n",
                      definition.default_batch_size, result.job.device.power_limits.back().value());
  text += row("", "default", "with Zeus", "");
  text += block(fmt::format("The last {} nights", last_nights_of(result)), savings_of(result, last_nights_of(result)),
                carbon);
  text += block(fmt::format("All {} nights, with everything that was tried on the way", result.nights.size()),
                savings_of(result, result.nights.size()), carbon);
  const auto missed = std::ranges::count(result.nights, false, &demo::Night::default_reached);
  if (missed > 0) {
    text += fmt::format("The default did not reach the target on {} of them within {} epochs.\n", missed,
                        definition.max_epochs);
  }
  text += fmt::format("Cost is {:g} x energy + {:g} x {:.0f} W x time; CO2 at {:g} g per kWh, {}.\n", definition.eta,
                      1.0 - definition.eta, result.job.device.max_power.value(), carbon.grams_per_kilowatt_hour,
                      carbon.source);
  return text;
}

std::string demo_json(const demo::TourResult& result, const std::string& report, const std::string& store) {
  records::JsonWriter json;
  // Nights and tries are numbered from 1, as everywhere.
  const auto put_night = [&json](std::string_view key, std::optional<std::size_t> night, std::string_view why_not) {
    json.put(key, night ? std::optional{*night + 1} : std::nullopt, why_not);
  };
  const auto put_savings = [&](std::string_view key, std::size_t nights) {
    json.put(key, [&] {
      json.put_fields(savings_of(result, nights));
      for (const char* const uncertainty : {"energy_uncertainty_j", "time_uncertainty_s", "cost_uncertainty_j"}) {
        json.because(uncertainty, "the default was really run");
      }
    });
  };
  json.object([&] {
    json.put("job", result.job);
    json.put("store", store);
    json.put("report", report);
    json.put("target", result.target);
    put_night("labels_went_wrong", result.labels_went_wrong, "no label went wrong");
    put_night("settled", result.settled, "it had not settled by the end");
    put_savings("savings", result.nights.size());
    put_savings("savings_of_last_nights", last_nights_of(result));
    json.put("nights", result.nights);
  });
  return json.take() + '\n';
}

report::JobReportOptions demo_report_options(const demo::TourResult& result, const records::CarbonIntensity& carbon) {
  report::JobReportOptions options{.carbon = carbon, .remarks = {}, .happened = {}};
  options.remarks.emplace_back(
      "A small network was really trained every night to recognize generated images; the time and the power of an "
      "epoch are those of a virtual GPU.");
  options.really_run_default = {savings_of(result, last_nights_of(result)), savings_of(result, result.nights.size())};
  for (const demo::Night& night : result.nights) {
    options.really_run_costs.push_back(night.default_cost);
  }
  if (result.labels_went_wrong) {
    records::ChartMark& mark = options.happened.emplace_back();
    mark.x = static_cast<double>(*result.labels_went_wrong + 1);
    mark.label = "labels go wrong from here on";
  }
  return options;
}

}  // namespace zeus::cli
