#include "daemon/serve_command.hpp"

#include "base/file_descriptor.hpp"
#include "base/holder.hpp"
#include "base/log.hpp"
#include "base/log_writer.hpp"
#include "base/privileges.hpp"
#include "base/program_folder.hpp"
#include "base/signal_descriptor.hpp"
#include "base/systemd.hpp"
#include "control/ledger.hpp"
#include "control/restoration.hpp"
#include "control/state_folder.hpp"
#include "daemon/rule_files.hpp"
#include "daemon/service.hpp"
#include "setter/link/absent_gpu.hpp"
#include "setter/link/setter_process.hpp"
#include "tokens/claims.hpp"
#include "transport/listener.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

namespace zeus::daemon {

using protocol::Scope;

namespace {

// Within the 10 s that a supervisor allows; the guardian does what takes longer.
constexpr Seconds patience_at_end{8};
constexpr Seconds patience_at_start{5};
// A daemon that was killed may have left its socket to a program that it was starting.
constexpr Seconds patience_with_the_former{0.5};
// It ends at once, unless one of its drivers hangs.
constexpr Seconds patience_with_the_setter{1};

struct Devices {
  std::vector<device::DiscoveredGpu> gpus;
  std::vector<std::shared_ptr<device::CpuPackage>> cpus;
};

bool serves_gpus(const ServeOptions& options) {
  return options.enables(Scope::gpu_control) || options.enables(Scope::gpu_read);
}

// Numbers are the machine's own, whatever this process's environment says.
Devices find_devices(const ServeOptions& options, const Context& context) {
  std::vector<device::Backend*> backends;
  if (serves_gpus(options)) {
    std::ranges::copy_if(context.gpu_backends, std::back_inserter(backends), [&](const device::Backend* backend) {
      return options.gpu_backend == "auto" || backend->name() == options.gpu_backend;
    });
  }
  if (options.enables(Scope::cpu_read)) {
    backends.push_back(context.cpus);
  }
  device::Inventory inventory = device::take_inventory(backends, Environment{});
  for (const DeviceProblem& problem : inventory.problems) {
    log::warning(fmt::format("{}: {} ({})", problem.device, problem.what, problem.fix));
  }
  for (const device::BackendReport& report : inventory.backends) {
    if (report.absence && options.gpu_backend == report.name) {
      throw Error{ErrorKind::not_found, fmt::format("{}: {}", report.absence->device, report.absence->what),
                  report.absence->fix};
    }
  }
  Devices devices{setter::with_absent_gpus(std::move(inventory.gpus)), std::move(inventory.cpus)};
  // In the order in which clients number them: by the kernel's zones and not by name.
  std::ranges::stable_sort(devices.cpus, {}, [](const auto& cpu) { return cpu->identity().zone; });
  for (std::size_t i = 0; i < devices.gpus.size(); ++i) {
    devices.gpus[i].number = static_cast<int>(i);
  }
  return devices;
}

void require_rights(const ServeOptions& options) {
  if (::geteuid() == 0 ||
      (!options.enables(Scope::cpu_read) && (!options.enables(Scope::gpu_control) || options.gpu_command_overrides))) {
    return;
  }
  throw Error{ErrorKind::permission_denied, "setting GPUs and reading the energy of CPUs need root",
              "start zeusd as root, or enable gpu-read alone (--enable gpu-read)"};
}

setter::SetterPlan setter_plan(const ServeOptions& options) {
  return {.gpu_backend = serves_gpus(options) ? options.gpu_backend : "none",
          .sets = options.enables(Scope::gpu_control),
          .logs_all = options.log_requests,
          .audit_log = options.audit_log,
          .commands = options.gpu_command_overrides};
}

// Each GPU is read here and set there: both must mean the same one.
std::vector<Service::Gpu> with_seats(const std::vector<device::DiscoveredGpu>& gpus,
                                     const std::vector<setter::SetterProcess::Gpu>& seats) {
  const bool are_the_same = std::ranges::equal(
      gpus, seats, {}, [](const device::DiscoveredGpu& gpu) { return gpu.gpu->identity().uuid; },
      &setter::SetterProcess::Gpu::uuid);
  if (!are_the_same) {
    throw Error{ErrorKind::unavailable,
                fmt::format("zeusd sees {} GPUs, and its setter others ({})", gpus.size(), seats.size()),
                "a GPU came or went at this moment; start zeusd again"};
  }
  std::vector<Service::Gpu> all;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    all.push_back({gpus[i], seats[i].seat});
  }
  return all;
}

std::string host_of_this_node() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// The sockets that the daemon listens on: those that systemd has opened, or its own.
class Sockets {
 public:
  // Delegates, so that the sockets made before one that fails are removed.
  Sockets(const ServeOptions& options, const Environment& environment) : Sockets{options} {
    inherited_ = inherited_sockets(environment);
    if (options.serves("uds") && inherited_.empty()) {
      transport::UnixSocketPlan plan{.path = options.socket_path,
                                     .mode = static_cast<mode_t>(std::stoul(options.socket_permissions, nullptr, 8)),
                                     .user = {},
                                     .group = {},
                                     .patience = patience_with_the_former};
      if (options.socket_uid) {
        plan.user = static_cast<uid_t>(*options.socket_uid);
      }
      if (options.socket_gid) {
        plan.group = static_cast<gid_t>(*options.socket_gid);
      } else if (const std::optional<std::uint32_t> zeus = system_names().group("zeus"); zeus && ::geteuid() == 0) {
        plan.group = *zeus;
      }
      unix_ = transport::listen_on_unix(plan);
    }
    if (options.serves("tcp")) {
      tcp_ = transport::listen_on_tcp(options.tcp_bind_address);
    }
    admin_ = transport::listen_on_unix(
        {.path = options.admin_socket, .mode = 0600, .user = {}, .group = {}, .patience = patience_with_the_former});
    if (options.metrics_listen) {
      metrics_ = transport::listen_on_tcp(*options.metrics_listen);
    }
  }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  ~Sockets() {
    for (const auto& [path, listener] : {std::pair{&options_.socket_path, &unix_}, {&options_.admin_socket, &admin_}}) {
      if (*listener) {
        transport::remove_unix_socket(*path, **listener);
      }
    }
  }

