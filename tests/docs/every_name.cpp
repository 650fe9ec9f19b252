// Every name that zeus/zeus.hpp declares, used from outside on two virtual V100s that draw 150 W each. Failures are
// printed, and counted in the exit code. headers_test.py checks that no name is missing here or in the examples.
#include <zeus/zeus.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <source_location>
#include <sstream>
#include <thread>
#include <utility>

using namespace zeus::literals;

namespace {

int wrong = 0;

void expect(bool holds, std::source_location here = std::source_location::current()) {
  if (!holds) {
    std::cerr << here.file_name() << ':' << here.line() << ": does not hold\n";
    ++wrong;
  }
}

template <typename Work>
std::optional<zeus::ErrorKind> error_of(const Work& work) {
  try {
    work();
  } catch (const zeus::Error& error) {
    expect(!error.message().empty() && std::string{error.what()}.starts_with(error.message()));
    return error.kind();
  }
  return std::nullopt;
}

template <typename Value>
std::string printed(const Value& value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}

void sleep_for(zeus::Seconds time) {
  std::this_thread::sleep_for(std::chrono::duration<double>{time.value()});
}

// Names and values of a record's fields, as a user's own format.
struct FieldNames {
  std::string names;
  template <typename Value>
  void operator()(std::string_view name, Value& /*value*/, const zeus::field::Rule& rule = {}) {
    names += zeus::field::key_of<Value>(name, rule) + ' ';
  }
  template <typename Value>
  void operator()(std::string_view name, Value& value, const zeus::field::Beside& /*beside*/) {
    (*this)(name, value);
  }
  void version(int /*number*/) {}
};

template <typename Record>
std::string fields_of(Record record) {
  static_assert(zeus::field::Described<Record>);
  FieldNames fields;
  Record::describe(fields, record);
  return fields.names;
}

void units() {
  expect(zeus::Joules{200_W * 50_ms} == 10_J && zeus::Millijoules{10_J}.value() == 10'000);
  zeus::Watts power = zeus::Milliwatts{1500};
  power += 2_W;
  power -= 1.5_W;
  power *= 3;
  power /= 2;
  expect(abs(power - 3_W) < 1e-12_W && -power + power == 0_W && 2 * power == power * 2 && power / 3 == 1_W);
  expect(zeus::Hertz{1_MHz}.value() == 1e6 && 1.0 / 2_s == zeus::Hertz{0.5} && zeus::Milliseconds{1_s}.value() == 1000);
  expect(30_degC - 20_degC == zeus::Kelvins{10} && 20_degC + zeus::Kelvins{5} == 25_degC && zeus::Celsius{5} < 6_degC);
  static_assert(zeus::Dimension{.energy = 1, .time = 0, .temperature = 0} + zeus::Dimension{.time = -1} ==
                zeus::Dimension{.energy = 1, .time = -1});
  static_assert(std::is_same_v<zeus::Quantity<zeus::Dimension{.time = 1}>, zeus::Seconds>);
  expect(zeus::parse_joules("1.5 kJ") == 1500_J && zeus::parse_watts(printed(200_W)) == 200_W);
  expect(zeus::parse_seconds("2h") == 7200_s && zeus::parse_megahertz("1.41GHz") == 1410_MHz);
  expect(error_of([] { (void)zeus::parse_watts("much"); }) == zeus::ErrorKind::invalid_argument);
}

void errors() {
  using enum zeus::ErrorKind;
  for (const zeus::ErrorKind kind : {invalid_argument, not_found, already_exists, permission_denied, unavailable,
                                     conflict, timeout, corrupt_data, internal}) {
    expect(!zeus::to_string(kind).empty());
  }
  try {
    try {
      throw zeus::Error{not_found, "there is no plan", "write one"};
    } catch (const zeus::Error& error) {
      expect(error.advice() == "write one" && !error.cause());
      throw zeus::Error{internal, "nothing can go on"};
    }
  } catch (const zeus::Error& error) {
    expect(error.cause() != nullptr && std::string{error.what()}.find("there is no plan") != std::string::npos);
  }
  const zeus::Failure failure{.reason = zeus::Reason::permission, .detail = "for root only"};
  expect(zeus::to_error(failure, "the counter").kind() == permission_denied && printed(failure).find("root") > 0);
  for (const zeus::Reason reason :
       {zeus::Reason::unsupported, zeus::Reason::permission, zeus::Reason::lost, zeus::Reason::timeout,
        zeus::Reason::unreliable, zeus::Reason::out_of_range, zeus::Reason::unknown}) {
    const zeus::Reading<zeus::Watts> nothing{reason};
    expect(!nothing.has_value() && nothing.failure().reason == reason && !zeus::to_string(reason).empty());
    expect(zeus::field::named<zeus::Reason>(zeus::field::name_of(reason)) == reason);
    expect(error_of([&] { (void)nothing.or_throw("the power"); }).has_value() &&
           error_of([&] { (void)*nothing; }).has_value());
    expect(nothing.value_or(1_W) == 1_W && !nothing.optional() &&
           !nothing.transform([](zeus::Watts w) { return w * 2; }));
  }
  const zeus::Reading<zeus::Watts> there = 5_W;
  static_assert(std::is_same_v<decltype(there)::Value, zeus::Watts>);
  expect(there && there->value() == 5 && *there.transform([](zeus::Watts w) { return w.value(); }) == 5);
}

void devices() {
  expect(zeus::gpus().size() == 2);
  for (const zeus::DeviceProblem& problem : zeus::device_problems()) {
    expect(!problem.device.empty() && !problem.what.empty() && !problem.fix.empty());
  }
  const zeus::Gpu gpu = zeus::gpus().at(1);
  expect(gpu.index() == 1 && gpu.driver_index() == 1 && gpu.vendor() != zeus::GpuVendor::amd);
  expect(zeus::to_string(zeus::GpuVendor::nvidia) == "NVIDIA" && gpu.name().find("V100") != std::string::npos);
  expect(gpu.uuid().starts_with("GPU-") && gpu.pci_address().find(':') > 0 && !gpu.driver().empty());
  expect(gpu.energy() && gpu.temperature().optional().value_or(zeus::TemperatureSample{}).temperature > 0_degC &&
         gpu.temperature()->at > 0_s);
  for (const zeus::PowerKind kind : {zeus::PowerKind::instant, zeus::PowerKind::average, zeus::PowerKind::plain}) {
    for (const zeus::PowerScope scope : {zeus::PowerScope::gpu, zeus::PowerScope::module, zeus::PowerScope::memory}) {
      const zeus::Reading<zeus::PowerSample> sample = gpu.power(kind, scope);
      expect(sample ? sample->power > 0_W && sample->at > 0_s : sample.failure().reason == zeus::Reason::unsupported);
      expect(!zeus::to_string(kind).empty() && zeus::to_string(zeus::PowerScope::package) == "package");
    }
  }
  const zeus::PowerLimits limits = gpu.power_limits();
  const std::vector<zeus::PowerLimitRange> allowed = gpu.allowed_power_limits();
  expect(allowed.empty());  // no daemon bounds them
  expect(*limits.minimum < *limits.maximum && *limits.current == *limits.standard &&
         *limits.enforced <= *limits.current);
  const zeus::Megahertz memory = gpu.supported_memory_clocks()->front();
  const std::vector<zeus::Megahertz> clocks = *gpu.supported_graphics_clocks(memory);
  for (const zeus::ClockDomain domain :
       {zeus::ClockDomain::graphics, zeus::ClockDomain::sm, zeus::ClockDomain::memory}) {
    expect(gpu.clock(domain).has_value() && !zeus::to_string(domain).empty());
  }
  expect(gpu.persistence_mode().has_value() && gpu.throttle_reasons().has_value());
  zeus::ThrottleReasons reasons;
  expect(reasons.empty());
  for (const zeus::ThrottleReason reason :
       {zeus::ThrottleReason::idle, zeus::ThrottleReason::application_clocks, zeus::ThrottleReason::power_cap,
        zeus::ThrottleReason::hardware_slowdown, zeus::ThrottleReason::sync_boost,
        zeus::ThrottleReason::software_thermal, zeus::ThrottleReason::hardware_thermal,
        zeus::ThrottleReason::power_brake, zeus::ThrottleReason::display_clock}) {
    reasons.add(reason);
    expect(reasons.has(reason) && printed(reasons).find(zeus::to_string(reason)) != std::string::npos);
  }
  {
    zeus::GpuLease lease = gpu.lease(30_s);
    expect(gpu.is_leased() && *lease.set_power_limit(200_W) == 200_W && lease.overruled().empty());
    const zeus::ClockRange range{.minimum = clocks.back(), .maximum = clocks.back()};
    lease.lock_clocks(zeus::ClockDomain::graphics, range);
    lease.unlock_clocks(zeus::ClockDomain::graphics);
    expect(lease.set_persistence_mode(true).has_value());
    lease.renew();
    lease.restore();
    expect(gpu.power_limits().current.optional() == limits.current.optional());
    zeus::GpuLease moved = std::move(lease);
    expect(error_of([&] { lease.renew(); }) == zeus::ErrorKind::invalid_argument);  // NOLINT: it says so
    moved.release();
    expect(error_of([&] { moved.renew(); }) == zeus::ErrorKind::invalid_argument);
  }
  for (const zeus::CpuPackage& cpu : zeus::cpus()) {
    expect(cpu.index() >= 0 && !cpu.name().empty());
    expect(cpu.energy().has_value() || !printed(cpu.energy()).empty());
    expect(cpu.memory_energy().has_value() == cpu.counts_memory() || !cpu.energy());
  }
  expect(error_of([] { (void)zeus::Gpu{7}.name(); }) == zeus::ErrorKind::not_found);
}

void windows() {
  zeus::MonitorOptions options;
  static_assert(std::is_same_v<zeus::Monitor::Options, zeus::MonitorOptions>);
  options.gpus = {0, 1};
  options.cpus = std::vector<int>{};
  options.synchronize = [] {};
  options.log = "windows.csv";
  options.complete_log = "everything.csv";
  zeus::Monitor monitor{options};
  zeus::Monitor::Listening listening = monitor.listen();
  expect(monitor.gpus() == std::vector{0, 1} && monitor.cpus().empty());
  zeus::Monitor::Window window = monitor.window("scope");
  monitor.begin("epoch");
  expect(error_of([&] { monitor.begin("epoch"); }) == zeus::ErrorKind::already_exists);
  monitor.begin("epoch", true);
  sleep_for(0.3_s);
  expect(monitor.so_far("epoch").time() >= 0.3_s);
  const zeus::Measurement measured = monitor.settle(monitor.end("epoch"), 2_s);
  expect(measured.edges && measured.settled && measured.window == "epoch" &&
         measured.time() == measured.end - measured.start);
  expect(measured.start_wall > 1e9 && measured.cpu_energy.empty() && measured.dram_energy.empty());
  const zeus::Energy energy = *measured.total_gpu_energy().energy;
  // Twice 150 W; on a busy machine the interval is wider.
  expect(abs(energy.value - 300_W * measured.time()) < 4 * energy.uncertainty + 0.1_J);
  expect(energy.method == zeus::EnergyMethod::counter && energy.systematic.value_or(0_J) >= 0_J);
  expect(zeus::field::name_of(zeus::EnergyMethod::integrated) != zeus::field::name_of(zeus::EnergyMethod::estimate));
  const zeus::MeasuredEnergy of_one = measured.gpu_energy.at(0);
  expect(of_one.reason.empty() && of_one.remark.empty() && printed(of_one).find(" ± ") != std::string::npos);
  expect((*of_one.energy + *of_one.energy).value == 2 * of_one.energy->value);
  expect(in_turn(*of_one.energy, *of_one.energy).uncertainty <= (*of_one.energy + *of_one.energy).uncertainty);
  zeus::Energy made = *of_one.energy;
  made.set_uncertainty(3_J, 4_J);
  expect(made.uncertainty == 5_J && made.own == 0.6 && made.shared == 0.8);
  const zeus::ThrottleTime throttle = measured.gpu_throttle.at(0);
  for (const auto& held : {throttle.power_cap, throttle.thermal, throttle.sync_boost, throttle.power_brake}) {
    expect(!held || *held >= 0_s);
  }
  expect(!monitor.power_timeline(0).empty() && monitor.temperature_timeline(0, measured.end + 3600_s).empty());
  expect(monitor.stood_still() == 0_s);
  const zeus::SamplerCost cost = monitor.sampler_cost();
  expect(cost.running > 0_s && cost.busy >= 0_s && cost.driver >= 0_s);
  monitor.begin("never mind");
  monitor.cancel("never mind");
  expect(window.end().window == "scope" && error_of([&] { (void)window.end(); }) == zeus::ErrorKind::not_found);
  monitor.begin("gone");
  monitor.reset();
  std::optional<zeus::Monitor> short_lived{options};
  zeus::Monitor::Window kept = short_lived->window("kept");
  short_lived.reset();
  expect(kept.end().gpu_energy.size() == 2);
  zeus::Monitor moved = std::move(monitor);
  expect(error_of([&] { monitor.begin("x"); }) == zeus::ErrorKind::invalid_argument);  // NOLINT: it says so
  expect(error_of([&] { (void)moved.end("gone"); }) == zeus::ErrorKind::not_found);
}

// One process that acts as two ranks.
class Alone final : public zeus::Collective {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void sum(std::span<double> /*values*/, zeus::Seconds /*patience*/) override {}
  void max(std::span<double> /*values*/, zeus::Seconds /*patience*/) override {}
  void broadcast(std::span<std::byte> /*bytes*/, int /*root*/, zeus::Seconds /*patience*/) override {}
};

// Sets limits under its own lease, and counts.
class Setter final : public zeus::LimitSetter {
 public:
  void set_power_limit(int /*gpu*/, zeus::Watts limit) override { asked.push_back(limit); }
  std::vector<zeus::Watts> asked;
};

class Slices final : public zeus::SliceMeter {
 public:
  void begin(const zeus::PowerSetting& setting) override { limit_ = setting.limit; }
  zeus::MeasuredSlice end() override {
    zeus::MeasuredSlice slice{.time = 1_s, .gpu_energy = {}};
    slice.gpu_energy[0].energy = zeus::Energy{.value = limit_ * 1_s, .uncertainty = 1_J, .systematic = {}};
    return slice;
  }
  void cancel() override {}
  [[nodiscard]] zeus::Seconds shortest() const override { return 0_s; }

 private:
  zeus::Watts limit_;
};

struct Seen {
  int begun = 0, applied = 0, restored = 0, refused = 0, measured = 0, lost = 0, done = 0, left = 0, ended = 0,
      stopped = 0;

  void operator()(const zeus::TrainingEvent& event) {
    if (const auto* const begin = std::get_if<zeus::ProfilingBegun>(&event)) {
      begun += begin->again.empty() && begin->batch_size == 32U ? 1 : 0;
    } else if (const auto* const set = std::get_if<zeus::SettingApplied>(&event)) {
      applied += set->enforced && set->setting.limit > 0_W && (set->optimum || !set->setting.clock) ? 1 : 0;
    } else if (std::holds_alternative<zeus::SettingsRestored>(event)) {
      ++restored;
    } else if (const auto* const refusal = std::get_if<zeus::SettingRefused>(&event)) {
      refused += refusal->why.empty() ? 0 : 1;
    } else if (const auto* const slice = std::get_if<zeus::SliceMeasured>(&event)) {
      measured +=
          slice->steps > 0 && slice->time > 0_s && slice->energy.value > 0_J && slice->capped.value_or(0) <= 1 ? 1 : 0;
    } else if (const auto* const lost_one = std::get_if<zeus::SliceLost>(&event)) {
      lost += lost_one->why.empty() ? 0 : 1;
    } else if (const auto* const profiled = std::get_if<zeus::ProfilingDone>(&event)) {
      const zeus::StepSaving saving = profiled->saving.value_or(zeus::StepSaving{});
      done += profiled->optimum && profiled->profile.complete && profiled->steps > 0 && saving.share < 1.0 &&
                      saving.half_width >= 0.0
                  ? 1
                  : 0;
    } else if (const auto* const unoptimized = std::get_if<zeus::Unoptimized>(&event)) {
      left += unoptimized->why.empty() ? 0 : 1;
    } else if (const auto* const epoch = std::get_if<zeus::EpochEnded>(&event)) {
      ended += epoch->epoch.number > 0 ? 1 : 0;
    } else if (const auto* const stop = std::get_if<zeus::TrainingStopped>(&event)) {
      stopped +=
          stop->reason == zeus::StopReason::target_reached && stop->cost >= 0_J && stop->next_epoch >= 0_J ? 1 : 0;
    }
  }
};

void training() {
  auto seen = std::make_shared<Seen>();
  zeus::Training::Options options;
  options.mode = zeus::TrainingMode::optimize;
  options.goal = zeus::LeastCost{};
  options.eta = 0.5;
  options.profiling = zeus::ProfilingOptions{.plan = zeus::SweepProfiling{.settle = 1, .measure = 3}};
  options.profiling.limit_step = 50_W;
  options.profiling.lowest_limit = 150_W;
  options.profiling.highest_limit = 250_W;
  options.profiling.limits = {250_W, 200_W, 150_W};
  options.profiling.try_clocks = false;
  options.profiling.wait_steps = 1;
  options.profiling.drift_tolerance = 0;
  options.profiling.slice_meter = std::make_shared<Slices>();
  options.stopping =
      zeus::StoppingOptions{.target = zeus::TrainingTarget{.metric = 0.9, .higher_is_better = true}, .max_epochs = 5};
  options.files = zeus::TrainingFiles{.profiles = "profiles.json", .result = "result.json"};
  options.gpus = {{0}};
  options.synchronize = [] {};
  options.batch_size = 32;
  options.steps_per_epoch = 20;
  options.collective = std::make_shared<Alone>();
  options.collective_patience = 10_s;
  options.lease_term = 60_s;
  options.listener = [seen](const zeus::TrainingEvent& event) { (*seen)(event); };
  options.warn = [](std::string_view line) { expect(line.empty()); };
  zeus::Training training{options};
  std::vector<int> batches(20);
  zeus::TrainingEpochs<zeus::Training> epochs = training.epochs();
  static_assert(std::is_same_v<decltype(epochs.begin()), zeus::TrainingEpochs<zeus::Training>::Iterator>);
  for (const std::uint64_t epoch : epochs) {
    zeus::TrainingSteps<zeus::Training, std::vector<int>> steps = training.steps(batches);
    for ([[maybe_unused]] const int batch : steps) {
      sleep_for(2_ms);
    }
    training.report(epoch == 2 ? 0.95 : 0.1);
  }
  training.finish();
  const zeus::TrainingResult result = training.result();
  expect(result.reached() && result.stopped_by == zeus::StopReason::target_reached && result.epochs.size() == 2);
  expect(result.applied && result.unoptimized.empty() && result.gpus == 1 && result.eta == 0.5 &&
         result.max_power == 250_W);
  expect(result.optimum && training.optimum() == result.optimum && printed(*result.optimum).ends_with(" W"));
  expect(result.energy && result.cost && result.time > 0_s && result.metric == 0.95 && result.profiling_steps > 0);
  expect(result.profiling_time > 0_s && !result.prediction && result.no_prediction.empty());
  const zeus::EpochReport first = result.epochs.front();
  expect(first.number == 1 && first.steps == 20 && first.steps_time <= first.time && first.profiled &&
         first.metric == 0.1);
  expect(first.energy && first.cost);
  const zeus::PowerProfile profile = training.profile();
  expect(profile.gpu.find("V100") != std::string::npos && profile.gpus == 1 && profile.batch_size == 32U);
  const zeus::PowerMeasurement one = profile.measurements.at(0);
  expect(one.setting.limit == 250_W && one.steps > 0 && one.step_time > 0_s && one.step_time_uncertainty >= 0_s);
  expect(one.step_energy.value > 0_J && one.capped.value_or(0) <= 1);
  expect(seen->begun == 1 && seen->measured == 3 && seen->done == 1 && seen->ended == 2 && seen->stopped == 1);
  expect(seen->applied > 0 && seen->restored > 0 && seen->refused == 0 && seen->lost == 0 && seen->left == 0);
  expect(std::filesystem::exists("profiles.json") && std::filesystem::exists("result.json"));
}

void training_by_callbacks() {
  zeus::TrainingOptions options;
  options.mode = zeus::TrainingMode::observe;
  options.goal = zeus::MaxSlowdown{.factor = 1.2, .confidence = 0.9};
  options.profiling.plan = zeus::AdaptiveProfiling{.tolerance = 0.05, .warm_up = 1};
  options.profiling.known = zeus::PowerProfile{.gpu = "another", .complete = false};
  options.stopping.cost_limit = 1_J;
  options.monitor = std::make_shared<zeus::Monitor>();
  options.limit_setter = std::make_shared<Setter>();
  zeus::Training training{options};
  training.set_batch_size(64);
  expect(error_of([&] { training.hold({.limit = 200_W, .clock = {}}); }) == zeus::ErrorKind::invalid_argument);
  training.confirm();
  training.set_target({.metric = 1, .higher_is_better = false});
  training.begin_epoch();
  training.begin_step();
  sleep_for(20_ms);
  expect(error_of([&] { training.progress(); }) == zeus::ErrorKind::invalid_argument || !training.result().reached());
  training.end_steps();
  training.end_epoch();
  expect(training.stop_reason() == zeus::StopReason::too_expensive && training.profiling());
  expect(training.stop_reason() != zeus::StopReason::epochs_used_up);
  zeus::Training moved = std::move(training);
  expect(error_of([&] { training.begin_epoch(); }) == zeus::ErrorKind::invalid_argument);  // NOLINT: it says so
  const zeus::TrainingResult result = moved.result();
  if (const auto& prediction = result.prediction) {
    expect(prediction->setting.limit > 0_W && prediction->time > 0_s && prediction->time_uncertainty >= 0_s);
    expect(prediction->cost > 0_J && prediction->cost_uncertainty >= 0_J && prediction->energy.value > 0_J);
  }
  zeus::TrainingOptions passive;
  passive.mode = zeus::TrainingMode::passive;
  passive.goal = zeus::LeastTime{};
  expect(zeus::Training{passive}.next_epoch());
  zeus::TrainingOptions own;
  own.goal = zeus::PowerGoal{zeus::PowerSelector{[](std::span<const zeus::LimitProfile> profiles) {
    const zeus::LimitProfile& each = profiles.front();
    return each.limit > 0_W && each.epoch_time > 0_s && each.average_power > 0_W &&
                   each.epoch_time_uncertainty.value_or(0_s) >= 0_s &&
                   each.average_power_uncertainty.value_or(0_W) >= 0_W
               ? profiles.size() - 1
               : 0;
  }}};
  own.profiling.plan = zeus::PowerProfiling{zeus::AdaptiveProfiling{}};
  expect(!error_of([&] { (void)zeus::Training{own}.next_epoch(); }));
  own.goal = zeus::LeastEnergy{};
  own.eta = 2;
  expect(error_of([&] { (void)zeus::Training{own}.next_epoch(); }) == zeus::ErrorKind::invalid_argument);
}

void pipeline() {
  std::ofstream{"plan.json"} << R"({"time_s": 1, "energy_j": 1, "frequencies": [[["forward", 600]]]})";
  const std::vector<zeus::PipelineInstruction> instructions = zeus::pipeline_stage("plan.json", 0);
  expect(instructions.size() == 1 && instructions[0].name == "forward" && instructions[0].frequency == 600_MHz);
  zeus::PipelineClocksOptions options;
  static_assert(std::is_same_v<zeus::PipelineClocks::Options, zeus::PipelineClocksOptions>);
  options.gpu = 0;
  options.lead = 1_ms;
  options.log_trouble = false;
  zeus::PipelineClocks clocks{instructions, options};
  clocks.begin("forward");
  clocks.end("forward");
  clocks.end_iteration();
  expect(error_of([&] { clocks.begin("backward"); }) == zeus::ErrorKind::invalid_argument);
  expect(clocks.trouble().empty() && clocks.latency().value_or(0_s) >= 0_s);
  zeus::PipelineClocks moved = std::move(clocks);
  expect(error_of([&] { clocks.close(); }) == zeus::ErrorKind::invalid_argument);  // NOLINT: it says so
  moved.close();
}

void pipeline_profile() {
  zeus::PipelineProfilerOptions options;
  static_assert(std::is_same_v<zeus::PipelineProfiler::Options, zeus::PipelineProfilerOptions>);
  options.gpu = 0;
  options.window = 1_ms;
  zeus::PipelineProfiler profiler{options};
  const zeus::PipelineProfiler::Work work = [](int times) { sleep_for(times * 2_ms); };
  const std::optional<zeus::Watts> blocking = profiler.measure_blocking([&] { work(1); });
  profiler.measure(0, "forward", work);
  profiler.measure(
      0, "backward", [&](int times) { work(2 * times); }, "forward");
  const zeus::PipelineMeasurement first = profiler.measurements().at(0);
  profiler.measure_beside(0, "forward", first.frequency, work);
  expect(profiler.trouble().empty() && blocking && first.stage == 0 && first.instruction == "forward");
  expect(first.time > 0_s && first.time_uncertainty >= 0_s && first.energy > 0_J && first.energy_uncertainty >= 0_J);
  zeus::PipelineRank rank;
  rank.measurements = {first};
  zeus::PipelineStep step;
  step.instruction = "forward";
  step.stage = 0;
  step.microbatch = 0;
  rank.steps = {step};
  zeus::PipelinePlanOptions planning;
  planning.blocking_power = *blocking;
  planning.copies = 1;
  planning.max_slowdown = 1.0;
  const zeus::PlannedPipeline plan = zeus::plan_pipeline({rank}, planning);
  expect(plan.ranks.at(0).at(0).frequency == first.frequency && plan.time == plan.fastest_time);
  expect(plan.energy > 0_J && plan.fastest_energy > 0_J);
  zeus::PipelineProfiler moved = std::move(profiler);
  moved.close();
}

void jobs() {
  zeus::JobDefinition definition{
      .batch_sizes = {32, 64}, .default_batch_size = 64, .max_epochs = 3, .max_slowdown = 1.5};
  definition.eta = 0.5;
  definition.beta = 2;
  definition.window = 10;
  definition.policy = "lookahead";
  definition.seed = 1;
  definition.target = zeus::TrainingTarget{.metric = 0.9};
  zeus::JobOptions options{
      .store = "jobs.db", .gpus = {{0}}, .set_limits = true, .power_limits = {250_W}, .profile_time = 1_s};
  options.synchronize = [] {};
  options.server = "";  // no server
  options.server_patience = 60_s;
  options.elsewhere = zeus::JobDevices{.model = "Sun", .count = 1, .max_power = 250_W, .power_limits = {250_W, 200_W}};
  zeus::Job job{"told", definition, options};
  expect(job.name() == "told" && job.definition().default_batch_size == 64 && !job.reached());
  while (std::optional<zeus::Try> attempt = job.next_try()) {
    expect(attempt->batch_size() > 0 && attempt->seed() > 0 && !attempt->why().empty());
    expect(attempt->target() && attempt->max_epochs().value_or(3) <= 3 && attempt->cost_limit().value_or(1_J) > 0_J);
    std::vector<int> batches(4);
    for (const std::uint64_t epoch : attempt->epochs()) {
      for ([[maybe_unused]] const int batch : attempt->steps(batches)) {
      }
      attempt->begin_step();
      attempt->end_steps();
      attempt->took(1_s, zeus::Energy{.value = 200_J, .uncertainty = 1_J});
      for (std::vector<zeus::Watts> asked = attempt->limits_to_measure(); !asked.empty() && !attempt->over();
           asked = attempt->limits_to_measure()) {
        std::vector<zeus::LimitProfile> told;
        for (const zeus::Watts limit : asked) {
          told.push_back({.limit = limit, .epoch_time = 1_s, .average_power = 0.8 * limit});
        }
        attempt->measured(told);
      }
      expect(attempt->limit().value_or(200_W) <= 250_W);
      attempt->report(epoch == 2 ? 0.95 : 0.5);
    }
  }
  const zeus::JobSummary summary = job.summary();
  expect(job.reached() && job.unrecorded().empty() && summary.recurrences == 1 && summary.reached == 1);
  expect(summary.tries >= 1 && summary.best_cost && !summary.next.empty());
  expect(summary.savings.has_value() != !summary.savings_unknown.empty() &&
         !summary.savings_of_last_five.has_value() == !summary.savings);
  const zeus::JobSavings none = summary.savings.value_or(zeus::JobSavings{});
  expect(none.recurrences <= 1 && none.energy >= -1e9_J && none.energy_uncertainty.value_or(0_J) >= 0_J);
  expect(none.energy_of_default >= 0_J && none.time_of_default >= 0_s && none.cost_of_default >= 0_J);
  expect(none.time > -1e9_s && none.time_uncertainty.value_or(0_s) >= 0_s && none.cost > -1e9_J);
  expect(none.cost_uncertainty.value_or(0_J) >= 0_J);
  {
    std::optional<zeus::Try> failing = job.next_try();
    failing->fail();
    expect(failing->over() && !failing->next_epoch());
  }
  zeus::Job moved = std::move(job);
  expect(error_of([&] { (void)job.next_try(); }) == zeus::ErrorKind::invalid_argument);  // NOLINT: it says so
  expect(error_of([&] { zeus::Job{"nobody", options}; }) == zeus::ErrorKind::not_found);
}

void records() {
  expect(fields_of(zeus::PowerSetting{}) == "limit_w clock_mhz " &&
         fields_of(zeus::LimitProfile{}).starts_with("limit_w "));
  expect(fields_of(zeus::ClockRange{}) == "minimum_mhz maximum_mhz ");
  expect(fields_of(zeus::Energy{}) == "value uncertainty systematic method ");
  for (const std::string& names :
       {fields_of(zeus::PowerMeasurement{}), fields_of(zeus::PowerProfile{}), fields_of(zeus::TrainingPrediction{}),
        fields_of(zeus::EpochReport{}), fields_of(zeus::TrainingResult{}), fields_of(zeus::EpochEnded{})}) {
    expect(!names.empty());
  }
  expect(zeus::field::above_zero.above_least && zeus::field::from_zero.least == 0 && zeus::field::from_one.least == 1);
  expect(zeus::field::share.most == 1 && zeus::field::because("it is new").reason == "it is new");
  namespace field = zeus::field;
  expect(field::any_energy.least == -field::most_joules && field::energy.most == field::most_joules);
  expect(field::energy_above_zero.least == field::least_part && field::duration_above_zero.least == field::least_part);
  expect(field::duration.most == field::most_seconds && field::power.most == field::most_watts);
  expect(field::power_above_zero.least > 0 && field::count.most == field::most_counted);
  expect(field::count_from_one.least == 1 && field::point_in_time.most == field::last_microsecond);
  expect(field::most_factor > field::most_joules && field::may_lack(field::share).left_out);
  expect(!field::without_unit(field::energy).unit_in_key && field::share.fewest == 0);
  std::string why{"it is new"};
  expect(zeus::field::because(why).reason == why && zeus::field::because(why).read_reason == &why);
  const zeus::field::Rule rule{.members = 3, .unit_in_key = false, .left_out = true, .null_is_infinite = true};
  expect(rule.members == 3 && !rule.unit_in_key && rule.left_out && rule.null_is_infinite);
  static_assert(zeus::field::unit_of<zeus::Seconds> == "_s" && zeus::field::Measured<zeus::Watts>);
  static_assert(zeus::field::is_optional<std::optional<int>> && zeus::field::is_list<std::vector<int>>);
  static_assert(zeus::field::is_variant<std::variant<int>> &&
                std::is_same_v<const zeus::field::Beside, decltype(zeus::field::beside)>);
  constexpr zeus::field::Name<zeus::StopReason> name = names_of(zeus::StopReason{}).front();
  expect(zeus::field::name_of(name.value) == name.name);
  expect(zeus::TrainingStopped::kind == "TrainingStopped" && fields_of(zeus::Unoptimized{}) == "why ");
  ::setenv("ZEUS_BATCH_SIZE", "32", 1);
  const zeus::RunValues values = zeus::run_values();
  expect(values.batch_size == 32U && !values.learning_rate && !values.seed && !values.epochs);
  expect(!values.target_metric && !values.higher_is_better && zeus::version() == zeus::header_version);
  ::unsetenv("ZEUS_BATCH_SIZE");
}

}  // namespace

int main() {
  units();
  errors();
  devices();
  windows();
  training();
  training_by_callbacks();
  pipeline();
  pipeline_profile();
  jobs();
  records();
  return wrong;
}
