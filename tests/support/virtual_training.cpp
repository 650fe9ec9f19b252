#include "tests/support/virtual_training.hpp"

#include "control/guardian.hpp"
#include "control/ledger.hpp"
#include "physics/controls.hpp"
#include "physics/operating_point.hpp"
#include "physics/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace zeus::test {

namespace {

// Samples of the data sets, so that an epoch's time gives a step's.
const std::map<std::string_view, double> samples{{"librispeech", 281'241},    {"squad", 88'524},
                                                 {"sentiment140", 1'600'000}, {"imagenet", 1'281'167},
                                                 {"cifar100", 50'000},        {"movielens", 4'970'845}};

struct NoGuardian final : control::Guardian {
  void watch(const std::string& /*gpu*/) override {}
  void notice() noexcept override {}
};

}  // namespace

TrainingWork work_of(std::string_view name, const physics::GpuModel& model) {
  const physics::Workload& workload = physics::workload(name);
  const int batch_size = workload.default_batch_size(model);
  return {.demand = workload.demand(model, batch_size),
          .step = workload.profile(model, batch_size).epoch / std::max(1.0, samples.at(name) / batch_size)};
}

SettledStep settled_step(const physics::GpuModel& model, const TrainingWork& work, const PowerSetting& setting) {
  physics::Controls controls = physics::Controls::defaults(model);
  controls.requested_limit = setting.limit;
  if (setting.clock) {
    controls.clocks_locked = true;
    controls.lock_min = model.clocks.min;
    controls.lock_max = *setting.clock;
  }
  physics::OperatingPoint point;
  Celsius temperature = model.thermal.ambient;
  for (int i = 0; i < 60; ++i) {
    point = physics::settle(model, controls, work.demand, temperature);
    temperature = model.thermal.ambient + Kelvins{model.thermal.kelvins_per_watt * point.power.value()};
  }
  const Seconds time = work.step / point.speed;
  return {.time = time, .energy = point.power * time};
}

// Windows of the true energy, with an error at each edge as from a counter that moves in ticks.
class VirtualTraining::TrueMeter final : public train::Meter {
 public:
  explicit TrueMeter(VirtualTraining& training) : training_{training} {}

  void begin(std::string_view window) override {
    open_[std::string{window}] = read();
    training_.clock_.advance(training_.work_.read_latency);
  }

  Measurement end(std::string_view window) override {
    const auto found = open_.find(std::string{window});
    if (found == open_.end()) {
      throw Error{ErrorKind::not_found, "no such window"};
    }
    const Marks begin = std::exchange(found->second, {});
    open_.erase(found);
    const Marks now = read();
    training_.clock_.advance(training_.work_.read_latency);
    Measurement measurement;
    measurement.window = window;
    measurement.start = begin.at - Instant{};
    measurement.end = now.at - Instant{};
    measurement.settled = true;
    for (std::size_t i = 0; i < training_.gpus_.size(); ++i) {
      const Joules exact = now.energies[i] - begin.energies[i];
      const Seconds time = now.at - begin.at;
      const Seconds tick = training_.gpus_[i]->model().sensors.counter_period;
      const Joules blur = time > Seconds{0} ? exact / time * std::min(tick * 0.1, time) : Joules{0};
      const auto failure = training_.gpus_[i]->energy();
      MeasuredEnergy& measured = measurement.gpu_energy[static_cast<int>(i)];
      if (!failure) {
        measured.reason = to_string(failure.failure());
        continue;
      }
      measured.energy = Energy{.value = exact + blur * training_.random_.normal(),
                               .uncertainty = blur * 1.96,
                               .systematic = std::nullopt,
                               .method = EnergyMethod::counter};
    }
    return measurement;
  }

  Measurement settle(const Measurement& measurement, Seconds /*patience*/) override { return measurement; }
  void cancel(std::string_view window) override { open_.erase(std::string{window}); }

 private:
  struct Marks {
    Instant at;
    std::vector<Joules> energies;
  };

  [[nodiscard]] Marks read() const {
    Marks marks{.at = training_.clock_.now(), .energies = {}};
    for (const auto& gpu : training_.gpus_) {
      marks.energies.push_back(gpu->true_energy(marks.at) + training_.unseen_);
    }
    return marks;
  }

  VirtualTraining& training_;
  std::map<std::string, Marks> open_;
};

class VirtualTraining::LoggedControl final : public device::GpuControl {
 public:
  LoggedControl(std::shared_ptr<device::GpuControl> control, VirtualTraining& training, std::size_t gpu)
      : control_{std::move(control)}, training_{training}, gpu_{gpu} {}

  device::Outcome set_power_limit(Watts limit) override {
    log(fmt::format("power {:.6g}", limit.value()));
    return control_->set_power_limit(limit);
  }
  device::Outcome lock_clocks(ClockDomain domain, ClockRange range) override {
    log(fmt::format("lock {:.6g}-{:.6g}", range.minimum.value(), range.maximum.value()));
    return control_->lock_clocks(domain, range);
  }
  device::Outcome reset_clocks(ClockDomain domain) override {
    log("unlock");
    return control_->reset_clocks(domain);
  }
  [[nodiscard]] bool reset_frees_all_domains() const override { return control_->reset_frees_all_domains(); }
  device::Outcome set_persistence_mode(bool enabled) override {
    log("persistence");
    return control_->set_persistence_mode(enabled);
  }

 private:
  void log(std::string what) {
    training_.calls_.push_back({.at = training_.clock_.now(), .gpu = gpu_, .what = std::move(what)});
    training_.clock_.advance(training_.work_.set_latency);
  }

  std::shared_ptr<device::GpuControl> control_;
  VirtualTraining& training_;
  std::size_t gpu_;
};

VirtualTraining::VirtualTraining(const std::vector<physics::GpuModel>& models, const TrainingWork& work,
                                 std::uint64_t seed, int first, std::shared_ptr<const TemporaryFolder> folder)
    : work_{work}, random_{seed}, folder_{std::move(folder)} {
  auto host = std::make_shared<backends::virtual_gpu::Host>(clock_);
  for (const physics::GpuModel& model : models) {
    gpus_.push_back(std::make_shared<backends::virtual_gpu::VirtualGpu>(host, model, first++));
  }
  FileTree{folder_->path() / "machine"}.write_durably("proc/sys/kernel/random/boot_id", "this-boot\n");
  std::filesystem::create_directories(folder_->path() / "state");
  bounds_.resize(gpus_.size());
  put_load(work.demand);
}

std::vector<device::DiscoveredGpu> VirtualTraining::discovered() {
  std::vector<device::DiscoveredGpu> found;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    found.push_back({.gpu = gpus_[i], .control = std::make_shared<LoggedControl>(gpus_[i], *this, i)});
  }
  return found;
}

train::SessionParts VirtualTraining::parts() {
  const std::vector<device::DiscoveredGpu> found = discovered();
  auto book = std::make_shared<control::LeaseBook>(
      control::Ledger{FileTree{folder_->path() / "state"}, FileTree{folder_->path() / "machine"}}, found,
      std::make_shared<NoGuardian>(), clock_);
  train::SessionParts parts{
      .gpus = {},
      .meter = std::make_unique<TrueMeter>(*this),
      .acquire = [book](std::string_view uuid, Seconds term) { return book->acquire(uuid, term); },
      .clock = clock_};
  for (std::size_t i = 0; i < found.size(); ++i) {
    parts.gpus.push_back(
        {.index = static_cast<int>(i), .gpu = found[i].gpu, .allowed = [bounds = bounds_[i]] { return bounds; }});
  }
  return parts;
}

void VirtualTraining::put_load(const physics::Demand& demand) {
  for (const auto& gpu : gpus_) {
    gpu->set_load(physics::Load::constant(demand));
  }
}

void VirtualTraining::set_work(const TrainingWork& work) {
  work_ = work;
  put_load(work_.demand);
}

void VirtualTraining::step() {
  double slowest = 1e9;
  Watts power;
  for (const auto& gpu : gpus_) {
    const physics::OperatingPoint point = gpu->operating_point();
    slowest = std::min(slowest, point.speed);
    power += point.power / static_cast<double>(gpus_.size());
  }
  const double slower = std::max(0.1, 1.0 + work_.scatter * random_.normal());
  const double hungrier = work_.scatter * random_.normal();
  const Seconds took = work_.step / slowest * slower;
  work_done_ += work_.step * slower;
  unseen_ += power * took * hungrier;
  clock_.advance(took);
}

void VirtualTraining::evaluate(Seconds time, Watts power) {
  put_load(physics::Demand::of_power(power));
  clock_.advance(time);
  put_load(work_.demand);
}

Watts VirtualTraining::limit(std::size_t index) {
  return *gpus_.at(index)->power_limits().current;
}

Joules VirtualTraining::energy() {
  Joules all = unseen_ * static_cast<double>(gpus_.size());
  for (const auto& gpu : gpus_) {
    all += gpu->true_energy(clock_.now());
  }
  return all;
}

}  // namespace zeus::test
