#include "tests/run/process_player.hpp"

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "drivers/session/session.hpp"
#include "records/json_reader.hpp"
#include "tests/run/scripted_program.hpp"
#include "tests/run/shown_job.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::truth {

namespace {

constexpr const char* script_job = "script";

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) {
    result.push_back(word.data());
  }
  result.push_back(nullptr);
  return result;
}

// Output goes to two files. Returns the exit code.
int run_process(std::vector<std::string> command, const Environment& environment, const std::filesystem::path& output,
                const std::filesystem::path& errors) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment.variables()) {
    variables.push_back(fmt::format("{}={}", name, value));
  }
  posix_spawn_file_actions_t files{};
  ::posix_spawn_file_actions_init(&files);
  constexpr int created = O_WRONLY | O_CREAT | O_TRUNC;
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), created, 0600);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), created, 0600);
  pid_t process = 0;
  const int failure = ::posix_spawn(&process, command.front().c_str(), &files, nullptr, pointers(command).data(),
                                    pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&files);
  int status = 0;
  if (failure != 0 || ::waitpid(process, &status, 0) != process) {
    throw Error{ErrorKind::internal, fmt::format("{} cannot be run", command.front()), "build it first"};
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class ProcessPlayer {
 public:
  ProcessPlayer(const Script& script, const ProcessPlay& play)
      : script_{script}, play_{play}, folder_{play.folder / fmt::format("{}", script.seed)} {
    std::filesystem::create_directories(folder_);
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  }

  PlayedAlone play_alone() {
    const std::filesystem::path record = folder_ / "record";
    std::vector<std::string> words{play_.zeus.string(), "run", "--json", record.string()};
    add_flags(words);
    words.insert(words.end(),
                 {"--", play_.trainer.string(), "--train-alone", fmt::format("{}", script_.seed), took_.string()});
    if (const int code = run_process(words, environment_, "/dev/null", folder_ / "errors"); code != 0) {
      throw Error{ErrorKind::internal,
                  fmt::format("zeus run ended with exit code {}: {}", code, last_line(folder_ / "errors")), "read it"};
    }
    const records::JsonForm form{.refusal = "this is not what `zeus run --json` writes"};
    const records::JsonPlace place{form};
    const std::optional<records::JsonValue> json = records::JsonValue::parse(FileTree{}.read(record.string()).value());
    std::optional<TrainingResult> result;
    records::JsonFields{*json, place}("training", result);
    return judged_alone(script_, result.value());
  }

  Played play() {
    Played played{.script = script_, .told = {}, .failure = {}};
    try {
      for (int number = 0; number < script_.recurrences; ++number) {
        recur();
        played.told.push_back(witness_.tell(shown()));
      }
    } catch (const Error& error) {
      played.failure = error.what();
    }
    played.profiled = witness_.is_profiled();
    for (const Took& took : read_took(took_)) {
      played.late.push_back(took.late / took.cost.time);
    }
    return played;
  }

 private:
  void recur() {
    const std::size_t before = read_took(took_).size();
    witness_.begin(script_);
    const int code = run_process(command(), environment_, "/dev/null", folder_ / "errors");
    const std::vector<Took> took = read_took(took_);
    for (std::size_t number = before; number < took.size(); ++number) {
      witness_.hear(took[number]);
    }
    if (constexpr int given_up = 1; code != 0 && code != given_up) {
      throw Error{ErrorKind::internal,
                  fmt::format("zeus run ended with exit code {}: {}", code, last_line(folder_ / "errors")), "read it"};
    }
  }

  [[nodiscard]] records::JobView shown() const {
    const std::filesystem::path output = folder_ / "shown";
    (void)run_process({play_.zeus.string(), "jobs", script_job, "--json"}, environment_, output, folder_ / "errors");
    return read_shown_job(FileTree{}.read(output.string()).value());
  }

  // As the user of such a script would write it.
  [[nodiscard]] std::vector<std::string> command() const {
    std::vector<std::string> words{play_.zeus.string(), "run", "--job", script_job};
    add_flags(words);
    std::vector<std::string> trainer{play_.trainer.string(), "--train", fmt::format("{}", script_.seed),
                                     took_.string()};
    if (script_.chooses_batch_size) {
      std::vector<int> sizes;
      for (const Arm& arm : script_.arms) {
        sizes.push_back(arm.batch_size);
      }
      words.insert(words.end(), {"--batch-sizes", fmt::format("{}", fmt::join(sizes, ",")), "--default-batch-size",
                                 fmt::format("{}", script_.arms[script_.usual].batch_size)});
      trainer.emplace_back("{batch_size}");
    }
    words.emplace_back("--");
    words.insert(words.end(), trainer.begin(), trainer.end());
    return words;
  }

  void add_flags(std::vector<std::string>& words) const {
    const run::PatternTexts expressions = expressions_of(script_);
    const std::array<std::pair<const char*, std::string>, 5> flags{
        {{"--eta", fmt::format("{}", script_.eta)},
         {"--metric-regex", expressions.metric},
         {"--epoch-regex", expressions.epoch},
         {"--step-regex", expressions.step},
         {"--target-metric", script_.has_target ? "0.9" : ""}}};
    for (const auto& [flag, value] : flags) {
      if (!value.empty()) {
        words.insert(words.end(), {flag, value});
      }
    }
  }

  [[nodiscard]] Environment make_environment() const {
    Environment::Variables variables = Environment::of_process().variables();
    variables.insert_or_assign("LD_LIBRARY_PATH",
                               (play_.zeus.parent_path() / "../lib/zeus/virtual").lexically_normal().string());
    variables.insert_or_assign(drivers::session_variable, session_.reference());
    for (const char* const place : {"XDG_DATA_HOME", "XDG_RUNTIME_DIR", "ZEUS_STATE_DIR"}) {
      variables.insert_or_assign(place, folder_.string());
    }
    return Environment{std::move(variables)};
  }

  static std::string last_line(const std::filesystem::path& file) {
    const std::string text = FileTree{}.read_line(file.string()).value_or("");
    return text.substr(text.rfind('\n') + 1);
  }

  Script script_;
  ProcessPlay play_;
  std::filesystem::path folder_;
  std::filesystem::path took_ = folder_ / "took";
  SystemClock clock_;
  drivers::Session session_ = drivers::Session::create(
      {.gpus = {{.model = script_.gpu}}, .spec = "", .name = "", .table = {}, .faults = {}}, clock_);
  Environment environment_ = make_environment();
  Witness witness_{script_};
};

}  // namespace

Played play_as_processes(const Script& script, const ProcessPlay& play) {
  return ProcessPlayer{script, play}.play();
}

std::array<PlayedAlone, 2> play_alone_as_processes(const Script& script, const ProcessPlay& play) {
  ProcessPlayer player{script, play};
  PlayedAlone first = player.play_alone();
  return {std::move(first), player.play_alone()};
}

}  // namespace zeus::truth
