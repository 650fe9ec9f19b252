#include "run/job_file.hpp"

#include "toml/nearest.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <utility>
#include <vector>

namespace zeus::run {

namespace {

namespace fs = std::filesystem;
using toml::TomlValue;

constexpr std::size_t largest_file = std::size_t{1} << 20;
constexpr std::string_view ending = ".toml";

std::vector<std::string> quoted_words(const std::string& line) {
  std::istringstream stream{line};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(fmt::format("\"{}\"", word));
  }
  return words;
}

// A command in one string would have to be split as a shell does; a list of words is exact.
void check_command(const TomlValue& table, std::string_view file) {
  const TomlValue* const command = table.find("command");
  if (command == nullptr) {
    return;
  }
  if (const auto* const line = command->as<std::string>()) {
    toml::TomlSpot{file, "command", *command}.refuse(
        "a list of words", fmt::format("write command = [{}]", fmt::join(quoted_words(*line), ", ")));
  }
}

std::optional<std::string> read_text(const FileTree& files, const fs::path& path) {
  return files.read(path.string(), largest_file);
}

// The name of the job in `table`, the content of the file at `path`.
std::string job_name_in(const TomlValue& table, const fs::path& path) {
  const TomlValue* const named = table.find("job");
  const auto* const name = named != nullptr ? named->as<std::string>() : nullptr;
  return name != nullptr ? *name : path.stem().string();
}

// Another file of this folder with a job of the same name. Files that are no job files are ignored.
std::optional<std::string> twin_of(const FileTree& files, const fs::path& path, const std::string& name) {
  for (const std::string& other : files.list(path.parent_path().string())) {
    const fs::path beside = path.parent_path() / other;
    if (!other.ends_with(ending) || beside == path) {
      continue;
    }
    try {
      const TomlValue table = TomlValue::parse(read_text(files, beside).value_or(""), other);
      if (table.find("command") != nullptr && job_name_in(table, beside) == name) {
        return other;
      }
    } catch (const Error&) {
      continue;
    }
  }
  return std::nullopt;
}

JobSettings job_at(const FileTree& files, const fs::path& path, const std::string& text, const std::string& shown,
                   std::string_view name) {
  JobSettings settings = job_from_toml(text, shown);
  const TomlValue table = TomlValue::parse(text, shown);
  const TomlValue* const named = table.find("job");
  settings.job = named != nullptr || name.empty() ? job_name_in(table, path) : std::string{name};
  if (const std::optional<std::string> twin = twin_of(files, path, *settings.job)) {
    throw Error{
        ErrorKind::invalid_argument,
        fmt::format("{}: {} is the job '{}' too",
                    toml::to_text(shown, named != nullptr ? named->place() : toml::TextPlace{}), *twin, *settings.job),
        "what is learned is kept under that name: give one of them another, as in job = \"other\""};
  }
  return settings;
}

std::vector<std::string> names_in(const FileTree& files, const fs::path& folder) {
  std::vector<std::string> names;
  for (const std::string& file : files.list(folder.string())) {
    if (file.ends_with(ending)) {
      names.push_back(file.substr(0, file.size() - ending.size()));
    }
  }
  return names;
}

}  // namespace

JobFolders job_folders(const Environment& environment, fs::path here) {
  JobFolders folders{.here = std::move(here), .own = {}};
  const auto folder = [&](std::string_view variable) -> std::optional<fs::path> {
    const std::optional<std::string> value = environment.get(variable);
    return value && fs::path{*value}.is_absolute() ? std::optional{fs::path{*value}} : std::nullopt;
  };
  if (const std::optional<fs::path> configuration = folder("XDG_CONFIG_HOME")) {
    folders.own = *configuration / "zeus" / "jobs";
  } else if (const std::optional<fs::path> home = folder("HOME")) {
    folders.own = *home / ".config" / "zeus" / "jobs";
  }
  return folders;
}

JobSettings job_from_toml(std::string_view text, std::string_view file) {
  const TomlValue table = TomlValue::parse(text, file);
  check_command(table, file);
  JobSettings settings;
  toml::read_value(toml::TomlSpot{file, {}, table}, settings);
  if (!settings.command || settings.command->empty()) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("{}: the job has no command",
                            toml::to_text(file, settings.command ? table.find("command")->place() : table.place())),
                R"(write command = ["python", "train.py"])"};
  }
  return settings;
}

JobSettings find_job(const FileTree& files, const JobFolders& folders, std::string_view name) {
  const std::string file = fmt::format("{}{}", name, ending);
  if (const std::optional<std::string> text = read_text(files, folders.here / file)) {
    return job_at(files, folders.here / file, *text, file, name);
  }
  std::string places = fmt::format("there is no {} here", file);
  std::vector<std::string> known = names_in(files, folders.here);
  if (folders.own) {
    const fs::path path = *folders.own / file;
    if (const std::optional<std::string> text = read_text(files, path)) {
      return job_at(files, path, *text, path.string(), name);
    }
    places += fmt::format(", nor in {}", folders.own->string());
    std::ranges::move(names_in(files, *folders.own), std::back_inserter(known));
  }
  const std::optional<std::string> meant = toml::nearest(name, known);
  throw Error{ErrorKind::not_found, places,
              meant ? fmt::format("did you mean @{}?", *meant)
                    : fmt::format("`zeus init {} -- CMD` makes one by watching a run of CMD", name)};
}

JobSettings read_job(const FileTree& files, const JobFolders& folders, const std::string& path, std::string_view name) {
  const fs::path absolute = folders.here / path;
  const std::optional<std::string> text = read_text(files, absolute);
  if (!text) {
    throw Error{ErrorKind::not_found, fmt::format("there is no file {}", path), "check the path"};
  }
  return job_at(files, absolute, *text, path, name);
}

}  // namespace zeus::run
