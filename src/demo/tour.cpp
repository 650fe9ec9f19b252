#include "demo/tour.hpp"

#include "control/guardian.hpp"
#include "control/lease_book.hpp"
#include "control/ledger.hpp"
#include "demo/network_try.hpp"
#include "jobs/driver.hpp"
#include "jobs/settling.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "optimize/batch_size/profile_book.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

namespace zeus::demo {

namespace {

constexpr double target_accuracy = 0.84;
constexpr int most_epochs = 60;
constexpr double noise = 0.2;
constexpr Watts limit_step{25};
constexpr std::uint64_t most_nights_of_a_seed = 1'000'000;
constexpr Seconds day{86'400.0};
// 2026-01-05T02:00:00Z, a Monday.
constexpr WallTime first_night{1'767'578'400'000'000};

// A virtual GPU vanishes with its process, so nothing must be restored.
struct NobodyNeeded final : control::Guardian {
  void watch(const std::string& /*gpu*/) override {}
  void notice() noexcept override {}
};

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

// Reports what the driver does.
class Account {
 public:
  Account(const jobs::Job& job, const std::function<void(const TourEvent&)>& tell) : job_{job}, tell_{tell} {}

  void operator()(const jobs::DriverEvent& event) const {
    if (const auto* step = std::get_if<records::TryStarted>(&event)) {
      tell_(TryBegun{.step = *step});
    } else if (const auto* limits = std::get_if<records::LimitsMeasured>(&event)) {
      // They add to what is known of this batch size, on which the choice rests.
      const std::vector<records::LimitProfile> known = job_.limits(limits->batch_size);
      tell_(LimitsMeasured{.batch_size = limits->batch_size,
                           .limits = known.size(),
                           .cheapest = optimize::best_limit(job_.spec(), known)});
    } else if (const auto* trained = std::get_if<jobs::EpochTrained>(&event); trained != nullptr && trained->most) {
      tell_(EpochTrained{.batch_size = trained->batch_size,
                         .epoch = trained->epoch,
                         .most = *trained->most,
                         .accuracy = trained->metric.value_or(0.0)});
    } else if (const auto* judged = std::get_if<jobs::TryJudged>(&event)) {
      const records::TryResult& finished = judged->result;
      if (finished.left_out) {
        throw Error{ErrorKind::unavailable,
                    fmt::format("the virtual GPU's power limit cannot be set: {}", *finished.left_out),
                    "make the folder for temporary files (TMPDIR) writable"};
      }
      tell_(TryOver{.outcome = finished.outcome,
                    .batch_size = judged->step.event.plan.batch_size,
                    .limit = finished.limit,
                    .epochs = finished.progress.epochs,
                    .accuracy = finished.progress.metric.value_or(0.0),
                    .energy = judged->energy.value(),
                    .time = finished.progress.time});
    }
  }

 private:
  const jobs::Job& job_;
  const std::function<void(const TourEvent&)>& tell_;
};

// Runs one recurrence of the job. Returns the seed of the training that reached the target.
std::uint64_t work(const Bench& bench, jobs::Job& job, const records::JobDevice& device,
                   const small_network::Course& course, const std::function<void(const TourEvent&)>& tell) {
  NetworkTry training{bench, course, job.definition().eta};
  training.trial().set_target(job.definition().target);
  jobs::Driver driver{std::make_unique<jobs::KeptRecurrence>(job, job.begin(device)),
                      device,
                      training.trial(),
                      {.stops_at_target = true, .foresees_epochs = true},
                      bench.clock,
                      Account{job, tell},
                      [](const Error&) { throw; }};
  driver.run();
  return training.seed();
}

// Runs the default, under the limit that is in force, until it reaches the target.
void run_default(const Bench& bench, const jobs::Job& job, const small_network::Course& course, std::uint64_t seed,
                 Night& night) {
  const records::JobDefinition& definition = job.definition();
  NetworkTry training{bench, course, definition.eta};
  trial::Trial& trial = training.trial();
  trial.set_target(definition.target);
  trial.start(definition.default_batch_size, seed);
  while (trial.progress().epochs() < definition.max_epochs && !trial.has_reached()) {
    trial.go_on();
  }
  const jobs::Try::Taken taken = trial.close();
  night.default_reached = trial.has_reached();
  night.default_energy = taken.energy();
  night.default_time = taken.time;
  night.default_cost = job.cost(night.default_energy, night.default_time);
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
  std::size_t first = 0;  // the night since which the images are unchanged
  for (std::size_t number = 0;
       number < options_.most_nights && number <= result.settled.value_or(number) + options_.nights_beyond; ++number) {
    stand.clock.sleep_until(Instant{} + day * static_cast<double>(number));
    tell(NightBegun{.night = number, .labels_went_wrong = result.labels_went_wrong == number});
    const small_network::Course course{.seed = options_.seed * most_nights_of_a_seed + number,
                                       .images_per_epoch = 2048,
                                       .held_out = 1024,
                                       .noise = noise,
                                       .mislabelled = result.labels_went_wrong ? options_.mislabelled : 0.0};
    const std::uint64_t seed = work(stand.bench, job, device, course, tell);
    const records::JobView view = job.view();
    const records::RecurrenceView& done = view.recurrences.back();
    // Energies of a virtual GPU are always known.
    Night night{.energy = done.energy.value(), .time = done.time, .cost = done.cost.value()};
    run_default(beside.bench, job, course, seed, night);
    result.nights.push_back(night);
    // What ran before the images changed says nothing of them.
    const bool settled = view.settled && number + 1 >= first + jobs::settled_recurrences;
    if (settled && options_.mislabelled > 0.0 && !result.labels_went_wrong) {
      result.labels_went_wrong = number + 1;
      first = number + 1;
    } else if (!settled) {
      result.settled.reset();
    } else if (!result.settled) {
      result.settled = number;
    }
    tell(NightOver{.night = number,
                   .cost = night.cost,
                   .default_cost = night.default_cost,
                   .settled = settled ? view.settled : std::nullopt});
  }
  result.job = job.view();
  return result;
}

}  // namespace zeus::demo
