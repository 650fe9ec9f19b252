#include "store/summary_table.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <string_view>
#include <utility>

namespace zeus::store {

namespace {

using records::DaySums;
using records::JobSummary;
using records::SavingsView;
using records::Spent;

// Limits sums so that no database rejects their squares; no real value is outside.
constexpr double most = 1e100;
constexpr double least = 1e-100;
constexpr double most_epochs = 1e40;

double storable(double value, double bound = most) {
  if (!(std::abs(value) >= least)) {
    return 0.0;  // for NaN too
  }
  return std::clamp(value, -bound, bound);
}

// Sorts unknown savings last.
constexpr double no_savings = std::numeric_limits<double>::lowest();

double saved_energy(const JobSummary& summary) {
  return summary.savings ? storable(summary.savings->energy.value()) : no_savings;
}

// The columns of a day's row, beside its keys. Each part in joules, seconds, and joules of cost.
constexpr std::array<std::pair<std::string_view, Spent DaySums::*>, 6> parts{{
    {"took", &DaySums::took},
    {"start", &DaySums::start},
    {"start_half_width", &DaySums::start_half_width},
    {"epoch", &DaySums::epoch},
    {"epoch_half_width", &DaySums::epoch_half_width},
    {"count_half_width", &DaySums::count_half_width},
}};
constexpr std::array<std::string_view, 3> quantities{"energy", "time", "cost"};

std::vector<std::string> columns() {
  std::vector<std::string> all{"job", "day", "unit", "recurrences", "energy_squares", "cost_squares"};
  for (const auto& [part, member] : parts) {
    for (const std::string_view quantity : quantities) {
      all.push_back(fmt::format("{}_{}", part, quantity));
    }
  }
  return all;
}

// The end of a page: the order, the value it is sorted by and the name, in letters that any address may contain.
std::string cursor(SummaryOrder order, const std::string& value, const std::string& name) {
  const std::string_view letter = order == SummaryOrder::name ? "n" : order == SummaryOrder::changed ? "c" : "s";
  std::string text;
  for (const char each : fmt::format("{}/{}", value, name)) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(each));
  }
  return std::string{letter} + text;
}

struct Position {
  std::string value;
  std::string name;
};

[[noreturn]] void refuse_cursor() {
  throw Error{ErrorKind::invalid_argument, "this is not a position in the requested list",
              "start with the first page, and continue with the `next` of each page"};
}

Position position(SummaryOrder order, std::string_view cursor_text) {
  const char letter = order == SummaryOrder::name ? 'n' : order == SummaryOrder::changed ? 'c' : 's';
  if (cursor_text.size() % 2 == 0 || cursor_text.front() != letter) {
    refuse_cursor();
  }
  std::string text;
  for (std::size_t index = 1; index < cursor_text.size(); index += 2) {
    unsigned char byte = 0;
    const char* const end = cursor_text.data() + index + 2;
    if (const auto read = std::from_chars(cursor_text.data() + index, end, byte, 16);
        read.ec != std::errc{} || read.ptr != end) {
      refuse_cursor();
    }
    text += static_cast<char>(byte);
  }
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || text.find('\0') != std::string::npos) {
    refuse_cursor();
  }
  return {.value = text.substr(0, slash), .name = text.substr(slash + 1)};
}

template <typename Number>
Number number_of(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, number); read.ec != std::errc{} || read.ptr != end) {
    refuse_cursor();
  }
  return number;
}

// For each quantity, the columns that `each` makes of its name (and of its squares).
std::string for_each_quantity(std::string_view each) {
  std::string text;
  for (const std::string_view quantity : quantities) {
    text += fmt::format(fmt::runtime(each), quantity,
                        quantity == "time" ? std::string{"0.0"} : fmt::format("day.{}_squares", quantity));
  }
  return text;
}

