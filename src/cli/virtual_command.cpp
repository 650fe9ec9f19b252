#include "cli/virtual_command.hpp"

#include "base/child_process.hpp"
#include "base/file_tree.hpp"
#include "base/program_folder.hpp"
#include "cli/output_file.hpp"
#include "command_line/options.hpp"
#include "drivers/session/fault.hpp"
#include "drivers/session/followed_groups.hpp"
#include "drivers/session/follower.hpp"
#include "drivers/session/gpu_spec.hpp"
#include "drivers/session/load_plan.hpp"
#include "drivers/session/session.hpp"
#include "drivers/session/session_name.hpp"
#include "drivers/session/truth_recorder.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <ostream>
#include <utility>
#include <vector>

namespace zeus::cli {

namespace {

constexpr const char* library_path = "LD_LIBRARY_PATH";
constexpr const char* driver_library = "libnvidia-ml.so.1";
constexpr Seconds idle_pause{3600.0};
constexpr std::size_t largest_input = std::size_t{64} << 20;
// How soon a process group made by the command is noticed.
constexpr Seconds look_at_groups{0.25};

// A session, and its name for as long as this process holds it.
struct Opened {
  std::optional<drivers::SessionName> name;
  drivers::Session session;
  bool joined = false;
};

// The folder of the drivers, found from the program: as built, or as installed.
std::filesystem::path driver_folder() {
  const std::filesystem::path program = program_folder();
  for (const char* const folder : {"../lib/zeus/virtual", ZEUS_DRIVER_FOLDER}) {
    std::filesystem::path candidate = (program / folder).lexically_normal();
    if (std::filesystem::exists(candidate / driver_library)) {
      return candidate;
    }
  }
  throw Error{ErrorKind::not_found,
              fmt::format("the virtual drivers are not beside this program ({})", program.string()),
              "install the package zeus-virtual, or build them with the program: they belong in lib/zeus/virtual"};
}

std::string read_file(const FileTree& files, const std::string& path) {
  std::optional<std::string> content = files.read(std::filesystem::absolute(path).string(), largest_input);
  if (!content) {
    throw Error{ErrorKind::not_found, fmt::format("there is no file {}", path),
                "check the path, which is relative to the current folder"};
  }
  return *std::move(content);
}

std::vector<drivers::Fault> read_faults(const FileTree& files, const std::string& path, std::size_t gpu_count) {
  const std::string content = read_file(files, path);
  std::optional<Error> refused;
  try {
    return drivers::parse_faults(content, static_cast<std::uint32_t>(gpu_count));
  } catch (const Error& error) {
    refused = error;
  }
  throw Error{refused->kind(), fmt::format("{}, {}", path, refused->message()), refused->advice()};
}

// Joins the session that already has the name.
Opened join(const drivers::SessionPlan& plan, const Clock& clock) {
  const std::optional<std::string> reference = drivers::SessionName::reference(plan.name);
  std::optional<drivers::Session> session =
      reference ? drivers::Session::adopt(*reference, clock) : std::optional<drivers::Session>{};
  if (!session) {
    throw Error{ErrorKind::conflict,
                fmt::format("the session '{}' is just ending, or belongs to another user", plan.name),
                "try again, or choose another name"};
  }
  if (session->spec() != plan.spec) {
    throw Error{ErrorKind::conflict,
                fmt::format("the session '{}' is running with {}, not {}", plan.name, session->spec(), plan.spec),
                "ask for the same GPUs to join it, or choose another name"};
  }
  return {std::nullopt, *std::move(session), true};
}

Opened open_session(const drivers::SessionPlan& plan, const Clock& clock) {
  if (plan.name.empty()) {
    return {std::nullopt, drivers::Session::create(plan, clock)};
  }
  // The session is made before its name is taken: a process that finds the name must find the session.
  drivers::Session session = drivers::Session::create(plan, clock);
  std::optional<drivers::SessionName> name = drivers::SessionName::claim(plan.name);
  return name ? Opened{std::move(name), std::move(session)} : join(plan, clock);
}

Environment environment_for(const Environment& present, const drivers::Session& session) {
  Environment::Variables variables = present.variables();
  std::string path = driver_folder().string();
  if (const std::optional<std::string> former = present.get(library_path); former && !former->empty()) {
    path += ':' + *former;
  }
  variables.insert_or_assign(library_path, path);
  variables.insert_or_assign(drivers::session_variable, session.reference());
  return Environment{std::move(variables)};
}

// The speed of the slowest GPU, because each step of a job on several GPUs waits for all of them.
double speed_of(const drivers::Session& session) {
  const Instant now = session.now();
  double speed = 1.0;
  for (std::uint32_t index = 0; index < session.gpu_count(); ++index) {
    speed = std::min(speed, session.gpu_at(index, now).operating_point(now).speed);
  }
  return speed;
}

// Waits for the command, records the true energy, and holds the command to the speed of its GPUs.
class CommandSupervisor {
 public:
  CommandSupervisor(const drivers::Session& session, ChildProcess& child, bool follows, drivers::TruthRecorder* truth)
      : session_{&session}, child_{&child}, truth_{truth} {
    if (follows) {
      follower_.emplace(session.now());
      guard_.emplace();
    }
  }

  int wait() {
    while (true) {
      if (const std::optional<int> code = child_->wait_for(next_pause())) {
        if (truth_ != nullptr) {
          truth_->record();
        }
        return *code;
      }
    }
  }

