#include "jobs/transfer.hpp"

#include "jobs/job_impl.hpp"
#include "jobs/job_state.hpp"
#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace zeus::jobs {

namespace {

[[noreturn]] void refuse(std::size_t line, std::string_view why) {
  throw Error{ErrorKind::corrupt_data, fmt::format("line {} is not of an exported job: {}", line, why),
              "export the job again with `zeus jobs NAME export`"};
}

// Reads line `number` by `read`; an Error is said to be of that line.
template <typename Read>
auto reading(std::size_t number, Read read) {
  std::string why;
  try {
    return read();
  } catch (const Error& error) {
    why = error.message();
  }
  refuse(number, why);
}

// The first line.
struct Heading {
  std::string name;
  std::int64_t created_us = 0;
  records::JobDefinition definition;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields.version(1, "zeus_job");
    fields("name", self.name);
    fields("created_us", self.created_us);
    fields("definition", self.definition);
  }
};

// The last one.
struct End {
  std::uint64_t entries = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("end", self.entries);
  }
};

bool is_end(std::string_view line, std::size_t entries) {
  try {
    return records::record_from_json<End>(line, {.refusal = "this is not the end"}).entries == entries;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string export_text(const ExportedJob& job) {
  std::string text = records::json_line(Heading{
                         .name = job.name,
                         .created_us = job.created.microseconds_since_epoch,
                         .definition = job.definition,
                     }) +
                     "\n";
  for (const records::JobEntry& entry : job.entries) {
    text += records::to_json(entry) + "\n";
  }
  return text + records::json_line(End{.entries = job.entries.size()}) + "\n";
}

ExportedJob exported_job_from(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (lines.empty()) {
    refuse(1, "there is none");
  }
  ExportedJob job = reading(1, [&] {
    Heading heading =
        records::record_from_json<Heading>(lines.front(), {.refusal = "this is not the heading", .not_json = {}});
    return ExportedJob{.name = std::move(heading.name),
                       .definition = normalized(heading.definition),
                       .created = WallTime{heading.created_us},
                       .entries = {}};
  });
  JobState state{job.definition};
  for (std::size_t index = 1; index + 1 < lines.size(); ++index) {
    reading(index + 1, [&] {
      job.entries.push_back(records::job_entry_from_json(lines[index]));
      state.apply(job.entries.back());
    });
  }
  if (lines.size() < 2 || !is_end(lines.back(), job.entries.size())) {
    refuse(lines.size(), "the end is missing, so the text was cut short");
  }
  return job;
}

std::string export_job(store::JobStore& store, std::string_view name) {
  const std::optional<store::StoredJob> known = store.find(name);
  if (!known) {
    throw Error{ErrorKind::not_found, fmt::format("there is no job '{}'", name), "`zeus jobs` lists those there are"};
  }
  return export_text({.name = known->name,
                      .definition = known->definition,
                      .created = known->created,
                      .entries = store.entries(known->id, 0, std::numeric_limits<std::size_t>::max())});
}

store::StoredJob import_job(store::JobStore& store, std::string_view name, std::string_view text, WallTime now) {
  check_name(name);
  ExportedJob job = exported_job_from(text);
  JobState state{job.definition};
  for (const records::JobEntry& entry : job.entries) {
    state.apply(entry);
  }
  for (const OpenRecurrence& open : state.open()) {
    for (records::JobEntryBody& body : ending(open, "it was running where the job was exported")) {
      job.entries.push_back({.sequence = job.entries.size() + 1, .written = now, .body = std::move(body)});
    }
  }
  return store.import(name, job.definition, job.created, job.entries);
}

}  // namespace zeus::jobs
