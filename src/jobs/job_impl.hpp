// What an open job is made of, for the files of this module. One thread at a time.
#pragma once

#include "jobs/job.hpp"
#include "jobs/job_state.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace zeus::jobs {

struct Job::Impl {
  Impl(store::JobStore& where, Site who, store::StoredJob what);

  // Applies what others have appended meanwhile, and keeps a snapshot now and then.
  void refresh();
  // Decides and appends what `decide` answers to the state as it is, as often as it takes until nobody else has
  // appended in between. `decide` answers nothing to append nothing; what it throws goes through.
  void append(const std::function<std::vector<records::JobEntryBody>(const JobState&)>& decide);

  // The recurrences whose owner is dead, and why one thinks so.
  std::vector<std::pair<const OpenRecurrence*, std::string>> find_the_dead();
  std::size_t give_up_the_dead();

  // What scripts are given as theirs, apart from the policy's draws.
  [[nodiscard]] std::uint64_t seed_of_try(std::uint64_t number) const { return state->definition().seed + 1 + number; }

  store::JobStore* store;
  Site site;
  store::StoredJob stored;
  std::unique_ptr<JobState> state;
  std::uint64_t kept = 0;  // the sequence number of the last snapshot known
};

// What ends a recurrence without a model: its running try, if any, then itself.
std::vector<records::JobEntryBody> ending(const OpenRecurrence& open, const std::string& reason);

// A name that no job can have is an invalid_argument Error.
void check_name(std::string_view name);

}  // namespace zeus::jobs
