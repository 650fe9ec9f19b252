#include "store/store_pool.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace zeus::store {

class StorePool::Borrowed {
 public:
  explicit Borrowed(StorePool& pool) : pool_{pool}, store_{pool.take()} {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() { pool_.put_back(std::move(store_)); }

  JobStore* operator->() { return store_.get(); }

 private:
  StorePool& pool_;
  std::unique_ptr<JobStore> store_;
};

StorePool::StorePool(std::function<std::unique_ptr<JobStore>()> open, std::size_t readers)
    : open_{std::move(open)}, writer_{open_()}, most_readers_{std::max<std::size_t>(readers, 1)} {
}

std::unique_ptr<JobStore> StorePool::take() {
  std::unique_lock lock{mutex_};
  const auto take_idle = [this] {
    std::unique_ptr<JobStore> reader = std::move(idle_.back());
    idle_.pop_back();
    return reader;
  };
  returned_.wait(lock, [this] { return !idle_.empty() || open_readers_ < most_readers_; });
  if (!idle_.empty()) {
    return take_idle();
  }
  ++open_readers_;
  lock.unlock();
  std::exception_ptr failure;
  try {
    return open_();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  --open_readers_;
  returned_.notify_one();
  if (open_readers_ == 0) {
    std::rethrow_exception(failure);
  }
  // The database has no room for one more: those that there are will do.
  returned_.wait(lock, [this] { return !idle_.empty(); });
  return take_idle();
}

void StorePool::put_back(std::unique_ptr<JobStore> reader) {
  const std::scoped_lock lock{mutex_};
  idle_.push_back(std::move(reader));
  returned_.notify_one();
}

std::vector<std::string> StorePool::names() {
  return Borrowed {
    *this
  } -> names();
}

std::optional<StoredJob> StorePool::find(std::string_view name) {
  return Borrowed {
    *this
  } -> find(name);
}

StoredJob StorePool::find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now,
                                    const JobOrigin& origin) {
  if (std::optional<StoredJob> known = find(name)) {
    return std::move(*known);
  }
  return writer_->find_or_create(name, definition, now, origin);
}

// These take long, where a history is long: appends to other jobs need not wait for them where the database is one for
// several who write.
StoredJob StorePool::import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                            std::span<const records::JobEntry> entries, const JobOrigin& origin) {
  return Borrowed {
    *this
  } -> import(name, definition, created, entries, origin);
}

bool StorePool::forget(std::string_view name) {
  return Borrowed {
    *this
  } -> forget(name);
}

std::uint64_t StorePool::jobs_of(std::string_view user) {
  return Borrowed {
    *this
  } -> jobs_of(user);
}

std::vector<JobLength> StorePool::lengths() {
  return Borrowed {
    *this
  } -> lengths();
}

std::vector<records::JobEntry> StorePool::entries(JobId job, std::uint64_t after, std::size_t at_most) {
  return Borrowed {
    *this
  } -> entries(job, after, at_most);
}

bool StorePool::append(JobId job, std::uint64_t after, std::span<const records::JobEntryBody> bodies, WallTime now,
                       const Attached& attached) {
  return writer_->append(job, after, bodies, now, attached);
}

std::optional<FoundRequest> StorePool::find_request(JobId job, std::string_view key) {
  return Borrowed {
    *this
  } -> find_request(job, key);
}

std::optional<records::JobSummary> StorePool::summary(JobId job) {
  return Borrowed {
    *this
  } -> summary(job);
}

SummaryPage StorePool::summaries(const SummaryQuery& query) {
  return Borrowed {
    *this
  } -> summaries(query);
}

std::vector<std::string> StorePool::without_summary() {
  return Borrowed {
    *this
  } -> without_summary();
}

void StorePool::keep_summary(JobId job, const SummaryRow& row) {
  writer_->keep_summary(job, row);
}

void StorePool::drop_summaries() {
  writer_->drop_summaries();
}

SavingsByDay StorePool::savings(std::int64_t first, std::int64_t last) {
  return Borrowed {
    *this
  } -> savings(first, last);
}

std::optional<Snapshot> StorePool::snapshot(JobId job, std::string_view key) {
  return Borrowed {
    *this
  } -> snapshot(job, key);
}

void StorePool::keep_snapshot(JobId job, const Snapshot& snapshot) {
  writer_->keep_snapshot(job, snapshot);
}

std::optional<Snapshot> StorePool::checkpoint_before(JobId job, std::string_view key, std::uint64_t sequence) {
  return Borrowed {
    *this
  } -> checkpoint_before(job, key, sequence);
}

void StorePool::keep_checkpoint(JobId job, const Snapshot& checkpoint) {
  writer_->keep_checkpoint(job, checkpoint);
}

void StorePool::drop_snapshots() {
  writer_->drop_snapshots();
}

void StorePool::beat(JobId job, std::uint64_t recurrence, std::string_view readings, WallTime now) {
  writer_->beat(job, recurrence, readings, now);
}

std::uint64_t StorePool::beats(JobId job, std::uint64_t recurrence) {
  return Borrowed {
    *this
  } -> beats(job, recurrence);
}

std::vector<KeptBeat> StorePool::readings(std::optional<JobId> job) {
  return Borrowed {
    *this
  } -> readings(job);
}

Sighting StorePool::sight(JobId job, std::uint64_t recurrence, std::string_view place, std::uint64_t beat,
                          Instant now) {
  return writer_->sight(job, recurrence, place, beat, now);
}

}  // namespace zeus::store
