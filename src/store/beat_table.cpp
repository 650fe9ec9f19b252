#include "store/beat_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <string_view>

namespace zeus::store {

std::uint64_t BeatTable::find(JobId job, std::uint64_t recurrence) {
  const long long id = job;
  const long long number = sql(recurrence);
  long long beat = 0;
  session_ << "SELECT COALESCE(MAX(beat), 0) FROM beats WHERE job = :job AND recurrence = :recurrence",
      soci::into(beat), soci::use(id), soci::use(number);
  return static_cast<std::uint64_t>(beat);
}

void BeatTable::put(const KeptBeat& beat) {
  const long long id = beat.job;
  const long long number = sql(beat.recurrence);
  const long long next = sql(beat.beat);
  const long long when = beat.written.microseconds_since_epoch;
  soci::indicator some = unless_empty(beat.readings);
  session_ << "INSERT INTO beats (job, recurrence, beat, written, readings) VALUES (:job, :recurrence, :beat, "
              ":written, :readings) ON CONFLICT (job, recurrence) DO UPDATE SET beat = excluded.beat, "
              "written = excluded.written, readings = excluded.readings WHERE beats.beat < excluded.beat",
      soci::use(id), soci::use(number), soci::use(next), soci::use(when), soci::use(beat.readings, some);
}

std::vector<KeptBeat> BeatTable::readings(std::optional<JobId> job) {
  std::vector<KeptBeat> all;
  const long long lowest = job.value_or(std::numeric_limits<JobId>::min());
  const long long highest = job.value_or(std::numeric_limits<JobId>::max());
  long long of = 0;
  long long recurrence = 0;
  long long beat = 0;
  long long written = 0;
  std::string said;
  soci::statement statement =
      (session_.prepare << "SELECT job, recurrence, beat, COALESCE(written, 0), readings FROM beats WHERE readings IS "
                           "NOT NULL AND job BETWEEN :lowest AND :highest ORDER BY job, recurrence",
       soci::into(of), soci::into(recurrence), soci::into(beat), soci::into(written), soci::into(said),
       soci::use(lowest), soci::use(highest));
  statement.execute();
  while (statement.fetch()) {
    all.push_back({.job = of,
                   .recurrence = static_cast<std::uint64_t>(recurrence),
                   .beat = static_cast<std::uint64_t>(beat),
                   .written = WallTime{written},
                   .readings = said});
  }
  return all;
}

Instant BeatTable::sight(JobId job, std::uint64_t recurrence, const std::string& place, std::uint64_t beat,
                         Instant now) {
  const long long id = job;
  const long long number = sql(recurrence);
  const long long count = sql(beat);
  const long long since = now.nanoseconds;
  long long noted = 0;
  session_ << "INSERT INTO sightings (job, recurrence, place, beat, since) "
              "VALUES (:job, :recurrence, :place, :beat, :since) ON CONFLICT (job, recurrence, place) "
              "DO UPDATE SET beat = excluded.beat, since = excluded.since WHERE sightings.beat <> excluded.beat",
      soci::use(id), soci::use(number), soci::use(place), soci::use(count), soci::use(since);
  session_ << "SELECT since FROM sightings WHERE job = :job AND recurrence = :recurrence AND place = :place",
      soci::into(noted), soci::use(id), soci::use(number), soci::use(place);
  return Instant{noted};
}

void BeatTable::drop_all_but(JobId job, std::span<const std::uint64_t> recurrences) {
  const long long id = job;
  for (const std::string_view which : {"beats", "sightings"}) {
    session_ << fmt::format(
        "DELETE FROM {} WHERE job = :job{}", which,
        recurrences.empty() ? "" : fmt::format(" AND recurrence NOT IN ({})", fmt::join(recurrences, ", "))),
        soci::use(id);
  }
}

}  // namespace zeus::store
