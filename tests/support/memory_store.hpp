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
  store::StoredJob find_or_create(std::string_view name, const records::JobDefinition& definition,
                                  WallTime now) override {
    if (const std::optional<store::StoredJob> known = find(name)) {
      return *known;
    }
    histories_.emplace_back();
    return jobs_.emplace_back(store::StoredJob{.id = static_cast<store::JobId>(histories_.size() - 1),
                                               .name = std::string{name},
                                               .definition = definition,
                                               .created = now});
  }
  store::StoredJob import(std::string_view name, const records::JobDefinition& definition, WallTime created,
                          std::span<const records::JobEntry> entries) override {
    store::StoredJob made = find_or_create(name, definition, created);
    history(made.id).assign(entries.begin(), entries.end());
    return made;
  }
  bool forget(std::string_view name) override {
    return std::erase_if(jobs_, [&](const store::StoredJob& one) { return one.name == name; }) > 0;
  }
  std::vector<records::JobEntry> entries(store::JobId job, std::uint64_t after, std::size_t at_most) override {
    const std::vector<records::JobEntry>& all = history(job);
    const std::size_t first = std::min(static_cast<std::size_t>(after), all.size());
    const std::size_t last = first + std::min(at_most, all.size() - first);
    return {all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(last)};
  }
  bool append(store::JobId job, std::uint64_t after, std::span<const records::JobEntryBody> bodies,
              WallTime now) override {
    std::vector<records::JobEntry>& all = history(job);
    if (all.size() != after) {
      return false;
    }
    for (const records::JobEntryBody& body : bodies) {
      all.push_back({.sequence = all.size() + 1, .written = now, .body = body});
    }
    return true;
  }
  std::optional<store::Snapshot> snapshot(store::JobId /*job*/, std::string_view /*key*/) override { return {}; }
  void keep_snapshot(store::JobId /*job*/, const store::Snapshot& /*snapshot*/) override {}
  void drop_snapshots() override {}
  void beat(store::JobId /*job*/, std::uint64_t recurrence) override { ++beats_[recurrence]; }
  std::uint64_t beats(store::JobId /*job*/, std::uint64_t recurrence) override { return beats_[recurrence]; }
  store::Sighting sight(store::JobId /*job*/, std::uint64_t /*recurrence*/, std::string_view /*place*/,
                        std::uint64_t beat, Instant now) override {
    return {.beat = beat, .since = now};
  }

 private:
  std::vector<records::JobEntry>& history(store::JobId job) { return histories_[static_cast<std::size_t>(job)]; }

  std::vector<store::StoredJob> jobs_;
  std::vector<std::vector<records::JobEntry>> histories_;
  std::map<std::uint64_t, std::uint64_t> beats_;
};

}  // namespace zeus::test
