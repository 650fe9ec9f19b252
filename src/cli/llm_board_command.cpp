#include "cli/llm_board_command.hpp"

#include "base/amount_text.hpp"
#include "base/printable.hpp"
#include "cli/input_file.hpp"
#include "cli/output_file.hpp"
#include "command_line/options.hpp"
#include "records/json_writer.hpp"
#include "serving/board.hpp"
#include "serving/votes.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <ostream>
#include <string_view>
#include <system_error>

namespace zeus::cli {

namespace {

void leave_out(const std::string& path, std::string_view why, std::ostream& err) {
  err << fmt::format("zeus: {} is left out: {}\n", printable(path), printable(why));
}

constexpr std::string_view end_of_votes = ".jsonl";

// The files that the words name: a file itself, and of a folder those below it that end in ".json" or ".jsonl".
std::vector<std::string> files_at(const std::vector<std::string>& places, std::ostream& err) {
  std::vector<std::string> files;
  for (const std::string& place : places) {
    std::error_code error;
    if (!std::filesystem::is_directory(place, error)) {
      files.push_back(place);
      continue;
    }
    const auto skip = std::filesystem::directory_options::skip_permission_denied;
    std::vector<std::string> below;
    for (auto entry = std::filesystem::recursive_directory_iterator{place, skip, error};
         !error && entry != std::filesystem::recursive_directory_iterator{}; entry.increment(error)) {
      std::error_code unknown;
      const auto end = entry->path().extension();
      if ((end != ".json" && end != end_of_votes) || entry->is_directory(unknown)) {
        continue;
      }
      if (entry->is_regular_file(unknown)) {
        below.push_back(entry->path().string());
      } else {
        leave_out(entry->path().string(), "it is not a file", err);
      }
    }
    if (error) {
      leave_out(place, fmt::format("not all below it can be read: {}", error.message()), err);
    }
    std::ranges::sort(below);
    files.insert(files.end(), below.begin(), below.end());
  }
  return files;
}

struct Found {
  std::vector<serving::BoardEntry> entries;
  std::vector<serving::Vote> votes;
};

Found found_at(const std::vector<std::string>& places, std::ostream& err) {
  Found found;
  for (const std::string& file : files_at(places, err)) {
    try {
      if (!file.ends_with(end_of_votes)) {
        found.entries.push_back({.name = file, .result = serving::bench_result_from_json(read_input_file(file))});
        continue;
      }
      const serving::ReadVotes read = serving::read_votes(read_input_file(file));
      found.votes.insert(found.votes.end(), read.votes.begin(), read.votes.end());
      if (read.unread_lines > 0) {
        leave_out(file, fmt::format("{} of its lines: they are not votes", read.unread_lines), err);
      }
    } catch (const Error& error) {
      leave_out(file, error.message(), err);
    }
  }
  return found;
}

std::string energy_text(const std::optional<Energy>& energy) {
  return energy ? to_text(energy->value, energy->uncertainty) : "-";
}

std::string median_text(const std::optional<serving::Times>& times) {
  return times ? fmt::format("{:.4g}", Milliseconds{times->p50.value}.value()) : "-";
}

std::string votes_text(const std::vector<serving::VoteCounts>& votes) {
  std::string text;
  for (const serving::VoteCounts& one : votes) {
    text += fmt::format(
        "{} votes: {} for {}, {} for {}, {} for neither; {} times the better answer was worth the energy that it took "
        "more, {} times not\n",
        one.votes(), one.first_better, printable(one.first), one.second_better, printable(one.second), one.neither,
        one.worth, one.not_worth);
  }
  return text;
}

std::string board_text(const std::vector<serving::BoardEntry>& entries) {
  std::size_t widest = 3;
  for (const serving::BoardEntry& entry : entries) {
    widest = std::max(widest, printable(entry.name).size());
  }
  std::string text = fmt::format("{:<{}}  {:<16} {:>20} {:>20} {:>16} {:>18}  {}\n", "run", widest, "load", "per token",
                                 "per answer", "first token, ms", "between tokens, ms", "model");
  for (const serving::BoardEntry& entry : entries) {
    const serving::SteadyFigures& steady = entry.result.steady;
    text += fmt::format("{:<{}}  {:<16} {:>20} {:>20} {:>16} {:>18}  {}\n", printable(entry.name), widest,
                        serving::load_text(entry.result), energy_text(steady.energy_per_output_token),
                        energy_text(steady.energy_per_answer), median_text(steady.time_to_first_token),
                        median_text(steady.time_between_tokens), printable(entry.result.model));
  }
  return text;
}

std::string board_json(const std::vector<serving::BoardEntry>& entries, const std::vector<serving::VoteCounts>& votes) {
  records::JsonWriter json;
  json.object([&] {
    json.put_list("results", entries, [&](const serving::BoardEntry& entry) {
      const std::vector<std::size_t> best = serving::frontier(entries, entry.result.model);
      const auto place = static_cast<std::size_t>(&entry - entries.data());
      json.object([&] {
        json.put("name", entry.name);
        json.put("on_frontier", std::ranges::find(best, place) != best.end());
        json.put("result", entry.result);
      });
    });
    json.put("votes", votes);
  });
  return json.take();
}

}  // namespace

void LlmBoardCommand::declare(Options& options) {
  options.example("zeus llm board results --html board.html", "all results below a folder, as a page");
  options
      .add_option("DIR", places_,
                  "Folders with results of `zeus llm bench --json` and votes of `zeus llm arena`, or such files "
                  "themselves")
      .required()
      .no_command()
      .path();
  options.add_option("--html", html_, "Write a page to look at").path().value_name("FILE|-");
  options.add_option("--json", json_, "Write all results as JSON to a file, or - for standard output")
      .path()
      .value_name("FILE|-");
}

int LlmBoardCommand::run(Context& context) {
  std::optional<OutputFile> html;
  std::optional<OutputFile> json;
  if (html_) {
    html.emplace(*html_, context.out);
  }
  if (json_) {
    json.emplace(*json_, context.out);
  }
  const auto [entries, all_votes] = found_at(places_, context.err);
  if (entries.empty() && all_votes.empty()) {
    throw Error{ErrorKind::not_found, "there is no result of zeus llm bench, and no vote of zeus llm arena",
                "write some by `zeus llm bench --json FILE`"};
  }
  const std::vector<serving::VoteCounts> votes = serving::count_votes(all_votes);
  if (html) {
    html->write(serving::board_page(entries, votes));
  }
  if (json) {
    json->write(board_json(entries, votes) + '\n');
  }
  if (html_ != "-" && json_ != "-") {
    context.out << (entries.empty() ? "" : board_text(entries)) << votes_text(votes);
  }
  return exit_ok;
}

}  // namespace zeus::cli
