#include "jobs/transfer.hpp"

#include "jobs/job.hpp"
#include "jobs/job_impl.hpp"
#include "jobs/job_state.hpp"
#include "jobs/keeper.hpp"
#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace zeus::jobs {

namespace {

[[noreturn]] void refuse_line(std::size_t line, std::string_view why) {
  throw Error{ErrorKind::corrupt_data, fmt::format("line {} is not part of an exported job: {}", line, why),
              "export the job again with `zeus jobs NAME export`"};
}

// Calls `read` for line `number`; an Error names that line.
template <typename Read>
auto reading(std::size_t number, Read read) {
  std::string why;
  try {
    return read();
  } catch (const Error& error) {
    why = error.message();
  }
  refuse_line(number, why);
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
    fields("created_us", self.created_us, field::point_in_time);
    fields("definition", self.definition);
  }
};

// The last line.
struct End {
  std::uint64_t entries = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("end", self.entries);
  }
};

bool is_end(std::string_view line, std::uint64_t entries) {
  try {
    return records::record_from_json<End>(line, {.refusal = "this is not the end"}).entries == entries;
  } catch (const Error&) {
    return false;
  }
}

std::string heading_line(const std::string& name, const records::JobDefinition& definition, WallTime created) {
  return records::json_line(
             Heading{.name = name, .created_us = created.microseconds_since_epoch, .definition = definition}) +
         "\n";
}

std::string end_line(std::uint64_t entries) {
  return records::json_line(End{.entries = entries}) + "\n";
}

TextPieces pieces_of(std::string_view text) {
  const auto left = std::make_shared<std::string_view>(text);
  return {.rewind = [left, text] { *left = text; },
          .next = [left] { return std::exchange(*left, std::string_view{}); }};
}

// The lines of an export that comes in arbitrary pieces.
class Lines {
 public:
  explicit Lines(const TextPieces& text) : text_{text} { text_.rewind(); }

  // Nothing at the end.
  std::optional<std::string> next() {
    std::string line;
    while (true) {
      if (piece_.empty()) {
        piece_ = text_.next();
      }
      if (piece_.empty()) {
        if (line.empty()) {
          return std::nullopt;
        }
        break;
      }
      const std::size_t end = std::min(piece_.find('\n'), piece_.size());
      line += piece_.substr(0, end);
      const bool is_whole = end < piece_.size();
      piece_.remove_prefix(std::min(end + 1, piece_.size()));
      if (line.size() > longest_line) {
        refuse_line(number_ + 1, "it is too long");
      }
      if (is_whole) {
        break;
      }
    }
    ++number_;
    return line;
  }
  // The number of the last line read.
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  static constexpr std::size_t longest_line = std::size_t{4} << 20;

  const TextPieces& text_;
  std::string_view piece_;
  std::size_t number_ = 0;
};

// Reads an export and keeps the state of the job as read so far.
class ExportReading {
 public:
  explicit ExportReading(const TextPieces& text) : lines_{text} {
    const std::optional<std::string> line = lines_.next();
    if (!line) {
      refuse_line(1, "the text is empty");
    }
    reading(1, [&] {
      Heading heading =
          records::record_from_json<Heading>(*line, {.refusal = "this is not the heading", .not_json = {}});
      name_ = std::move(heading.name);
      definition_ = normalized(heading.definition);
      created_ = WallTime{heading.created_us};
      return 0;
    });
    state_.emplace(definition_);
    ahead_ = lines_.next();
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const records::JobDefinition& definition() const { return definition_; }
  [[nodiscard]] WallTime created() const { return created_; }
  [[nodiscard]] const JobState& state() const { return *state_; }

  // Nothing after the last entry, once the end has been checked.
  std::optional<records::JobEntry> next() {
    if (!ahead_) {
      refuse_line(lines_.number(), cut_short);
    }
    const std::size_t number = lines_.number();
    const std::string line = *std::exchange(ahead_, lines_.next());
    if (!ahead_) {
      if (!is_end(line, count_)) {
        refuse_line(number, cut_short);
      }
      ahead_ = line;  // so that the next call finds the end again
      return std::nullopt;
    }
    ++count_;
    return reading(number, [&] {
      records::JobEntry entry = records::job_entry_from_json(line);
      state_->apply(entry);
      return entry;
    });
  }

 private:
  static constexpr std::string_view cut_short = "the last line is missing: the text was cut short";

  Lines lines_;
  std::string name_;
  records::JobDefinition definition_;
  WallTime created_;
  std::optional<JobState> state_;
  std::optional<std::string> ahead_;
  std::uint64_t count_ = 0;
};

// The entries of an import: those read, and the end of what was running there.
class ImportedEntries final : public store::EntrySource {
 public:
  ImportedEntries(const TextPieces& text, WallTime now) : text_{text}, now_{now} {}