// A row that can be read no more hides no other.
void add_row(SummaryPage& page, const std::string& name, const std::string& body) {
  try {
    page.summaries.push_back(records::job_summary_from_json(body));
    return;
  } catch (const Error&) {
    // It is not a summary.
  }
  try {
    page.unreadable.push_back(
        records::record_from_json<records::UnreadableJob>(body, {.refusal = "this is not the row of such a job"}));
  } catch (const Error&) {
    page.unreadable.push_back({.name = name, .why = {}});
  }
}

constexpr long long all_days = std::numeric_limits<long long>::max();

// One row for each day, and one for all of them. Within a job errors are systematic and add up. So on a day with both
// final and open sums the error is the square of their sum: the rows' squares, and twice their product.
std::string savings_query(std::int64_t first, std::int64_t last) {
  // The unit `known` is 0, and its epochs are included. Jobs come first, so that each is read in its order.
  const std::string put_in = fmt::format(
      "SELECT day.job AS job, day.day AS day, day.unit AS unit, day.recurrences AS recurrences{} FROM summaries AS "
      "summary "
      "CROSS JOIN summary_days AS day WHERE day.job = summary.job AND day.day BETWEEN {} AND {} AND (day.unit = 0 OR "
      "day.unit = summary.counted_unit)",
      for_each_quantity(
          ", day.took_{0} AS took_{0}, day.start_{0} + CASE WHEN day.unit = 0 THEN 0.0 ELSE "
          "summary.mean * day.epoch_{0} END AS of_default_{0}, day.start_half_width_{0} AS by_start_{0}, "
          "CASE WHEN day.unit = 0 THEN 1.0 ELSE summary.mean END * day.epoch_half_width_{0} AS by_epoch_{0}, "
          "CASE WHEN day.unit = 0 THEN 0.0 ELSE summary.half_width * day.epoch_{0} END + "
          "day.count_half_width_{0} AS by_count_{0}, {1} AS squares_{0}"),
      first, last);
  const std::string of_jobs =
      "SELECT SUM(recurrences) AS recurrences" +
      for_each_quantity(
          ", SUM(took_{0}) AS took_{0}, SUM(of_default_{0}) AS of_default_{0}, SUM(by_start_{0}) AS by_start_{0}, "
          "SUM(by_epoch_{0}) AS by_epoch_{0}, SUM(by_count_{0}) AS by_count_{0}, SUM(squares_{0}) AS "
          "squares_{0}") +
      " FROM put_in GROUP BY job";
  const std::string sums =
      "SUM(recurrences) AS recurrences" +
      for_each_quantity(
          ", SUM(took_{0}) AS took_{0}, SUM(of_default_{0}) AS of_default_{0}, SUM(by_start_{0} * by_start_{0} + "
          "by_epoch_{0} * by_epoch_{0} + by_count_{0} * by_count_{0} + squares_{0}) AS squares_{0}");
  const std::string products =
      "0 AS recurrences" +
      for_each_quantity(
          ", 0.0 AS took_{0}, 0.0 AS of_default_{0}, 2.0 * (known.by_start_{0} * open.by_start_{0} + "
          "known.by_epoch_{0} * open.by_epoch_{0} + known.by_count_{0} * open.by_count_{0}) AS squares_{0}");
  return fmt::format(
      "WITH put_in AS NOT MATERIALIZED ({}), of_jobs AS ({}) SELECT day, CAST(SUM(recurrences) AS BIGINT){} FROM "
      "(SELECT "
      "day, {} FROM put_in GROUP BY day UNION ALL SELECT known.day, {} FROM put_in AS known JOIN put_in AS open ON "
      "open.job "
      "= known.job AND open.day = known.day WHERE known.unit = 0 AND open.unit <> 0 UNION ALL SELECT {}, {} FROM "
      "of_jobs) AS "
      "found WHERE recurrences IS NOT NULL GROUP BY day ORDER BY day",
      put_in, of_jobs, for_each_quantity(", SUM(took_{0}), SUM(of_default_{0}), SUM(squares_{0})"), sums, products,
      all_days, sums);
}

}  // namespace

