#include "store/beat_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <string_view>
#include <utility>

namespace zeus::store {

std::uint64_t BeatTable::find(JobId job, std::uint64_t recurrence) {
  const long long id = job;
  const long long number = sql(recurrence);
  long long beat = 0;
  session_ << "SELECT COALESCE(MAX(beat), 0) FROM beats WHERE job = :job AND recurrence = :recurrence",
      soci::into(beat), soci::use(id), soci::use(number);
  return static_cast<std::uint64_t>(beat);
}

std::map<std::uint64_t, std::uint64_t> BeatTable::all(JobId job) {
  const long long id = job;
  long long recurrence = 0;
  long long beat = 0;
  std::map<std::uint64_t, std::uint64_t> beats;
  soci::statement statement = (session_.prepare << "SELECT recurrence, beat FROM beats WHERE job = :job",
                               soci::into(recurrence), soci::into(beat), soci::use(id));
  statement.execute();
  while (statement.fetch()) {
    beats[static_cast<std::uint64_t>(recurrence)] = static_cast<std::uint64_t>(beat);
  }
  return beats;
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

std::vector<Instant> BeatTable::sight(JobId job, const std::string& place, std::span<const Sign> signs, Instant now) {
  const long long id = job;
  long long recurrence = 0;
  long long count = 0;
  long long since = 0;
  std::map<std::uint64_t, std::pair<std::uint64_t, Instant>> noted;
  soci::statement known =
      (session_.prepare << "SELECT recurrence, beat, since FROM sightings WHERE job = :job AND place = :place",
       soci::into(recurrence), soci::into(count), soci::into(since), soci::use(id), soci::use(place));
  known.execute();
  while (known.fetch()) {
    noted[static_cast<std::uint64_t>(recurrence)] = {static_cast<std::uint64_t>(count), Instant{since}};
  }
  std::vector<Instant> all;
  for (const Sign& sign : signs) {
    const auto one = noted.find(sign.recurrence);
    if (one != noted.end() && one->second.first == sign.count) {
      all.push_back(one->second.second);
      continue;
    }
    recurrence = sql(sign.recurrence);
    count = sql(sign.count);
    since = now.nanoseconds;
    session_ << "INSERT INTO sightings (job, recurrence, place, beat, since) "
                "VALUES (:job, :recurrence, :place, :beat, :since) ON CONFLICT (job, recurrence, place) "
                "DO UPDATE SET beat = excluded.beat, since = excluded.since",
        soci::use(id), soci::use(recurrence), soci::use(place), soci::use(count), soci::use(since);
    all.push_back(now);
  }
  return all;
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