  void rewind() override {
    reading_.emplace(text_);
    is_over_ = false;
  }
  std::span<const records::JobEntry> next() override {
    constexpr std::size_t at_once = 100;
    some_.clear();
    while (!is_over_ && some_.size() < at_once) {
      if (std::optional<records::JobEntry> entry = reading_->next()) {
        last_ = entry->sequence;
        some_.push_back(*std::move(entry));
      } else {
        is_over_ = true;
        give_up();
      }
    }
    return some_;
  }

 private:
  void give_up() {
    for (const OpenRecurrence& open : reading_->state().open()) {
      for (records::JobEntryBody& body : ending(open, "it was running where the job was exported")) {
        some_.push_back({.sequence = ++last_, .written = now_, .body = std::move(body)});
      }
    }
  }

  const TextPieces& text_;
  WallTime now_;
  std::optional<ExportReading> reading_;
  std::vector<records::JobEntry> some_;
  std::uint64_t last_ = 0;
  bool is_over_ = false;
};

}  // namespace

std::string export_text(const ExportedJob& job) {
  std::string text = heading_line(job.name, job.definition, job.created);
  for (const records::JobEntry& entry : job.entries) {
    text += records::to_json(entry) + "\n";
  }
  return text + end_line(job.entries.size());
}

ExportedJob exported_job_from(std::string_view text) {
  const TextPieces pieces = pieces_of(text);
  ExportReading reading{pieces};
  ExportedJob job{
      .name = reading.name(), .definition = reading.definition(), .created = reading.created(), .entries = {}};
  while (std::optional<records::JobEntry> entry = reading.next()) {
    job.entries.push_back(*std::move(entry));
  }
  return job;
}

JobExport::JobExport(store::JobStore& store, std::string_view name) : store_{store} {
  std::optional<store::StoredJob> known = reading(store, name, [&] { return store.find(name); });
  if (!known) {
    throw no_job(std::string{name});
  }
  job_ = *std::move(known);
}

std::string JobExport::next() {
  constexpr std::size_t at_once = 500;
  if (!std::exchange(began_, true)) {
    return heading_line(job_.name, job_.definition, job_.created);
  }
  if (told_ == job_.length) {
    return std::exchange(is_over_, true) ? std::string{} : end_line(job_.length);
  }
  std::string text;
  const std::vector<records::JobEntry> some = reading(store_, job_.name, [&] {
    return store_.entries(job_.id, told_, std::min<std::size_t>(at_once, job_.length - told_));
  });
  if (some.empty()) {
    if (store_.find(job_.name)) {
      throw UnreadableJob{store_.location(), job_.name,
                          fmt::format("entry {} of its history is missing, which has {}", told_ + 1, job_.length)};
    }
    throw Error{ErrorKind::not_found, fmt::format("the job '{}' was forgotten meanwhile", job_.name),
                "`zeus jobs` lists those there are"};
  }
  for (const records::JobEntry& entry : some) {
    text += records::to_json(entry) + "\n";
  }
  told_ += some.size();
  return text;
}

std::string export_job(store::JobStore& store, std::string_view name) {
  JobExport pieces{store, name};
  std::string text;
  for (std::string piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
    text += piece;
  }
  return text;
}

store::StoredJob import_job(store::JobStore& store, const Site& site, std::string_view name, const TextPieces& text,
                            const store::JobOrigin& origin) {
  check_name(name);
  const ExportReading heading{text};
  ImportedEntries entries{text, site.clock.wall()};
  store::StoredJob stored = store.import(name, heading.definition(), heading.created(), entries, origin);
  try {
    if (std::optional<Job> job = Job::find(store, site, name)) {
      job->summary();
    }
  } catch (const Error&) {
    // Only a cache; a list computes the summaries that are missing.
  }
  return stored;
}

store::StoredJob import_job(store::JobStore& store, const Site& site, std::string_view name, std::string_view text,
                            const store::JobOrigin& origin) {
  return import_job(store, site, name, pieces_of(text), origin);
}

}  // namespace zeus::jobs
