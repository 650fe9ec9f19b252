// The table of jobs' histories. For sql_store.cpp, within its transactions. One thread at a time.
#pragma once

#include "store/job_store.hpp"
#include "store/soci.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::store {

// The contents of an entry's row; the caller owns what it refers to.
struct NewEntry {
  WallTime written;
  const records::JobEntryBody* body;
  const records::EntryRequest* request;
  std::string_view mark;
};

class EntryTable {
 public:
  // Tables that are not `current` have no marks and no requests.
  explicit EntryTable(soci::session& session, bool current = true) : session_{session}, current_{current} {}

  std::vector<records::JobEntry> read(JobId job, std::uint64_t after, std::size_t at_most);
  // Inserts them, numbered from `sequence` on. False if one of these numbers or requests exists: some rows may have
  // been inserted, and the transaction must be rolled back.
  bool insert(JobId job, std::uint64_t sequence, std::span<const NewEntry> entries);
  std::uint64_t length(JobId job);
  bool has_mark(JobId job, std::uint64_t sequence, const std::string& mark);
  std::optional<FoundRequest> find_request(JobId job, const std::string& key);

 private:
  soci::session& session_;
  bool current_;
};

}  // namespace zeus::store
