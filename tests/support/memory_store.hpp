// A store of jobs in memory, for tests whose subject is not the store. One thread.
#pragma once

#include "store/job_store.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zeus::test {

class MemoryStore final : public store::JobStore {
 public:
  [[nodiscard]] std::string location() const override { return "in memory"; }
  void check() override {}
  std::vector<std::string> names() override {
    std::vector<std::string> names;
    std::ranges::transform(jobs_, std::back_inserter(names), &store::StoredJob::name);
    std::ranges::sort(names);
    return names;
  }
  std::optional<store::StoredJob> find(std::string_view name) override {
    const auto place = std::ranges::find(jobs_, name, &store::StoredJob::name);
    return place == jobs_.end() ? std::nullopt : std::optional{*place};
  }
  store::StoredJob find_or_create(std::string_view name, const records::JobDefinition& definition, WallTime now,
                                  const store::JobOrigin& origin) override {
    if (const std::optional<store::StoredJob> known = find(name)) {
      return *known;
    }
    const auto is_theirs = [&](const store::StoredJob& one) { return one.origin.user == origin.user; };
    if (origin.most_jobs && !origin.user.empty() &&
        static_cast<std::uint64_t>(std::ranges::count_if(jobs_, is_theirs)) >= *origin.most_jobs) {
      throw store::TooManyJobs{*origin.most_jobs};
    }
    histories_.emplace_back();
    return jobs_.emplace_back(store::StoredJob{.id = static_cast<store::JobId>(histories_.size() - 1),
                                               .name = std::string{name},
                                               .definition = definition,
                                               .created = now,
                                               .origin = origin});
  }
  store::StoredJob import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                          store::EntrySource& entries, const store::JobOrigin& origin) override {
    std::vector<records::JobEntry> all;
    entries.rewind();
    for (auto some = entries.next(); !some.empty(); some = entries.next()) {
      all.insert(all.end(), some.begin(), some.end());
    }
    store::StoredJob made = find_or_create(name, definition, created, origin);
    history(made.id) = std::move(all);
    return made;
  }
  // It does not remember requests that forgot a job.
  bool forget(std::string_view name, const records::EntryRequest& /*request*/) override {
    return std::erase_if(jobs_, [&](const store::StoredJob& one) { return one.name == name; }) > 0;
  }
  std::vector<records::JobEntry> entries(store::JobId job, std::uint64_t after, std::size_t at_most) override {
    const std::vector<records::JobEntry>& all = history(job);
    const std::size_t first = std::min(static_cast<std::size_t>(after), all.size());
    const std::size_t last = first + std::min(at_most, all.size() - first);
    return {all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(last)};
  }
  bool append(store::JobId job, std::uint64_t after, std::span<const records::JobEntryBody> bodies, WallTime now,
              const store::Attached& attached) override {
    std::vector<records::JobEntry>& all = history(job);
    if (all.size() != after || find_request(job, attached.request.key)) {
      return false;
    }
    for (const records::JobEntryBody& body : bodies) {
      all.push_back({.sequence = all.size() + 1,
                     .written = now,
                     .body = body,
                     .request = all.size() == after ? attached.request : records::EntryRequest{}});
    }
    return true;
  }
  std::optional<store::FoundRequest> find_request(store::JobId job, std::string_view key) override {
    for (const records::JobEntry& entry : history(job)) {
      if (!key.empty() && entry.request.key == key) {
        return store::FoundRequest{.sequence = entry.sequence, .asked = entry.request.asked};
      }
    }
    return std::nullopt;
  }
  std::vector<store::JobLength> lengths() override {
    std::vector<store::JobLength> lengths;
    for (const store::StoredJob& one : jobs_) {
      lengths.push_back({.id = one.id, .name = one.name, .length = history(one.id).size()});
    }
    return lengths;
  }
  // It keeps no caches, since they may vanish at any time.
  std::optional<records::JobSummary> summary(store::JobId /*job*/) override { return {}; }
  store::SummaryPage summaries(const store::SummaryQuery& /*query*/) override { return {}; }
  std::vector<std::string> without_summary() override { return names(); }
  void keep_summary(store::JobId /*job*/, const store::SummaryRow& /*row*/) override {}
  void keep_unreadable(std::string_view /*name*/, const std::string& /*why*/) override {}
  void drop_summaries() override {}
  store::SavingsByDay savings(std::int64_t /*first*/, std::int64_t /*last*/) override { return {}; }
  std::optional<store::Snapshot> snapshot(store::JobId /*job*/, std::string_view /*key*/) override { return {}; }
  void keep_snapshot(store::JobId /*job*/, const store::Snapshot& /*snapshot*/) override {}
  std::optional<store::Snapshot> checkpoint_before(store::JobId /*job*/, std::string_view /*key*/,
                                                   std::uint64_t /*sequence*/) override {
    return {};
  }
  void keep_checkpoint(store::JobId /*job*/, const store::Snapshot& /*checkpoint*/) override {}
  void drop_snapshots() override {}
  void beat(store::JobId /*job*/, std::uint64_t recurrence, std::string_view /*readings*/, WallTime /*now*/) override {
    ++beats_[recurrence];
  }
  std::map<std::uint64_t, std::uint64_t> beats(store::JobId /*job*/) override { return beats_; }
  std::vector<store::KeptBeat> readings(std::optional<store::JobId> /*job*/) override { return {}; }
  std::vector<Instant> sight(store::JobId /*job*/, std::string_view /*place*/, std::span<const store::Sign> signs,
                             Instant now) override {
    return std::vector<Instant>(signs.size(), now);
  }

 private:
  std::vector<records::JobEntry>& history(store::JobId job) { return histories_[static_cast<std::size_t>(job)]; }

  std::vector<store::StoredJob> jobs_;
  std::vector<std::vector<records::JobEntry>> histories_;
  std::map<std::uint64_t, std::uint64_t> beats_;
};

}  // namespace zeus::test
