#include "run/job_records.hpp"

#include "optimize/batch_size/profile_book.hpp"
#include "store/open_store.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace zeus::run {

JobRecords::JobRecords(const RunOptions& options, const records::JobDevice& device, const Place& place, Voice& voice)
    : needed_{options.needs_store}, voice_{voice} {
  keep([&] {
    const std::string where = options.store.empty() ? store::default_store(place.environment).string() : options.store;
    store_ = store::open_store(where, store::Access::create);
    site_.emplace(jobs::this_site(place.clock, place.machine));
    // Apart from the store: a job that was defined differently is the user's to sort out.
    job_.emplace(jobs::Job::open(*store_, *site_, options.job, definition_of(options, device)));
    recurrence_.emplace(job_->begin(device));
    number_ = recurrence_->number();
  });
}

void JobRecords::keep(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    const bool users = error.kind() == ErrorKind::invalid_argument || (error.kind() == ErrorKind::conflict && !kept());
    if (needed_ || users) {
      throw;
    }
    voice_.warn(fmt::format("{}; the training goes on, and is not recorded", error.what()));
    recurrence_.reset();
  }
}

std::optional<jobs::Step> JobRecords::next() {
  std::optional<jobs::Step> step;
  if (kept()) {
    keep([&] { step = recurrence_->next(); });
  }
  return step;
}

void JobRecords::profiled(const jobs::Profiled& profiled) {
  if (kept()) {
    keep([&] { recurrence_->profiled(profiled); });
  }
}

void JobRecords::epochs(const jobs::Progress& progress) {
  if (kept()) {
    keep([&] { recurrence_->epochs(progress); });
  }
}

void JobRecords::finished(const jobs::Finished& finished) {
  if (kept()) {
    keep([&] { recurrence_->finished(finished); });
  }
}

void JobRecords::give_up(const std::string& reason) {
  if (kept() && !recurrence_->over()) {
    keep([&] { recurrence_->give_up(reason); });
  }
}

void JobRecords::beat() {
  if (kept() && !recurrence_->over()) {
    keep([&] { recurrence_->beat(); });
  }
}

std::vector<Watts> JobRecords::not_measured(int batch_size, const std::vector<Watts>& all) const {
  std::vector<Watts> missing = all;
  if (kept()) {
    for (const records::LimitProfile& known : job_->limits(batch_size)) {
      std::erase(missing, known.limit);
    }
  }
  return missing;
}

std::optional<Watts> JobRecords::best_limit(int batch_size) const {
  if (!kept()) {
    return std::nullopt;
  }
  const std::vector<records::LimitProfile> known = job_->limits(batch_size);
  if (known.empty()) {
    return std::nullopt;
  }
  optimize::ProfileBook book{job_->spec()};
  const std::size_t arm = job_->spec().arm_of(batch_size);
  book.add(arm, known);
  return book.best(arm).limit;
}

std::uint64_t JobRecords::seed_of_next_try() {
  std::uint64_t seed = 0;
  if (kept()) {
    keep([&] { seed = job_->seed_of_next_try(); });
  }
  return seed;
}

std::optional<records::JobView> JobRecords::view() {
  std::optional<records::JobView> view;
  if (kept()) {
    keep([&] { view = job_->view(); });
  }
  return view;
}

Joules JobRecords::cost(Joules energy, Seconds time) const {
  return job_ ? job_->cost(energy, time) : Joules{};
}

}  // namespace zeus::run
