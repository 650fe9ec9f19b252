#include "jobs/stored_keeper.hpp"

#include "jobs/job.hpp"
#include "jobs/redefinition.hpp"
#include "jobs/transfer.hpp"
#include "store/job_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace zeus::jobs {

namespace {

class StoredKeeper final : public Keeper {
 public:
  // A null store has no jobs.
  StoredKeeper(std::string location, std::unique_ptr<store::JobStore> store, Clock& clock, const FileTree& machine)
      : location_{std::move(location)}, store_{std::move(store)}, site_{this_site(clock, machine)} {}

  [[nodiscard]] std::string location() const override { return store::shown_location(location_); }

  std::optional<records::JobDefinition> find(const std::string& job) override {
    Job* const found = find_open(job);
    if (found == nullptr) {
      return std::nullopt;
    }
    found->refresh();
    return found->definition();
  }
  void define(const std::string& job, const records::JobDefinition& definition) override {
    Job opened = Job::open(*store_, site_, job, definition);
    open_.erase(job);
    open_.emplace(job, std::move(opened));
  }
  std::unique_ptr<RecurrenceLink> begin(const std::string& job, const records::JobDevice& device) override {
    Job& found = open(job);
    found.refresh();
    return std::make_unique<KeptRecurrence>(found, found.begin(device));
  }

  records::JobView view(const std::string& job) override { return open(job).view(); }
  records::JobView view_of_recurrence(const std::string& job, std::uint64_t recurrence) override {
    records::JobView all = open(job).view();
    keep_alone(all, recurrence);
    return all;
  }
  std::string exported(const std::string& job) override { return export_job(*store_, job); }
  std::vector<records::ReportedChange> redefine(const std::string& job,
                                                const records::JobDefinition& definition) override {
    return reported(open(job).redefine(definition));
  }
  void leave_out(const std::string& job, std::uint64_t recurrence, const std::string& reason) override {
    open(job).leave_out(recurrence - 1, reason);
  }
  void forget(const std::string& job) override {
    open_.erase(job);
    if (!store_->forget(job)) {
      throw no_job(job);
    }
  }

  std::vector<records::JobSummary> summaries(const LeftOut& left_out) override {
    return store_ == nullptr ? std::vector<records::JobSummary>{} : jobs::summaries(*store_, site_, left_out);
  }
  bool has(const std::string& job) override {
    const std::vector<std::string> names = store_->names();
    return std::ranges::find(names, job) != names.end();
  }
  std::uint64_t import(const std::string& job, const std::string& text) override {
    return import_job(*store_, site_, job, text).length;
  }

 private:
  // Null if there is none.
  Job* find_open(const std::string& job) {
    auto found = open_.find(job);
    if (found == open_.end()) {
      std::optional<Job> stored = Job::find(*store_, site_, job);
      if (!stored) {
        return nullptr;
      }
      found = open_.emplace(job, std::move(*stored)).first;
    }
    return &found->second;
  }
  Job& open(const std::string& job) {
    Job* const found = find_open(job);
    if (found == nullptr) {
      throw no_job(job);
    }
    return *found;
  }

  std::string location_;
  std::unique_ptr<store::JobStore> store_;
  Site site_;
  std::map<std::string, Job> open_;  // those that were asked for
};

}  // namespace

std::unique_ptr<Keeper> stored_keeper(const std::string& location, store::Access access, Clock& clock,
                                      const FileTree& machine) {
  return std::make_unique<StoredKeeper>(location, store::open_store(location, access, clock), clock, machine);
}

std::unique_ptr<Keeper> empty_keeper(const std::string& location, Clock& clock, const FileTree& machine) {
  return std::make_unique<StoredKeeper>(location, nullptr, clock, machine);
}

Error no_job(const std::string& job) {
  return {ErrorKind::not_found, fmt::format("there is no job '{}'", job), "`zeus jobs` lists those there are"};
}

void keep_alone(records::JobView& view, std::uint64_t recurrence) {
  std::erase_if(view.recurrences, [recurrence](const auto& one) { return one.number != recurrence; });
  std::erase_if(view.tries, [recurrence](const auto& one) { return one.recurrence != recurrence; });
}

}  // namespace zeus::jobs
