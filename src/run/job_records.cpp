#include "run/job_records.hpp"

#include "jobs/job.hpp"
#include "store/job_store.hpp"
#include "store/open_store.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace zeus::run {

namespace {

// Without a policy on the command line, the job keeps the policy that it began with.
jobs::Job open_job(store::JobStore& store, const jobs::Site& site, const RunOptions& options,
                   const records::JobDevice& device) {
  if (options.policy.empty()) {
    if (std::optional<jobs::Job> known = jobs::Job::find(store, site, options.job)) {
      known->refresh();
      return jobs::Job::open(store, site, options.job, definition_of(options, device, &known->definition()));
    }
  }
  return jobs::Job::open(store, site, options.job, definition_of(options, device));
}

// For a store that this process opens.
class StoredRecords final : public JobRecords {
 public:
  StoredRecords(const RunOptions& options, const records::JobDevice& device, const Place& place)
      : store_{store::open_store(
            options.store.empty() ? store::default_store(place.environment).string() : options.store,
            store::Access::create, place.clock)},
        site_{jobs::this_site(place.clock, place.machine)},
        job_{open_job(*store_, site_, options, device)} {
    jobs::Recurrence recurrence = job_.begin(device);
    number_ = recurrence.number();
    recurrence_ = std::make_unique<jobs::KeptRecurrence>(job_, std::move(recurrence));
  }

  [[nodiscard]] std::uint64_t number() const override { return number_; }
  std::unique_ptr<jobs::RecurrenceLink> take_recurrence() override { return std::move(recurrence_); }
  records::JobView recurrence_view() override {
    records::JobView view = job_.view();
    keep_alone(view, number_ + 1);
    return view;
  }

 private:
  std::unique_ptr<store::JobStore> store_;
  jobs::Site site_;
  jobs::Job job_;
  std::uint64_t number_ = 0;
  std::unique_ptr<jobs::RecurrenceLink> recurrence_;
};

}  // namespace

void keep_alone(records::JobView& view, std::uint64_t recurrence) {
  std::erase_if(view.recurrences, [recurrence](const auto& one) { return one.number != recurrence; });
  std::erase_if(view.tries, [recurrence](const auto& one) { return one.recurrence != recurrence; });
}

std::unique_ptr<JobRecords> open_stored_records(const RunOptions& options, const records::JobDevice& device,
                                                const Place& place) {
  return std::make_unique<StoredRecords>(options, device, place);
}

}  // namespace zeus::run