void SummaryTable::keep(JobId job, const SummaryRow& row, std::uint64_t before) {
  if (row.all_days) {
    replace(job, row, {});
    drop_days(job);
  } else if (!replace(job, row, before)) {
    // Days that are not in the row belong to another history.
    drop(job);
    return;
  }
  put_days(job, row.days);
}

bool SummaryTable::replace(JobId job, const SummaryRow& row, const std::optional<std::uint64_t>& before) {
  const JobSummary& summary = row.summary;
  const long long id = job;
  const auto sequence = static_cast<long long>(summary.entries);
  const auto changed = static_cast<long long>(summary.changed.microseconds_since_epoch);
  const auto running = static_cast<long long>(summary.running.size());
  const double saved = saved_energy(summary);
  const records::CountedEpochs counted = summary.counted.value_or(records::CountedEpochs{});
  const auto unit = static_cast<int>(counted.unit);
  const double mean = storable(counted.mean, most_epochs);
  const double half_width = storable(counted.half_width, most_epochs);
  soci::indicator known = summary.counted ? soci::i_ok : soci::i_null;
  const std::string body = records::to_json(summary);
  soci::statement statement{session_};
  statement.alloc();
  statement.exchange(soci::use(sequence));
  statement.exchange(soci::use(changed));
  statement.exchange(soci::use(running));
  statement.exchange(soci::use(saved));
  statement.exchange(soci::use(unit, known));
  statement.exchange(soci::use(mean));
  statement.exchange(soci::use(half_width));
  statement.exchange(soci::use(body));
  statement.exchange(soci::use(id));
  const long long of = static_cast<long long>(before.value_or(0));
  if (before) {
    statement.exchange(soci::use(of));
    statement.prepare(
        "UPDATE summaries SET sequence = :sequence, changed = :changed, running = :running, saved_energy = :saved, "
        "counted_unit = :unit, mean = :mean, half_width = :half_width, body = :body WHERE job = :job AND sequence = "
        ":before",
        once);
  } else {
    statement.exchange(soci::use(summary.name));
    statement.prepare(
        "INSERT INTO summaries (sequence, changed, running, saved_energy, counted_unit, mean, half_width, body, job, "
        "name) VALUES (:sequence, :changed, :running, :saved, :unit, :mean, :half_width, :body, :job, :name) "
        "ON CONFLICT (job) DO UPDATE SET sequence = excluded.sequence, changed = excluded.changed, "
        "running = excluded.running, saved_energy = excluded.saved_energy, counted_unit = excluded.counted_unit, "
        "mean = excluded.mean, half_width = excluded.half_width, body = excluded.body",
        once);
  }
  statement.define_and_bind();
  statement.execute(true);
  return statement.get_affected_rows() > 0;
}

void SummaryTable::put_days(JobId job, const std::vector<DaySums>& days) {
  static const std::vector<std::string> all = columns();
  constexpr std::size_t at_once = 10;
  for (std::size_t first = 0; first < days.size(); first += at_once) {
    const std::size_t last = std::min(first + at_once, days.size());
    std::deque<long long> whole;
    std::deque<double> broken;
    std::vector<std::string> rows;
    soci::statement statement{session_};
    statement.alloc();
    const auto put = [&](auto& kept, auto value) { statement.exchange(soci::use(kept.emplace_back(value))); };
    for (std::size_t index = first; index < last; ++index) {
      const DaySums& sums = days[index];
      put(whole, static_cast<long long>(job));
      put(whole, static_cast<long long>(sums.day));
      put(whole, static_cast<long long>(sums.unit));
      put(whole, static_cast<long long>(sums.recurrences));
      put(broken, storable(sums.energy_squares));
      put(broken, storable(sums.cost_squares));
      for (const auto& [part, member] : parts) {
        const Spent& spent = sums.*member;
        put(broken, storable(spent.energy.value()));
        put(broken, storable(spent.time.value()));
        put(broken, storable(spent.cost.value()));
      }
      std::vector<std::string> names;
      for (const std::string& column : all) {
        names.push_back(fmt::format(":{}_{}", column, index - first));
      }
      rows.push_back(fmt::format("({})", fmt::join(names, ", ")));
    }
    std::vector<std::string> updates;
    for (const std::string& column : all) {
      updates.push_back(fmt::format("{0} = excluded.{0}", column));
    }
    statement.prepare(
        fmt::format("INSERT INTO summary_days ({}) VALUES {} ON CONFLICT (job, day, unit) DO UPDATE SET {}",
                    fmt::join(all, ", "), fmt::join(rows, ", "), fmt::join(updates, ", ")),
        once);
    statement.define_and_bind();
    statement.execute(true);
  }
}

