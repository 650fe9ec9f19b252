// Tables of jobs' summaries and of the sums of their days. Both can be made again from jobs' histories, so inconsistent
// rows are simply dropped. For sql_store.cpp, within its transactions. One thread at a time.
#pragma once

#include "store/job_store.hpp"
#include "store/soci.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::store {

class SummaryTable {
 public:
  explicit SummaryTable(soci::session& session) : session_{session} {}

  // `before`: the number of entries when all of the row's days were last written.
  void keep(JobId job, const SummaryRow& row, std::uint64_t before);
  void keep_unreadable(JobId job, std::uint64_t length, const records::UnreadableJob& row);
  void drop(JobId job);
  void drop_all();

  // The number of entries that the summary covers.
  std::optional<std::uint64_t> length(JobId job);
  // Nothing if it is damaged: it is only a cache.
  std::optional<records::JobSummary> find(JobId job);
  SummaryPage page(const SummaryQuery& query);
  std::vector<std::string> without();
  SavingsByDay savings(std::int64_t first, std::int64_t last);

 private:
  bool replace(JobId job, const SummaryRow& row, const std::optional<std::uint64_t>& before);
  void put_days(JobId job, const std::vector<records::DaySums>& days);
  void drop_days(JobId job);

  soci::session& session_;
};

}  // namespace zeus::store