  void hand_to(Service& service) {
    for (FileDescriptor& one : inherited_) {
      service.accept_on(std::move(one));
    }
    for (FileDescriptor& one : tcp_) {
      log::info(fmt::format("listening on {}", transport::address_of(one)));
      service.accept_on(std::move(one));
    }
    for (FileDescriptor& one : metrics_) {
      log::info(fmt::format("metrics on {}", transport::address_of(one)));
      service.accept_metrics_on(std::move(one));
    }
    if (unix_) {
      log::info(fmt::format("listening on {}", options_.socket_path));
      service.accept_on(FileDescriptor{::dup(unix_->socket.get())});
    }
    service.accept_administration_on(FileDescriptor{::dup(admin_->socket.get())});
  }

 private:
  explicit Sockets(const ServeOptions& options) : options_{options} {}

  const ServeOptions& options_;
  std::vector<FileDescriptor> inherited_;
  std::vector<FileDescriptor> tcp_;
  std::vector<FileDescriptor> metrics_;
  std::optional<transport::UnixListener> unix_;
  std::optional<transport::UnixListener> admin_;
};

// The running daemon.
class Run {
 public:
  Run(transport::EventLoop& loop, Service& service, Sockets& sockets, const Supervisor& supervisor,
      const FileDescriptor& signals, int end_of_setter)
      : loop_{loop},
        service_{service},
        sockets_{sockets},
        supervisor_{supervisor},
        signals_{signals},
        end_of_setter_{end_of_setter} {}

  // False if the setter ended before that.
  bool until_stopped() {
    const transport::EventLoop::Watch watch = loop_.when_readable(signals_.get(), [this] { take_signal(); });
    const transport::EventLoop::Watch setter = loop_.when_readable(end_of_setter_, [this] {
      has_setter_ = false;
      loop_.stop();
    });
    service_.begin(patience_at_start, [this] {
      sockets_.hand_to(service_);
      supervisor_.tell("READY=1");
      log::info("ready");
    });
    if (supervisor_.watchdog()) {
      say_alive();
    }
    loop_.run();
    return has_setter_;
  }

 private:
  void say_alive() {
    supervisor_.tell("WATCHDOG=1");
    alive_ = loop_.after(*supervisor_.watchdog() / 3, [this] { say_alive(); });
  }

  void take_signal() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo == SIGHUP) {
        reload();
      } else {
        stop();
      }
    }
  }

  void reload() {
    service_.reload([](const std::optional<Error>& error) {
      if (error) {
        log::error(fmt::format("the rules in force stay: {}", error->what()));
      } else {
        log::info("policy, keys and revoked tokens were read again");
      }
    });
  }

  void stop() {
    if (!std::exchange(stopping_, true)) {
      supervisor_.tell("STOPPING=1");
      log::info("stopping");
      service_.stop(patience_at_end, [this] { loop_.stop(); });
    }
  }

  transport::EventLoop& loop_;
  Service& service_;
  Sockets& sockets_;
  const Supervisor& supervisor_;
  const FileDescriptor& signals_;
  int end_of_setter_;
  transport::EventLoop::Watch alive_;
  bool has_setter_ = true;
  bool stopping_ = false;
};

}  // namespace

