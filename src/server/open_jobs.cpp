#include "server/open_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zeus::server {

OpenJobs::OpenJobs(store::JobStore& store, const jobs::Site& site, std::size_t most_bytes)
    : store_{store}, site_{site}, most_bytes_{most_bytes} {
}

std::shared_ptr<OpenJobs::Entry> OpenJobs::entry(const std::string& name) {
  const std::lock_guard guard{mutex_};
  if (const auto known = places_.find(name); known != places_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
    return entries_.front().second;
  }
  entries_.emplace_front(name, std::make_shared<Entry>());
  places_.emplace(name, entries_.begin());
  return entries_.front().second;
}

void OpenJobs::forget(const std::string& name, const std::shared_ptr<Entry>& entry) {
  const std::lock_guard guard{mutex_};
  const auto known = places_.find(name);
  if (known != places_.end() && known->second->second == entry) {
    bytes_ -= entry->bytes;
    entries_.erase(known->second);
    places_.erase(known);
  }
}

// Jobs in use soon are no longer the least recently used.
void OpenJobs::note_size(const std::string& name, const std::shared_ptr<Entry>& entry, std::size_t bytes) {
  const std::lock_guard guard{mutex_};
  const auto known = places_.find(name);
  if (known == places_.end() || known->second->second != entry) {
    return;
  }
  bytes_ += bytes - entry->bytes;
  entry->bytes = bytes;
  while (bytes_ > most_bytes_ && entries_.size() > 1) {
    bytes_ -= entries_.back().second->bytes;
    places_.erase(entries_.back().first);
    entries_.pop_back();
  }
}

void OpenJobs::close(const std::string& name) {
  forget(name, entry(name));
}

std::size_t OpenJobs::size() const {
  const std::lock_guard guard{mutex_};
  return entries_.size();
}

OpenJobs::Use::Use(OpenJobs& jobs, std::string name, const Open& open) : jobs_{jobs}, name_{std::move(name)} {
  entry_ = jobs_.entry(name_);
  lock_ = std::unique_lock{entry_->mutex};
  try {
    open(entry_->job);
    if (!entry_->job) {
      throw Error{ErrorKind::not_found, fmt::format("there is no job '{}'", name_), "define it first"};
    }
  } catch (...) {
    jobs_.forget(name_, entry_);
    throw;
  }
}

OpenJobs::Use::~Use() {
  jobs_.note_size(name_, entry_, entry_->job ? entry_->job->bytes() : 0);
}

}  // namespace zeus::server
