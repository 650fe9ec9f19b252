#include "store/job_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zeus::store {

std::vector<std::string> JobTable::names() {
  std::vector<std::string> names;
  std::string name;
  soci::statement statement = (session_.prepare << "SELECT name FROM jobs ORDER BY name", soci::into(name));
  statement.execute();
  while (statement.fetch()) {
    names.push_back(name);
  }
  return names;
}

std::vector<JobLength> JobTable::lengths() {
  long long id = 0;
  std::string name;
  long long length = 0;
  std::vector<JobLength> lengths;
  soci::statement statement = (session_.prepare << "SELECT id, name, (SELECT COALESCE(MAX(sequence), 0) FROM entries "
                                                   "WHERE job = jobs.id) FROM jobs",
                               soci::into(id), soci::into(name), soci::into(length));
  statement.execute();
  while (statement.fetch()) {
    lengths.push_back({.id = id, .name = name, .length = static_cast<std::uint64_t>(length)});
  }
  return lengths;
}

std::optional<StoredJob> JobTable::find(const std::string& name) {
  long long id = 0;
  std::string found;
  std::string definition;
  long long created = 0;
  // What was computed from a history shows that it was at least as long: a damaged store may have lost its end.
  long long length = 0;
  long long summarized = 0;
  long long folded = 0;
  JobOrigin origin;
  const auto longest = [](std::string_view table) {
    return fmt::format("(SELECT COALESCE(MAX(sequence), 0) FROM {} WHERE job = jobs.id)", table);
  };
  session_ << fmt::format(
      "SELECT id, name, definition, created, {}, {}, {}, {} FROM jobs WHERE name = :name", longest("entries"),
      current_ ? longest("summaries") : "0", longest("snapshots"),
      current_ ? "COALESCE(made_by, ''), COALESCE(request, ''), COALESCE(asked, '')" : "'', '', ''"),
      soci::into(id), soci::into(found), soci::into(definition), soci::into(created), soci::into(length),
      soci::into(summarized), soci::into(folded), soci::into(origin.user), soci::into(origin.request.key),
      soci::into(origin.request.asked), soci::use(name, "name");
  if (!session_.got_data()) {
    return std::nullopt;
  }
  return StoredJob{.id = id,
                   .name = found,
                   .definition = records::job_definition_from_json(definition),
                   .created = WallTime{created},
                   .length = static_cast<std::uint64_t>(std::max({length, summarized, folded})),
                   .origin = origin};
}

std::uint64_t JobTable::count_of(const std::string& user) {
  long long count = 0;
  if (current_) {
    session_ << "SELECT COUNT(*) FROM jobs WHERE made_by = :user", soci::into(count), soci::use(user);
  }
  return static_cast<std::uint64_t>(count);
}

std::optional<JobId> JobTable::lock(const std::string& name) {
  long long id = 0;
  session_ << fmt::format("SELECT id FROM jobs WHERE name = :name{}", dialect_.lock_row), soci::into(id),
      soci::use(name, "name");
  return session_.got_data() ? std::optional<JobId>{id} : std::nullopt;
}

bool JobTable::lock(JobId job, std::string_view how) {
  long long id = job;
  session_ << fmt::format("SELECT id FROM jobs WHERE id = :id{}", how), soci::into(id), soci::use(id, "id");
  return session_.got_data();
}

bool JobTable::insert(const std::string& name, const records::JobDefinition& definition, WallTime created,
                      const JobOrigin& origin, const std::string& mark) {
  const std::string text = records::to_json(definition);
  const long long when = created.microseconds_since_epoch;
  soci::indicator has_user = unless_empty(origin.user);
  soci::indicator has_request = unless_empty(origin.request.key);
  long long id = 0;
  session_ << "INSERT INTO jobs (name, definition, created, mark, made_by, request, asked) VALUES (:name, :definition, "
              ":created, :mark, :user, :request, :asked) ON CONFLICT (name) DO NOTHING RETURNING id",
      soci::into(id), soci::use(name), soci::use(text), soci::use(when), soci::use(mark),
      soci::use(origin.user, has_user), soci::use(origin.request.key, has_request),
      soci::use(origin.request.asked, has_request);
  return session_.got_data();
}

bool JobTable::lock_user(const std::string& user, bool waits) {
  const std::string_view how = waits ? dialect_.lock_user : dialect_.lock_user_if_free;
  if (how.empty()) {
    return true;
  }
  long long held = 0;
  session_ << std::string{how}, soci::into(held), soci::use(user, "user");
  return session_.got_data();
}

bool JobTable::has_mark(const std::string& name, const std::string& mark) {
  long long found = 0;
  session_ << "SELECT COUNT(*) FROM jobs WHERE name = :name AND mark = :mark", soci::into(found),
      soci::use(name, "name"), soci::use(mark, "mark");
  return found > 0;
}

void JobTable::remove(JobId job) {
  const long long id = job;
  for (const std::string_view table :
       {"entries", "snapshots", "checkpoints", "beats", "sightings", "summaries", "summary_days"}) {
    session_ << fmt::format("DELETE FROM {} WHERE job = :job", table), soci::use(id);
  }
  session_ << "DELETE FROM jobs WHERE id = :job", soci::use(id);
}

}  // namespace zeus::store