void ServeCommand::declare(command_line::Options& options) {
  options.example("zeusd serve", "on /run/zeusd/zeusd.sock");
  options.example("zeusd serve --mode uds,tcp --signing-key-path /etc/zeusd/key", "for other nodes as well");
  serve_.declare(options);
}

int ServeCommand::run(Context& context) {
  allow_many_descriptors();  // a client on a Unix socket takes two
  serve_.check();
  require_rights(serve_);
  const FileDescriptor signals = service_signals();
  std::optional<LogWriter> log{std::in_place, STDOUT_FILENO};
  log::set_level(serve_.log_requests ? log::Level::debug : log::Level::info);

  const RuleFiles files{serve_.policy, serve_.signing_key_path};
  const uid_t user = ::geteuid();
  ServicePlan plan{.access = {.hosts = serve_.host_name, .served = serve_.groups()},
                   .logs_requests = serve_.log_requests};
  plan.rules = read_rules(files, user);
  plan.read_rules = [files, user] { return read_rules(files, user); };
  plan.access.hosts.push_back(host_of_this_node());
  plan.gpu_period = Seconds{1.0 / std::max(1, serve_.gpu_power_poll_hz)};
  plan.cpu_period = Seconds{1.0 / std::max(1, serve_.cpu_power_poll_hz)};
  plan.version = context.version;
  plan.instance = tokens::random_id();
  plan.draw = tokens::random_id;
  plan.boot = boot_of(context.machine);
  const std::filesystem::path folder = control::make_state_folder(context.environment, user);
  plan.state = std::make_shared<const FileTree>(folder);
  // It keeps the rights that this process gives up before any stranger can talk to it.
  setter::SetterProcess setter{program_folder(), setter_plan(serve_)};
  std::optional<Sockets> sockets{std::in_place, serve_, context.environment};
  // Before the drivers' libraries are loaded: a thread that they start keeps what it begins with.
  keep_capabilities({});
  forbid_core_dumps();
  Devices devices = find_devices(serve_, context);
  log::info(fmt::format("{} GPUs, {} CPU packages", devices.gpus.size(), devices.cpus.size()));
  std::vector<Service::Gpu> gpus = with_seats(devices.gpus, setter.take_gpus());
  if (serve_.audit_log) {
    plan.audit = setter.audit();
  }
  log->begin_thread();

  const Supervisor supervisor{context.environment};
  bool has_setter = true;
  bool is_stuck = false;
  {
    transport::EventLoop loop;
    Service service{loop, context.clock, gpus, std::move(devices.cpus), std::move(plan)};
    has_setter = Run{loop, service, *sockets, supervisor, signals, setter.descriptor()}.until_stopped();
    is_stuck = service.is_stuck();
  }
  sockets.reset();
  if (!has_setter) {
    log::error("the setter, which sets GPUs for zeusd, has ended; the guardian puts back what it has changed");
  }
  gpus.clear();
  // A thread that is still in the driver, here or in the setter, cannot be ended: the guardian puts back what it holds.
  if (is_stuck || !setter.end(patience_with_the_setter)) {
    log::warning("a call to a driver still hangs; the guardian puts back what it has changed");
    log.reset();
    std::quick_exit(has_setter ? command_line::exit_ok : command_line::exit_failure);
  }
  return has_setter ? command_line::exit_ok : command_line::exit_failure;
}

void RestoreCommand::declare(command_line::Options& options) {
  options.example("zeusd restore", "with the options that `zeusd serve` had, so that the same commands for GPUs run");
  serve_.declare(options);
}

int RestoreCommand::run(Context& context) {
  Devices devices = find_devices(serve_, context);
  // Commands go before the drivers.
  if (serve_.gpu_command_overrides) {
    context.set_by_commands(*serve_.gpu_command_overrides, devices.gpus);
  }
  const std::optional<std::filesystem::path> folder = control::find_state_folder(context.environment, ::geteuid());
  if (!folder) {
    context.out << "nothing to put back\n";
    return command_line::exit_ok;
  }
  const control::Ledger ledger{FileTree{*folder}, context.machine};
  bool failed = false;
  for (const control::Restoration& one : control::restore_abandoned(ledger, devices.gpus, context.clock)) {
    const bool this_failed = one.result == control::Restoration::Result::failed;
    failed = failed || this_failed;
    (this_failed ? context.err : context.out)
        << fmt::format("{}: {}{}\n", one.name, to_string(one.result), this_failed ? ": " + one.why : "");
  }
  return failed ? command_line::exit_failure : command_line::exit_ok;
}

}  // namespace zeus::daemon