void SummaryTable::keep_unreadable(JobId job, std::uint64_t length, const records::UnreadableJob& row) {
  drop(job);
  const long long id = job;
  const long long sequence = static_cast<long long>(length);
  const double saved = no_savings;
  const std::string body = records::json_line(row);
  session_ << "INSERT INTO summaries (job, name, sequence, changed, running, saved_energy, mean, half_width, body) "
              "VALUES (:job, :name, :sequence, 0, 0, :saved, 0.0, 0.0, :body)",
      soci::use(id), soci::use(row.name), soci::use(sequence), soci::use(saved), soci::use(body);
}

void SummaryTable::drop_days(JobId job) {
  const long long id = job;
  session_ << "DELETE FROM summary_days WHERE job = :job", soci::use(id);
}

void SummaryTable::drop(JobId job) {
  const long long id = job;
  session_ << "DELETE FROM summaries WHERE job = :job", soci::use(id);
  drop_days(job);
}

void SummaryTable::drop_all() {
  session_ << "DELETE FROM summaries";
  session_ << "DELETE FROM summary_days";
}

std::optional<std::uint64_t> SummaryTable::length(JobId job) {
  const long long id = job;
  long long sequence = 0;
  session_ << "SELECT sequence FROM summaries WHERE job = :job", soci::into(sequence), soci::use(id);
  return session_.got_data() ? std::optional{static_cast<std::uint64_t>(sequence)} : std::nullopt;
}