 private:
  Seconds next_pause() {
    Seconds pause = idle_pause;
    if (truth_ != nullptr) {
      truth_->record();
      pause = drivers::TruthRecorder::interval;
    }
    if (follower_) {
      const drivers::Follower::Step step = follower_->step(session_->now(), speed_of(*session_));
      if (std::exchange(running_, step.run) != step.run) {
        hold_or_let_go();
      }
      pause = std::min(pause, step.pause);
    }
    return pause;
  }

  void hold_or_let_go() {
    if (running_) {
      for (const pid_t group : groups_) {
        ::kill(-group, SIGCONT);
      }
      return;
    }
    const Instant now = session_->now();
    if (!looked_at_ || now - *looked_at_ >= look_at_groups) {
      looked_at_ = now;
      std::vector<pid_t> groups = drivers::followed_groups(drivers::read_processes(FileTree{}), child_->process());
      if (std::exchange(groups_, groups) != groups) {
        guard_->watch(groups);
      }
    }
    for (const pid_t group : groups_) {
      ::kill(-group, SIGSTOP);
    }
  }

  const drivers::Session* session_;
  ChildProcess* child_;
  drivers::TruthRecorder* truth_;
  std::vector<pid_t> groups_;  // those that are slowed; a negative number is a single process
  std::optional<Instant> looked_at_;
  std::optional<drivers::Follower> follower_;
  std::optional<drivers::ContinueGuard> guard_;
  bool running_ = true;
};

// Writing replaces the file; a device would be lost.
void check_truth_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw Error{ErrorKind::invalid_argument, fmt::format("'--truth {}' is not an ordinary file", path),
                "name a file to be written"};
  }
}

}  // namespace

void VirtualCommand::declare(Options& options) {
  options.example("zeus virtual 4xA100 -- zeus devices", "what a machine with four A100 would show");
  options.example("zeus virtual 1xH100 --load square:80-300W,200ms -- zeus measure -- sleep 5",
                  "five seconds of a load that is known, measured");
  options.footer(
      "SPEC is COUNTxMODEL, several with commas between: 4xA100, 2xV100,1xH100; 1xA100@gain=0.945 misreads by\n"
      "that factor. docs/virtual.md has the models, the format of faults, and what virtual GPUs model.\n"
      "Exits with the command's code (128+n for signal n), 125 on a failure of its own, 126 when the command\n"
      "cannot be executed, 127 when it is not found.");
  options.add_option("SPEC", gpus_, "The virtual GPUs, as 4xA100").required();
  options.add_option("CMD", command_, "The command and its arguments, after --").required();
  options
      .add_option("--load", load_,
                  "What they do: constant:200W, square:80-300W,200ms, a file.csv of seconds,watts, or follow:WORKLOAD, "
                  "at whose speed the command then advances")
      .value_name("LOAD");
  options.add_option("--faults", faults_, "A file of misbehaviour, one fault a line").path();
  options.add_option("--truth", truth_, "Where to write the true energy over time, as JSON").path();
  options.add_option("--session", session_, "A name under which further `zeus virtual` share the same GPUs")
      .value_name("NAME");
  options.add_flag("--shared", shared_, "Let processes of other users in the command use the GPUs too");
}

int VirtualCommand::failure_code() const {
  return ChildProcess::exit_own_failure;
}

int VirtualCommand::run(Context& context) {
  const FileTree files;
  drivers::SessionPlan plan;
  plan.gpus = drivers::parse_gpus(gpus_);
  plan.spec = gpus_;
  plan.name = session_.value_or("");
  plan.door = shared_ ? drivers::Admission::all_users : drivers::Admission::own_user;
  std::optional<drivers::LoadPlan> load;
  if (load_) {
    load.emplace(*load_, files);
    plan.table = load->table();
  }
  if (faults_) {
    plan.faults = read_faults(files, *faults_, plan.gpus.size());
  }
  Opened opened = open_session(plan, context.clock);
  drivers::Session& session = opened.session;
  if (opened.joined && (load_ || faults_ || shared_)) {
    throw Error{ErrorKind::conflict,
                fmt::format("the session '{}' is running, with a load, faults and users of its own", plan.name),
                "leave --load, --faults and --shared out to join it, or choose another name"};
  }
  std::optional<drivers::TruthRecorder> truth;
  std::optional<OutputFile> truth_file;
  if (truth_) {
    check_truth_path(*truth_);
    truth.emplace(session);
    truth_file.emplace(*truth_, context.out);
    if (*truth_ != "-") {
      truth_file->write(truth->json());  // something is there also if this process is killed
    }
  }
  const auto begin_load = [&] {
    const Instant now = session.now();
    for (std::uint32_t index = 0; load && index < session.gpu_count(); ++index) {
      session.set_load(index, load->load(session.model(index), now), ::getpid());
    }
  };
  const bool follows = load && load->follows();
  int code = 0;
  std::optional<std::string> why_not_run;
  {
    ChildProcess child{{.command = command_,
                        .environment = environment_for(context.environment, session),
                        .own_group = follows,
                        .before_command = begin_load}};
    code = CommandSupervisor{session, child, follows, truth ? &*truth : nullptr}.wait();
    why_not_run = child.why_not_run();
  }
  if (why_not_run) {
    context.err << "zeus: " << *why_not_run << '\n';
  }
  if (truth) {
    truth_file->write(truth->json());
  }
  return code;
}

}  // namespace zeus::cli
