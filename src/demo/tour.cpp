#include "demo/tour.hpp"

#include "control/guardian.hpp"
#include "control/lease_book.hpp"
#include "control/ledger.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "optimize/cost/energy_time_cost.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

namespace zeus::demo {

namespace {

using records::TryOutcome;

constexpr double target_accuracy = 0.84;
constexpr int most_epochs = 60;
constexpr double noise = 0.2;
constexpr double learning_rate = 0.05;  // for this batch size; it goes with the square root
constexpr std::size_t reference_batch_size = 64;
constexpr Watts limit_step{25};
constexpr std::uint64_t most_nights_of_a_seed = 1'000'000;
constexpr Seconds day{86'400.0};
// 2026-01-05T02:00:00Z, a Monday.
constexpr WallTime first_night{1'767'578'400'000'000};

// A virtual GPU is gone with its process: there is nothing to put back.
struct NobodyNeeded final : control::Guardian {
  void watch() override {}
  void notice() noexcept override {}
};

small_network::Settings settings_for(int batch_size, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(batch_size);
  return {.batch_size = size,
          .learning_rate = small_network::scaled_by_root(learning_rate, reference_batch_size, size),
          .seed = seed};
}

records::JobDevice device_of(const physics::GpuModel& model) {
  records::JobDevice device{
      .model = std::string{model.product()}, .gpus = 1, .max_power = model.limits.max, .power_limits = {}};
  for (Watts limit = model.limits.max; limit >= model.limits.min; limit -= limit_step) {
    device.power_limits.insert(device.power_limits.begin(), limit);
  }
  return device;
}

}  // namespace

struct Tour::Stand {
  Stand(const MakeGpu& make_gpu, const physics::GpuModel& model, const FileTree& folder, const FileTree& machine)
      : gpu{make_gpu(clock, model)},
        book{control::Ledger{folder, machine}, {gpu.device}, std::make_shared<NobodyNeeded>(), clock},
        bench{.gpu = gpu, .model = model, .clock = clock, .acquire = [this](std::string_view uuid, Seconds term) {
                return book.acquire(uuid, term);
              }} {}

  VirtualClock clock{{}, first_night};
  StageGpu gpu;
  control::LeaseBook book;
  Bench bench;
};

namespace {

// One recurrence of the job, carried out.
class NightShift {
 public:
  NightShift(const Bench& bench, jobs::Job& job, const small_network::Course& course,
             const std::function<void(const TourEvent&)>& tell)
      : bench_{bench}, job_{job}, course_{course}, tell_{tell} {}

  // Returns the seed of the training that reached the target.
  std::uint64_t work(const records::JobDevice& device) {
    jobs::Recurrence recurrence = job_.begin(device);
    while (!recurrence.over()) {
      const jobs::Step step = recurrence.next();
      if (const auto* profile = std::get_if<jobs::ProfileStep>(&step)) {
        carry_out(*profile, recurrence);
      } else if (const auto* run = std::get_if<jobs::RunStep>(&step)) {
        carry_out(*run, recurrence);
      }
    }
    return seed_;
  }

 private:
  void begin(int batch_size, std::uint64_t seed) {
    attempt_ = std::make_unique<Attempt>(bench_, course_, settings_for(batch_size, seed), job_.definition().eta);
    batch_size_ = batch_size;
    seed_ = seed;
  }

  void record_limits(jobs::Recurrence& recurrence) {
    std::vector<records::LimitProfile> limits = attempt_->measured();
    if (!limits.empty()) {
      const optimize::EnergyTimeCost cost{job_.definition().eta, job_.spec().max_power};
      const Watts cheapest = limits[optimize::cheapest_limit(cost, limits)].limit;
      tell_(LimitsMeasured{.batch_size = batch_size_, .limits = limits.size(), .cheapest = cheapest});
    }
    recurrence.profiled({.batch_size = batch_size_, .limits = std::move(limits), .charged = {}, .time = {}});
  }

  // The training that was begun to measure limits is of no use to what comes next: it is charged.
  void abandon(jobs::Recurrence& recurrence) {
    if (attempt_) {
      recurrence.profiled({.batch_size = batch_size_, .limits = {}, .charged = taken(), .time = attempt_->time()});
      attempt_.reset();
    }
  }

  void carry_out(const jobs::ProfileStep& step, jobs::Recurrence& recurrence) {
    if (!attempt_ || batch_size_ != step.batch_size) {
      abandon(recurrence);
      begin(step.batch_size, job_.definition().seed + recurrence.number());
    }
    attempt_->measure(step.limits);
    while (!attempt_->train_until_measured()) {
      attempt_->finish_epoch();
    }
    record_limits(recurrence);
  }

  void carry_out(const jobs::RunStep& step, jobs::Recurrence& recurrence) {
    if (attempt_ && batch_size_ != step.batch_size) {
      abandon(recurrence);
    }
    if (!attempt_) {
      begin(step.batch_size, step.seed);
    }
    tell_(TryBegun{.step = step});
    if (step.limit) {
      attempt_->hold(*step.limit);
    } else {
      attempt_->measure(job_.spec().power_limits);
    }
    bool to_record = !step.limit;
    const TryOutcome outcome = train(step, to_record, recurrence);
    if (to_record && !attempt_->measured().empty()) {
      record_limits(recurrence);
    }
    finish(outcome, recurrence);
  }

  TryOutcome train(const jobs::RunStep& step, bool& to_record, jobs::Recurrence& recurrence) {
    while (true) {
      if (attempt_->epochs() > 0 && attempt_->accuracy() >= target_accuracy) {
        return TryOutcome::reached;
      }
      if (attempt_->epochs() >= step.max_epochs) {
        return step.max_epochs >= job_.definition().max_epochs ? TryOutcome::exhausted : TryOutcome::stopped;
      }
      if (too_dear(step)) {
        return TryOutcome::stopped;
      }
      attempt_->finish_epoch();
      tell_(EpochTrained{.batch_size = batch_size_,
                         .epoch = attempt_->epochs(),
                         .most = step.max_epochs,
                         .accuracy = attempt_->accuracy()});
      if (to_record && !attempt_->measuring()) {
        record_limits(recurrence);
        to_record = false;
      }
    }
  }

  // Another epoch would take the cost of the try beyond its budget.
  [[nodiscard]] bool too_dear(const jobs::RunStep& step) const {
    const std::vector<records::LimitProfile> limits = job_.limits(batch_size_);
    const auto held = std::ranges::find(limits, attempt_->limit(),
                                        [](const records::LimitProfile& one) { return std::optional{one.limit}; });
    if (!step.budget || held == limits.end()) {
      return false;
    }
    const Joules next = job_.cost(held->average_power * held->epoch_time, held->epoch_time);
    return job_.cost(attempt_->energy().value, attempt_->time()) + next > *step.budget;
  }

  [[nodiscard]] std::vector<records::GpuEnergy> taken() const {
    return {{.gpu = bench_.gpu.device.gpu->identity().uuid, .energy = attempt_->energy()}};
  }

  void finish(TryOutcome outcome, jobs::Recurrence& recurrence) {
    const Seconds time = attempt_->time();
    const std::vector<records::GpuEnergy> gpus = taken();
    attempt_->end();
    recurrence.finished({.outcome = outcome,
                         .epochs = attempt_->epochs(),
                         .gpus = gpus,
                         .time = time,
                         .limit = attempt_->limit(),
                         .metric = attempt_->accuracy(),
                         .exit_code = 0,
                         .left_out = {}});
    tell_(TryOver{.outcome = outcome,
                  .batch_size = batch_size_,
                  .limit = attempt_->limit(),
                  .epochs = attempt_->epochs(),
                  .accuracy = attempt_->accuracy(),
                  .energy = gpus.front().energy.value,
                  .time = time});
    attempt_.reset();
  }

  const Bench& bench_;
  jobs::Job& job_;
  small_network::Course course_;
  const std::function<void(const TourEvent&)>& tell_;
  std::unique_ptr<Attempt> attempt_;
  int batch_size_ = 0;
  std::uint64_t seed_ = 0;  // of the attempt
};

// The default, as long as it takes.
void run_default(const Bench& bench, const jobs::Job& job, const small_network::Course& course, std::uint64_t seed,
                 Night& night) {
  const records::JobDefinition& definition = job.definition();
  Attempt attempt{bench, course, settings_for(definition.default_batch_size, seed), definition.eta};
  attempt.hold(job.spec().power_limits.back());
  while (attempt.epochs() < definition.max_epochs && (attempt.epochs() == 0 || attempt.accuracy() < target_accuracy)) {
    attempt.finish_epoch();
  }
  night.default_reached = attempt.accuracy() >= target_accuracy;
  night.default_energy = attempt.energy().value;
  night.default_time = attempt.time();
  night.default_cost = job.cost(night.default_energy, night.default_time);
}

// Whether the last `wanted` recurrences since `first` all ran one and the same batch size, each in a single try.
bool has_settled(const records::JobView& job, std::size_t first, std::size_t wanted) {
  if (job.recurrences.size() < first + wanted) {
    return false;
  }
  std::optional<int> batch_size;
  for (std::size_t i = job.recurrences.size() - wanted; i < job.recurrences.size(); ++i) {
    if (job.recurrences[i].tries != 1) {
      return false;
    }
    const auto one = std::ranges::find(job.tries, job.recurrences[i].number, &records::TryView::recurrence);
    if (batch_size.value_or(one->batch_size) != one->batch_size) {
      return false;
    }
    batch_size = one->batch_size;
  }
  return true;
}

}  // namespace

Tour::Tour(TourOptions options, const MakeGpu& make_gpu, store::JobStore& store, const FileTree& folder,
           const FileTree& machine)
    : options_{options}, make_gpu_{make_gpu}, store_{store}, folder_{folder}, machine_{machine} {
}

TourResult Tour::run(const std::function<void(const TourEvent&)>& tell) {
  const physics::GpuModel& model = physics::preset("V100");
  for (const char* folder : {"leases", "leases-beside"}) {
    std::filesystem::create_directories(folder_.resolve(folder));
  }
  Stand stand{make_gpu_, model, FileTree{folder_.resolve("leases")}, machine_};
  const Stand beside{make_gpu_, model, FileTree{folder_.resolve("leases-beside")}, machine_};
  const records::JobDevice device = device_of(model);
  const jobs::Site site = jobs::this_site(stand.clock, machine_);
  jobs::Job job =
      jobs::Job::open(store_, site, tour_job,
                      {.batch_sizes = batch_sizes(model, options_.smallest_batch_size, options_.largest_batch_size),
                       .default_batch_size = options_.default_batch_size,
                       .target = records::JobTarget{.metric = target_accuracy},
                       .max_epochs = most_epochs,
                       .eta = options_.eta,
                       .policy = std::string{optimize::best_policy},
                       .seed = options_.seed,
                       .max_slowdown = {},
                       .device = device});
  TourResult result{.job = {}, .nights = {}, .labels_went_wrong = {}, .target = target_accuracy};
  std::size_t first = 0;  // night since which the images are as they are
  for (std::size_t number = 0;
       number < options_.most_nights && number <= result.settled.value_or(number) + options_.nights_beyond; ++number) {
    stand.clock.sleep_until(Instant{} + day * static_cast<double>(number));
    tell(NightBegun{.night = number, .labels_went_wrong = result.labels_went_wrong == number});
    const small_network::Course course{.seed = options_.seed * most_nights_of_a_seed + number,
                                       .images_per_epoch = 2048,
                                       .held_out = 1024,
                                       .noise = noise,
                                       .mislabelled = result.labels_went_wrong ? options_.mislabelled : 0.0};
    const std::uint64_t seed = NightShift{stand.bench, job, course, tell}.work(device);
    const records::JobView view = job.view();
    const records::RecurrenceView& done = view.recurrences.back();
    Night night{.energy = done.energy, .time = done.time, .cost = done.cost};
    run_default(beside.bench, job, course, seed, night);
    result.nights.push_back(night);
    const bool settled = !result.settled && has_settled(view, first, options_.settled_after);
    if (settled && options_.mislabelled > 0.0 && !result.labels_went_wrong) {
      result.labels_went_wrong = number + 1;
      first = number + 1;
    } else if (settled) {
      result.settled = number;
    }
    tell(NightOver{.night = number, .cost = night.cost, .default_cost = night.default_cost, .settled = settled});
  }
  result.job = job.view();
  return result;
}

}  // namespace zeus::demo
