// The comment on each number gives its source:
//   [trace]   fitted to, or read from, the published NSDI'23 power traces (docs/physics.md)
//   [sheet]   the vendor's data sheet or nvidia-smi's supported ranges for the product
//   [sc24]    "Accurate and Convenient Energy Measurements for GPUs", SC'24, and its result sheet
//   [header]  NVML's header: the counter exists from Volta on
//   [alumet]  counter periods between 20 and 100 ms by model
//   assumed   chosen to be plausible; not measured
#include "physics/fitted.hpp"
#include "physics/gpu_model.hpp"
#include "physics/same_letters.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace zeus::physics {

namespace {

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

template <std::size_t N>
std::array<char, N> text(std::string_view value) {
  std::array<char, N> result{};
  std::ranges::copy(value.substr(0, N - 1), result.begin());
  return result;
}

// Room and cooling belong to the machine, not to the GPU model, so they are the same for all: a GPU at its highest
// limit settles at about 75 degrees, and time constants of a minute are typical of fan-cooled ones. Assumed.
ThermalModel thermal(Watts max_limit) {
  return {.ambient = 28_degC, .kelvins_per_watt = 47.0 / max_limit.value(), .time_constant = 60_s, .slowdown = 87_degC};
}

SensorModel sensors(Seconds counter_period, PowerSensor average, PowerSensor instant, PowerReadingKind plain) {
  return {.counter_present = counter_period > Seconds{0},
          .counter_period = counter_period,
          .counter_window = instant.window,
          .average = average,
          .instant = instant,
          .plain = plain,
          .sample_period = 20_ms,  // one recording of a 4090: 119 samples over 2.36 s; assumed for all others
          .sample_depth = 119};
}

constexpr PowerSensor none{};
constexpr PowerSensor every_100_ms(Seconds window) {
  return {.present = true, .period = 100_ms, .window = window};
}
constexpr PowerSensor half_of_20_ms{.present = true, .period = 20_ms, .window = 10_ms};  // [sc24] Volta, Pascal

// Adds what the traces do not show: they were taken on warm GPUs that were never idle.
PowerCurve with_idle(PowerCurve curve, Watts idle) {
  curve.idle = idle;
  curve.leakage = 0.004;  // assumed
  curve.reference = 65_degC;
  return curve;
}

struct PowerLevels {
  Watts idle;
  Watts waiting;
  Watts dynamic;
};

// A GPU model without traces has the shape of the fitted model that is most like it, at its own levels; power limits
// can push it down to its lowest clock.
PowerCurve after(PowerCurve curve, const PowerLevels& levels, double lowest_capped) {
  curve.waiting = levels.waiting;
  curve.dynamic = levels.dynamic;
  curve.lowest_capped = lowest_capped;
  return with_idle(curve, levels.idle);
}

GpuModel p100() {
  return {.short_name = text<16>("P100"),
          .product_name = text<48>("Tesla P100-PCIE-16GB"),
          .architecture = Architecture::pascal,
          .memory_bytes = 16 * gibibyte,
          .limits = {.min = 125_W, .default_limit = 250_W, .max = 250_W},  // [sheet]
          .clocks = {.min = 544_MHz,
                     .max = 1328_MHz,
                     .step = 12.5_MHz,
                     .idle = 405_MHz,
                     .memory = 715_MHz,
                     .memory_idle = 715_MHz},                                                                // [sheet]
          .power = after(fitted_v100(), {.idle = 27_W, .waiting = 34_W, .dynamic = 300_W}, 544.0 / 1328.0),  // assumed
          .thermal = thermal(250_W),
          .sensors = sensors(0_s, none, half_of_20_ms, PowerReadingKind::instant)};  // no counter before Volta [header]
}

GpuModel v100() {
  return {.short_name = text<16>("V100"),
          .product_name = text<48>("Tesla V100-PCIE-32GB"),
          .architecture = Architecture::volta,
          .memory_bytes = 32 * gibibyte,
          .limits = {.min = 100_W, .default_limit = 250_W, .max = 250_W},  // [trace] [sheet]
          .clocks = {.min = 135_MHz,
                     .max = 1380_MHz,
                     .step = 7.5_MHz,
                     .idle = 135_MHz,
                     .memory = 877_MHz,
                     .memory_idle = 877_MHz},       // [sheet]
          .power = with_idle(fitted_v100(), 25_W),  // [trace]; idle assumed
          .thermal = thermal(250_W),
          .sensors = sensors(20_ms, none, half_of_20_ms, PowerReadingKind::instant)};  // counter period [alumet]
}

GpuModel rtx6000() {
  return {.short_name = text<16>("RTX6000"),
          .product_name = text<48>("Quadro RTX 6000"),
          .architecture = Architecture::turing,
          .memory_bytes = 24 * gibibyte,
          .limits = {.min = 100_W, .default_limit = 260_W, .max = 260_W},  // [sheet]
          .clocks = {.min = 300_MHz,
                     .max = 2100_MHz,
                     .step = 15_MHz,
                     .idle = 300_MHz,
                     .memory = 7001_MHz,
                     .memory_idle = 405_MHz},                                                               // [sheet]
          .power = after(fitted_a40(), {.idle = 18_W, .waiting = 60_W, .dynamic = 250_W}, 300.0 / 2100.0),  // assumed
          .thermal = thermal(260_W),
          .sensors = sensors(100_ms, none, every_100_ms(100_ms), PowerReadingKind::instant)};  // [sc24] Turing
}

GpuModel a40() {
  return {.short_name = text<16>("A40"),
          .product_name = text<48>("NVIDIA A40"),
          .architecture = Architecture::ampere,
          .memory_bytes = 48 * gibibyte,
          .limits = {.min = 100_W, .default_limit = 300_W, .max = 300_W},  // [trace] [sheet]
          .clocks = {.min = 210_MHz,
                     .max = 1740_MHz,
                     .step = 15_MHz,
                     .idle = 210_MHz,
                     .memory = 7251_MHz,
                     .memory_idle = 405_MHz},      // [sheet]
          .power = with_idle(fitted_a40(), 28_W),  // [trace]; idle assumed
          .thermal = thermal(300_W),
          .sensors = sensors(100_ms, every_100_ms(1_s), every_100_ms(100_ms), PowerReadingKind::average)};  // [sc24]
}

GpuModel a100() {
  return {.short_name = text<16>("A100"),
          .product_name = text<48>("NVIDIA A100-SXM4-40GB"),
          .architecture = Architecture::ga100,
          .memory_bytes = 40 * gibibyte,
          .limits = {.min = 100_W, .default_limit = 400_W, .max = 400_W},  // [sheet]
          .clocks = {.min = 210_MHz,
                     .max = 1410_MHz,
                     .step = 15_MHz,
                     .idle = 210_MHz,
                     .memory = 1215_MHz,
                     .memory_idle = 1215_MHz},                                                               // [sheet]
          .power = after(fitted_v100(), {.idle = 48_W, .waiting = 72_W, .dynamic = 430_W}, 210.0 / 1410.0),  // assumed
          .thermal = thermal(400_W),
          .sensors = sensors(100_ms, none, every_100_ms(25_ms), PowerReadingKind::instant)};  // [sc24] GA100
}

GpuModel hopper(std::string_view name, std::string_view product, std::uint64_t memory, Megahertz memory_clock,
                Watts idle) {
  return {
      .short_name = text<16>(name),
      .product_name = text<48>(product),
      .architecture = Architecture::hopper,
      .memory_bytes = memory,
      .limits = {.min = 200_W, .default_limit = 700_W, .max = 700_W},  // [sheet]
      .clocks = {.min = 345_MHz,
                 .max = 1980_MHz,
                 .step = 15_MHz,
                 .idle = 345_MHz,
                 .memory = memory_clock,
                 .memory_idle = memory_clock},  // [sheet]
      .power =
          after(fitted_v100(), {.idle = idle, .waiting = idle + 45_W, .dynamic = 780_W}, 345.0 / 1980.0),  // assumed
      .thermal = thermal(700_W),
      .sensors = sensors(100_ms, every_100_ms(1_s), every_100_ms(25_ms), PowerReadingKind::average)};  // [sc24] GH100
}

const std::array<GpuModel, 7>& all_models() {
  static const std::array<GpuModel, 7> models{p100(),
                                              v100(),
                                              rtx6000(),
                                              a40(),
                                              a100(),
                                              hopper("H100", "NVIDIA H100 80GB HBM3", 80 * gibibyte, 2619_MHz, 70_W),
                                              hopper("H200", "NVIDIA H200", 141 * gibibyte, 3201_MHz, 78_W)};
  return models;
}

}  // namespace

std::span<const GpuModel> presets() {
  return all_models();
}

const GpuModel& preset(std::string_view name) {
  std::string known;
  for (const GpuModel& model : all_models()) {
    if (same_letters(model.name(), name)) {
      return model;
    }
    known += known.empty() ? "" : ", ";
    known += model.name();
  }
  throw Error{ErrorKind::not_found, fmt::format("there is no GPU model \"{}\"", name), "the models are " + known};
}

}  // namespace zeus::physics
