// The summaries of jobs and the sums of their days, as tables: made anew at any time from jobs' histories, so whatever
// does not fit together is dropped. For sql_store.cpp, within its transactions. One thread at a time.
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

  // Of a history that had `before` entries when the row's days were last all written.
  void keep(JobId job, const SummaryRow& row, std::uint64_t before);
  void drop(JobId job);
  void drop_all();

  // How many entries it is of.
  std::optional<std::uint64_t> length(JobId job);
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
