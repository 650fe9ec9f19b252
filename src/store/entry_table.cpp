#include "store/entry_table.hpp"

#include "base/field_rule.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

namespace zeus::store {

namespace {

// The next entry of a history, as it is stored.
records::JobEntry checked_entry(std::uint64_t expected, long long sequence, long long written,
                                const std::string& body) {
  if (sequence != sql(expected)) {
    throw Error{ErrorKind::corrupt_data, fmt::format("entry {} of its history is missing", expected)};
  }
  if (!is_within(static_cast<double>(written), field::point_in_time)) {
    throw Error{ErrorKind::corrupt_data, fmt::format("entry {} of its history was not written at any time", expected)};
  }
  std::string why;
  try {
    return {.sequence = expected, .written = WallTime{written}, .body = records::job_entry_body_from_json(body)};
  } catch (const Error& error) {
    why = error.message();
  }
  throw Error{ErrorKind::corrupt_data, fmt::format("entry {} of its history: {}", expected, why)};
}

}  // namespace

std::vector<records::JobEntry> EntryTable::read(JobId job, std::uint64_t after, std::size_t at_most) {
  long long sequence = 0;
  long long written = 0;
  std::string body;
  records::EntryRequest request;
  const long long id = job;
  const long long from = sql(after);
  const auto most = static_cast<long long>(std::min<std::size_t>(at_most, std::numeric_limits<int>::max()));
  soci::statement statement{session_};
  statement.alloc();
  statement.exchange(soci::into(sequence));
  statement.exchange(soci::into(written));
  statement.exchange(soci::into(body));
  statement.exchange(soci::into(request.key));
  statement.exchange(soci::into(request.asked));
  statement.exchange(soci::use(id));
  statement.exchange(soci::use(from));
  statement.exchange(soci::use(most));
  statement.prepare(
      fmt::format("SELECT sequence, written, body, {} FROM entries WHERE job = :job AND sequence > :after "
                  "ORDER BY sequence LIMIT :most",
                  current_ ? "COALESCE(request, ''), COALESCE(asked, '')" : "'', ''"),
      once);
  statement.define_and_bind();
  statement.execute();
  std::vector<records::JobEntry> entries;
  while (statement.fetch()) {
    entries.push_back(checked_entry(after + entries.size() + 1, sequence, written, body));
    entries.back().request = request;
  }
  return entries;
}

bool EntryTable::insert(JobId job, std::uint64_t sequence, std::span<const NewEntry> entries) {
  // Enough for few round trips; SQLite searches all names of a statement for each one that is bound.
  constexpr std::size_t at_once = 25;
  const long long id = job;
  for (; !entries.empty(); entries = entries.subspan(std::min(at_once, entries.size()))) {
    const std::span<const NewEntry> some = entries.first(std::min(at_once, entries.size()));
    // Bound values must stay in place until the statement is done.
    std::deque<long long> numbers;
    std::deque<std::string> texts;
    std::deque<soci::indicator> indicators;
    std::vector<std::string> rows;
    soci::statement statement{session_};
    statement.alloc();
    const auto put = [&](std::string_view text) {
      statement.exchange(soci::use(texts.emplace_back(text), indicators.emplace_back(unless_empty(text))));
    };
    for (const NewEntry& entry : some) {
      statement.exchange(soci::use(id));
      statement.exchange(soci::use(numbers.emplace_back(sql(sequence++))));
      statement.exchange(soci::use(numbers.emplace_back(entry.written.microseconds_since_epoch)));
      put(records::to_json(*entry.body));
      put(entry.mark);
      put(entry.request->key);
      put(entry.request->asked);
      rows.push_back(
          fmt::format("(:job{0}, :sequence{0}, :written{0}, :body{0}, :mark{0}, :request{0}, :asked{0})", rows.size()));
    }
    statement.prepare(
        fmt::format("INSERT INTO entries (job, sequence, written, body, mark, request, asked) VALUES {} ON CONFLICT DO "
                    "NOTHING",
                    fmt::join(rows, ", ")),
        once);
    statement.define_and_bind();
    statement.execute(true);
    if (statement.get_affected_rows() != static_cast<long long>(some.size())) {
      return false;
    }
  }
  return true;
}

std::uint64_t EntryTable::length(JobId job) {
  const long long id = job;
  long long length = 0;
  session_ << "SELECT COALESCE(MAX(sequence), 0) FROM entries WHERE job = :job", soci::into(length),
      soci::use(id, "job");
  return static_cast<std::uint64_t>(length);
}

bool EntryTable::has_mark(JobId job, std::uint64_t sequence, const std::string& mark) {
  const long long id = job;
  const long long number = sql(sequence);
  long long entries = 0;
  session_ << "SELECT COUNT(*) FROM entries WHERE job = :job AND sequence = :sequence AND mark = :mark",
      soci::into(entries), soci::use(id, "job"), soci::use(number, "sequence"), soci::use(mark, "mark");
  return entries > 0;
}

std::optional<FoundRequest> EntryTable::find_request(JobId job, const std::string& key) {
  const long long id = job;
  long long sequence = 0;
  std::string asked;
  session_ << "SELECT sequence, COALESCE(asked, '') FROM entries WHERE job = :job AND request = :request",
      soci::into(sequence), soci::into(asked), soci::use(id), soci::use(key);
  if (!session_.got_data()) {
    return std::nullopt;
  }
  return FoundRequest{.sequence = static_cast<std::uint64_t>(sequence), .asked = asked};
}

}  // namespace zeus::store
