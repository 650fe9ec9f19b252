// Keeps jobs open between requests, and closes the least recently used ones above a limit of memory: a cache, which
// decides nothing. Any thread; a caller has a job to itself while it uses it.
#pragma once

#include "jobs/job.hpp"
#include "records/job_definition.hpp"
#include "store/job_store.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace zeus::server {

class OpenJobs {
 public:
  // The arguments must outlive it.
  OpenJobs(store::JobStore& store, const jobs::Site& site, std::size_t most_bytes);

  // Calls `work` with the job of that name; a not_found Error if there is none. If the job was forgotten elsewhere, the
  // store refuses the changes of `work`: it is then called once more, with the new job of that name.
  template <typename Work>
  auto with(const std::string& name, const Work& work) {
    {
      const Use use{*this, name, [&](std::optional<jobs::Job>& job) { find(job, name); }};
      try {
        return work(use.job());
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::not_found || !was_forgotten(use.job())) {
          throw;
        }
      }
    }
    return look_at(name, work);
  }
  // The same for work that only reads, which the store would not refuse.
  template <typename Work>
  auto look_at(const std::string& name, const Work& work) {
    const Use use{*this, name, [&](std::optional<jobs::Job>& job) {
                    if (job && was_forgotten(*job)) {
                      job.reset();
                    }
                    find(job, name);
                  }};
    return work(use.job());
  }
  // First opens the job, or creates it with this definition (jobs::Job::open).
  template <typename Work>
  auto with_defined(const std::string& name, const records::JobDefinition& definition, const store::JobOrigin& origin,
                    const Work& work) {
    const Use use{*this, name, [&](std::optional<jobs::Job>& job) {
                    job = jobs::Job::open(store_, site_, name, definition, origin);
                  }};
    return work(use.job());
  }
  // For a job that was forgotten, and may have been replaced.
  void close(const std::string& name);

  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    std::mutex mutex;  // held while the job is used
    std::optional<jobs::Job> job;
    std::size_t bytes = 0;  // at its last use; guarded by the mutex of all
  };
  using Open = std::function<void(std::optional<jobs::Job>&)>;
  class Use {
   public:
    Use(OpenJobs& jobs, std::string name, const Open& open);
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use();
    [[nodiscard]] jobs::Job& job() const { return *entry_->job; }

   private:
    OpenJobs& jobs_;
    std::string name_;
    std::shared_ptr<Entry> entry_;
    std::unique_lock<std::mutex> lock_;
  };
  void find(std::optional<jobs::Job>& job, const std::string& name) {
    if (!job) {
      job = jobs::Job::find(store_, site_, name);
    }
  }
  [[nodiscard]] bool was_forgotten(const jobs::Job& job) const {
    const std::optional<store::StoredJob> stored = store_.find(job.name());
    return !stored || stored->id != job.id();
  }

  using Entries = std::list<std::pair<std::string, std::shared_ptr<Entry>>>;  // most recently used first

  std::shared_ptr<Entry> entry(const std::string& name);
  void forget(const std::string& name, const std::shared_ptr<Entry>& entry);
  void note_size(const std::string& name, const std::shared_ptr<Entry>& entry, std::size_t bytes);

  store::JobStore& store_;
  const jobs::Site& site_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string, Entries::iterator> places_;
  std::size_t bytes_ = 0;
};

}  // namespace zeus::server
