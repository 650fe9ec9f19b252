#include "store/store_pool.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace zeus::store {

namespace {

// If new connections are refused too, the cause is another one.
constexpr Seconds between_openings{1};

}  // namespace

class StorePool::Writing {
 public:
  explicit Writing(StorePool& pool) : pool_{pool} {
    Lock lock{pool.mutex_};
    pool.be_open(lock);
    ++pool.writing_;
    generation_ = pool.generation_;
    store_ = pool.writer_.get();
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  ~Writing() {
    const std::scoped_lock lock{pool_.mutex_};
    if (--pool_.writing_ == 0 && pool_.closed_) {
      pool_.changed_.notify_all();
    }
  }

  [[nodiscard]] JobStore& store() const { return *store_; }
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  StorePool& pool_;
  JobStore* store_;
  std::uint64_t generation_;
};

class StorePool::Borrowed {
 public:
  explicit Borrowed(StorePool& pool) : pool_{pool}, store_{pool.take()} {
    const std::scoped_lock lock{pool.mutex_};
    generation_ = pool.generation_;  // does not change while it is borrowed
    only_reads_ = pool.only_reads_;
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() { pool_.put_back(std::move(store_)); }

  [[nodiscard]] JobStore& store() const { return *store_; }
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  [[nodiscard]] bool only_reads() const { return only_reads_; }

 private:
  StorePool& pool_;
  std::unique_ptr<JobStore> store_;
  std::uint64_t generation_ = 0;
  bool only_reads_ = false;
};

StorePool::StorePool(PoolPlace place, std::size_t readers, Clock& clock)
    : place_{std::move(place)}, most_readers_{std::max<std::size_t>(readers, 1)}, clock_{clock} {
  Lock lock{mutex_};
  open_writer(lock, Access::create);
}

void StorePool::open_writer(Lock& lock, Access access) {
  closed_ = true;
  lock.unlock();
  std::unique_ptr<JobStore> opened;
  std::exception_ptr failure;
  const bool only_reads = is_read_only();
  try {
    opened = place_.open(only_reads ? Access::read_only : access);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  closed_ = false;
  changed_.notify_all();
  if (failure) {
    std::rethrow_exception(failure);
  }
  writer_ = std::move(opened);
  only_reads_ = only_reads;
}

void StorePool::close_all(Lock& lock) {
  closed_ = true;
  changed_.wait(lock, [this] { return writing_ == 0 && idle_.size() == open_readers_; });
  std::vector<std::unique_ptr<JobStore>> readers = std::exchange(idle_, {});
  std::unique_ptr<JobStore> writer = std::move(writer_);
  open_readers_ = 0;
  if (writer) {
    const WriteCount last = writer->written();
    written_before_.writes += last.writes;
    written_before_.flushes += last.flushes;
  }
  ++generation_;
  lock.unlock();
  readers.clear();
  writer.reset();
  lock.lock();
  closed_ = false;
  changed_.notify_all();
}

void StorePool::be_open(Lock& lock) {
  while (true) {
    changed_.wait(lock, [this] { return !closed_; });
    if (!writer_) {
      try {
        open_writer(lock, Access::existing);  // the store existed before
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::not_found) {
          throw;
        }
        throw Error{ErrorKind::unavailable, error.message(), "check that its disk is there"};
      }
    } else if (only_reads_ && !is_read_only()) {
      close_all(lock);
    } else {
      return;
    }
  }
}

bool StorePool::open_anew(std::uint64_t generation) {
  if (!place_.is_read_only || is_read_only()) {
    return false;
  }
  Lock lock{mutex_};
  changed_.wait(lock, [this] { return !closed_; });
  if (generation_ != generation) {
    return true;
  }
  const Instant now = clock_.now();
  if (opened_anew_ && now - *opened_anew_ < between_openings) {
    return false;
  }
  opened_anew_ = now;
  close_all(lock);
  return true;
}

std::unique_ptr<JobStore> StorePool::take_idle() {
  std::unique_ptr<JobStore> reader = std::move(idle_.back());
  idle_.pop_back();
  return reader;
}

std::unique_ptr<JobStore> StorePool::take() {
  Lock lock{mutex_};
  std::exception_ptr failure;
  while (true) {
    be_open(lock);
    if (!idle_.empty()) {
      return take_idle();
    }
    if (failure && open_readers_ == 0) {
      std::rethrow_exception(failure);
    }
    // If the database has no room for another connection, the existing ones must do.
    if (failure || open_readers_ == most_readers_) {
      changed_.wait(lock);
      continue;
    }
    ++open_readers_;
    lock.unlock();
    try {
      return place_.open(is_read_only() ? Access::read_only : Access::existing);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --open_readers_;
    changed_.notify_all();
  }
}

void StorePool::put_back(std::unique_ptr<JobStore> reader) {
  const std::scoped_lock lock{mutex_};
  idle_.push_back(std::move(reader));
  changed_.notify_all();
}

template <typename Work>
auto StorePool::reading(Work work) {
  while (true) {
    const Borrowed use{*this};
    // A read-only place is read on the assumption that nothing changes; the result counts only if the place still is
    // read-only.
    const auto counts = [&] { return !use.only_reads() || is_read_only(); };
    try {
      auto result = work(use.store());
      if (counts()) {
        return result;
      }
    } catch (const Error&) {
      if (counts()) {
        throw;
      }
    }
  }
}

template <typename Use, typename Work>
auto StorePool::changing(Work work) {
  std::uint64_t generation = 0;
  try {
    const Use use{*this};
    generation = use.generation();
    return work(use.store());
  } catch (const Error& error) {
    // This error means that nothing was written.
    if (error.kind() != ErrorKind::permission_denied || !open_anew(generation)) {
      throw;
    }
  }
  const Use use{*this};
  return work(use.store());
}

template <typename Work>
auto StorePool::writing(Work work) {
  return changing<Writing>(std::move(work));
}

template <typename Work>
auto StorePool::writing_beside(Work work) {
  return changing<Borrowed>(std::move(work));
}

WriteCount StorePool::written() const {
  const std::scoped_lock lock{mutex_};
  const WriteCount last = writer_ ? writer_->written() : WriteCount{};
  return {.writes = written_before_.writes + last.writes, .flushes = written_before_.flushes + last.flushes};
}

// The connection that writes was opened first.
void StorePool::check() {
  static_cast<void>(find(""));
  writing([](JobStore& store) { store.check(); });
}

std::vector<std::string> StorePool::names() {
  return reading([&](JobStore& store) { return store.names(); });
}

std::optional<StoredJob> StorePool::find(std::string_view name) {
  return reading([&](JobStore& store) { return store.find(name); });
}

StoredJob StorePool::find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now,
                                    const JobOrigin& origin) {
  if (std::optional<StoredJob> known = find(name)) {
    return std::move(*known);
  }
  return writing([&](JobStore& store) { return store.find_or_create(name, definition, now, origin); });
}

// These take long if a history is long. Appends to other jobs do not wait for them if the database allows several
// writers.
StoredJob StorePool::import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                            EntrySource& entries, const JobOrigin& origin) {
  return writing_beside([&](JobStore& store) { return store.import(name, definition, created, entries, origin); });
}

bool StorePool::forget(std::string_view name, const records::EntryRequest& request) {
  return writing_beside([&](JobStore& store) { return store.forget(name, request); });
}

std::vector<JobLength> StorePool::lengths() {
  return reading([&](JobStore& store) { return store.lengths(); });
}

std::vector<records::JobEntry> StorePool::entries(JobId job, std::uint64_t after, std::size_t at_most) {
  return reading([&](JobStore& store) { return store.entries(job, after, at_most); });
}

bool StorePool::append(JobId job, std::uint64_t after, std::span<const records::JobEntryBody> bodies, WallTime now,
                       const Attached& attached) {
  return writing([&](JobStore& store) { return store.append(job, after, bodies, now, attached); });
}

std::optional<FoundRequest> StorePool::find_request(JobId job, std::string_view key) {
  return reading([&](JobStore& store) { return store.find_request(job, key); });
}

std::optional<records::JobSummary> StorePool::summary(JobId job) {
  return reading([&](JobStore& store) { return store.summary(job); });
}

SummaryPage StorePool::summaries(const SummaryQuery& query) {
  return reading([&](JobStore& store) { return store.summaries(query); });
}

std::vector<std::string> StorePool::without_summary() {
  return reading([&](JobStore& store) { return store.without_summary(); });
}

void StorePool::keep_summary(JobId job, const SummaryRow& row) {
  writing([&](JobStore& store) { return store.keep_summary(job, row); });
}

void StorePool::keep_unreadable(std::string_view name, const std::string& why) {
  writing([&](JobStore& store) { return store.keep_unreadable(name, why); });
}

void StorePool::drop_summaries() {
  writing([&](JobStore& store) { return store.drop_summaries(); });
}

SavingsByDay StorePool::savings(std::int64_t first, std::int64_t last) {
  return reading([&](JobStore& store) { return store.savings(first, last); });
}

std::optional<Snapshot> StorePool::snapshot(JobId job, std::string_view key) {
  return reading([&](JobStore& store) { return store.snapshot(job, key); });
}

void StorePool::keep_snapshot(JobId job, const Snapshot& snapshot) {
  writing([&](JobStore& store) { return store.keep_snapshot(job, snapshot); });
}

std::optional<Snapshot> StorePool::checkpoint_before(JobId job, std::string_view key, std::uint64_t sequence) {
  return reading([&](JobStore& store) { return store.checkpoint_before(job, key, sequence); });
}

void StorePool::keep_checkpoint(JobId job, const Snapshot& checkpoint) {
  writing([&](JobStore& store) { return store.keep_checkpoint(job, checkpoint); });
}

void StorePool::drop_snapshots() {
  writing([&](JobStore& store) { return store.drop_snapshots(); });
}

void StorePool::beat(JobId job, std::uint64_t recurrence, std::string_view readings, WallTime now) {
  writing([&](JobStore& store) { return store.beat(job, recurrence, readings, now); });
}

std::map<std::uint64_t, std::uint64_t> StorePool::beats(JobId job) {
  return reading([&](JobStore& store) { return store.beats(job); });
}

std::vector<KeptBeat> StorePool::readings(std::optional<JobId> job) {
  return reading([&](JobStore& store) { return store.readings(job); });
}

std::vector<Instant> StorePool::sight(JobId job, std::string_view place, std::span<const Sign> signs, Instant now) {
  return writing([&](JobStore& store) { return store.sight(job, place, signs, now); });
}

}  // namespace zeus::store