std::optional<JobSummary> SummaryTable::find(JobId job) {
  const long long id = job;
  std::string body;
  session_ << "SELECT body FROM summaries WHERE job = :job AND sequence = (SELECT COALESCE(MAX(sequence), 0) FROM "
              "entries WHERE entries.job = summaries.job)",
      soci::into(body), soci::use(id);
  try {
    return session_.got_data() ? std::optional{records::job_summary_from_json(body)} : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

SummaryPage SummaryTable::page(const SummaryQuery& query) {
  const bool by_changed = query.order == SummaryOrder::changed;
  const bool by_savings = query.order == SummaryOrder::savings;
  const std::string_view column = by_changed ? "changed" : by_savings ? "saved_energy" : "";
  std::vector<std::string> conditions;
  if (query.state != SummaryState::any) {
    conditions.emplace_back(query.state == SummaryState::running ? "running > 0" : "running = 0");
  }
  long long changed_at = 0;
  double saved_at = 0.0;
  Position at;
  soci::statement statement{session_};
  statement.alloc();
  if (!query.after.empty()) {
    at = position(query.order, query.after);
    if (column.empty()) {
      conditions.emplace_back("name > :name");
    } else {
      conditions.push_back(fmt::format("{0} <= :value AND ({0} < :again OR name > :name)", column));
      if (by_changed) {
        changed_at = number_of<long long>(at.value);
        statement.exchange(soci::use(changed_at));
        statement.exchange(soci::use(changed_at));
      } else {
        saved_at = number_of<double>(at.value);
        statement.exchange(soci::use(saved_at));
        statement.exchange(soci::use(saved_at));
      }
    }
    statement.exchange(soci::use(at.name));
  }
  const auto wanted = static_cast<long long>(std::min<std::size_t>(query.at_most, std::numeric_limits<int>::max() - 1));
  const long long one_more = wanted + 1;
  statement.exchange(soci::use(one_more));
  std::string name;
  long long changed = 0;
  double saved = 0.0;
  std::string body;
  statement.exchange(soci::into(name));
  statement.exchange(soci::into(changed));
  statement.exchange(soci::into(saved));
  statement.exchange(soci::into(body));
  statement.prepare(fmt::format("SELECT name, changed, saved_energy, body FROM summaries{} ORDER BY {} LIMIT :most",
                                conditions.empty() ? "" : fmt::format(" WHERE {}", fmt::join(conditions, " AND ")),
                                column.empty() ? "name" : fmt::format("{} DESC, name", column)),
                    once);
  statement.define_and_bind();
  statement.execute();
  SummaryPage page;
  std::string last;
  while (statement.fetch()) {
    if (page.summaries.size() + page.unreadable.size() == static_cast<std::size_t>(wanted)) {
      page.next = last;
      break;
    }
    add_row(page, name, body);
    last = cursor(query.order,
                  by_changed   ? fmt::format("{}", changed)
                  : by_savings ? fmt::format("{}", saved)
                               : "",
                  name);
  }
  return page;
}

std::vector<std::string> SummaryTable::without() {
  std::vector<std::string> names;
  long long lacking = 0;
  session_ << "SELECT (SELECT COUNT(*) FROM jobs) - (SELECT COUNT(*) FROM summaries)", soci::into(lacking);
  if (lacking == 0) {
    return names;
  }
  std::string name;
  soci::statement statement = (session_.prepare << "SELECT name FROM jobs WHERE NOT EXISTS (SELECT 1 FROM summaries "
                                                   "WHERE summaries.job = jobs.id) ORDER BY name",
                               soci::into(name));
  statement.execute();
  while (statement.fetch()) {
    names.push_back(name);
  }
  return names;
}

SavingsByDay SummaryTable::savings(std::int64_t first, std::int64_t last) {
  long long day = 0;
  long long recurrences = 0;
  struct Sums {
    double took = 0.0;
    double of_default = 0.0;
    double squares = 0.0;
  };
  std::array<Sums, 3> found{};
  soci::statement statement{session_};
  statement.alloc();
  statement.exchange(soci::into(day));
  statement.exchange(soci::into(recurrences));
  for (Sums& sums : found) {
    statement.exchange(soci::into(sums.took));
    statement.exchange(soci::into(sums.of_default));
    statement.exchange(soci::into(sums.squares));
  }
  statement.prepare(savings_query(first, last), once);
  statement.define_and_bind();
  statement.execute();
  SavingsByDay result;
  while (statement.fetch()) {
    const auto& [energy, time, cost] = found;
    const SavingsView view{.recurrences = static_cast<std::uint64_t>(recurrences),
                           .energy = Joules{energy.of_default - energy.took},
                           .energy_uncertainty = Joules{std::sqrt(energy.squares)},
                           .energy_of_default = Joules{energy.of_default},
                           .time = Seconds{time.of_default - time.took},
                           .time_uncertainty = Seconds{std::sqrt(time.squares)},
                           .time_of_default = Seconds{time.of_default},
                           .cost = Joules{cost.of_default - cost.took},
                           .cost_uncertainty = Joules{std::sqrt(cost.squares)},
                           .cost_of_default = Joules{cost.of_default}};
    if (day == all_days) {
      result.all = view;
    } else {
      result.days.push_back({.day = day, .savings = view});
    }
  }
  return result;
}

}  // namespace zeus::store
