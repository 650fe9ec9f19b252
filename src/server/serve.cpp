#include "server/serve.hpp"

#include "base/log.hpp"
#include "base/log_writer.hpp"
#include "base/random_id.hpp"
#include "base/signal_descriptor.hpp"
#include "base/systemd.hpp"
#include "base/wall_time_text.hpp"
#include "jobs/job.hpp"
#include "records/json_writer.hpp"
#include "server/server.hpp"
#include "service/access.hpp"
#include "store/open_store.hpp"
#include "tokens/credentials.hpp"
#include "transport/event_loop.hpp"
#include "transport/listener.hpp"
#include "transport/same_site.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::server {

namespace {

constexpr std::string_view usual_address{"127.0.0.1:8470"};
constexpr std::string_view unix_prefix{"unix:"};
// Below the 10 s after which a supervisor kills it.
constexpr Seconds patience_at_end{8};
constexpr Seconds patience_with_the_former{0.5};
constexpr std::size_t reading_connections = 4;  // connections to the store beside the one that writes

std::string host_of_this_machine() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string log_line(Clock& clock, log::Level level, std::string_view line) {
  records::JsonWriter json;
  json.object([&] {
    json.put("time", to_text(clock.wall()));
    json.put("level", level == log::Level::error     ? "error"
                      : level == log::Level::warning ? "warning"
                      : level == log::Level::info    ? "info"
                                                     : "debug");
    json.put("message", line);
  });
  return json.take();
}

// The sockets of the service, and their names for people.
class Sockets {
 public:
  // Delegates, so that the sockets made before one that fails are removed.
  Sockets(const ServeSettings& settings, const Environment& environment) : Sockets{} {
    for (FileDescriptor& one : inherited_sockets(environment)) {
      add("a socket of its supervisor", std::move(one));
    }
    std::vector<std::string> addresses = settings.listen;
    if (addresses.empty() && all_.empty()) {
      addresses.emplace_back(usual_address);
    }
    for (const std::string& address : addresses) {
      if (address.starts_with(unix_prefix)) {
        listen_on_unix(address.substr(unix_prefix.size()), settings);
      } else {
        listen_on_tcp(address, settings);
      }
    }
  }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  ~Sockets() {
    for (const auto& [path, listener] : unix_) {
      transport::remove_unix_socket(path, listener);
    }
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  void hand_to(Server& server) {
    for (FileDescriptor& one : std::exchange(all_, {})) {
      server.accept_on(std::move(one));
    }
  }

 private:
  Sockets() = default;

  void add(std::string name, FileDescriptor socket) {
    names_.push_back(std::move(name));
    all_.push_back(std::move(socket));
  }

  void listen_on_unix(const std::string& path, const ServeSettings& settings) {
    // With tokens, any user may connect.
    const mode_t mode = settings.signing_key_path ? 0666 : 0600;
    transport::UnixListener listener = transport::listen_on_unix(
        {.path = path, .mode = mode, .user = {}, .group = {}, .patience = patience_with_the_former});
    add(fmt::format("unix:{}", path), FileDescriptor{::dup(listener.socket.get())});
    unix_.emplace_back(path, std::move(listener));
  }

  void listen_on_tcp(const std::string& address, const ServeSettings& settings) {
    for (FileDescriptor& one : transport::listen_on_tcp(address)) {
      const std::string here = transport::address_of(one);
      if (!transport::is_loopback_name(here) && !settings.signing_key_path && !settings.no_tokens) {
        throw Error{ErrorKind::invalid_argument,
                    fmt::format("any client that reaches {} could do anything, because no tokens are required", here),
                    "name keys with --signing-key-path, listen on 127.0.0.1, or give --no-tokens if that is intended"};
      }
      add(fmt::format("http://{}", here), std::move(one));
    }
  }

  std::vector<std::string> names_;
  std::vector<FileDescriptor> all_;
  std::vector<std::pair<std::string, transport::UnixListener>> unix_;
};

service::Access read_access(const ServeSettings& settings) {
  using Names = service::Access::Names;
  // A proxy has checked the name already.
  service::Access access{.hosts = settings.host_names,
                         .names = settings.behind_proxy ? Names::unchecked : Names::without_tokens};
  access.hosts.push_back(host_of_this_machine());
  if (settings.signing_key_path) {
    access.credentials = tokens::read_credentials(*settings.signing_key_path, ::geteuid());
  }
  return access;
}

void check_settings(const ServeSettings& settings) {
  if (settings.no_tokens && settings.signing_key_path) {
    throw Error{ErrorKind::invalid_argument, "--no-tokens and --signing-key-path contradict one another",
                "leave one of them out"};
  }
}

}  // namespace

void serve(const ServeSettings& settings, const Surroundings& surroundings) {
  check_settings(settings);
  allow_many_descriptors();  // each connection needs one
  Clock& clock = surroundings.clock;
  const FileDescriptor signals = service_signals();
  service::Access access = read_access(settings);
  const std::string database =
      settings.database.empty() ? store::default_store(surroundings.environment).string() : settings.database;
  const auto store = store::open_pool(database, clock, reading_connections);
  const jobs::Site site = jobs::this_site(clock, surroundings.machine);
  std::optional<Sockets> sockets{std::in_place, settings, surroundings.environment};
  LogWriter log{STDERR_FILENO,
                [&clock](log::Level level, std::string_view line) { return log_line(clock, level, line); }};
  log::set_level(settings.log_level);
  log.begin_thread();
  const Supervisor supervisor{surroundings.environment};

  transport::EventLoop loop;
  Server server{loop,
                clock,
                *store,
                site,
                {.version = settings.version,
                 .instance = random_id(),
                 .access = std::move(access),
                 .takes_from_one_address = !settings.behind_proxy,
                 .cache_bytes = settings.cache_mib << 20,
                 .jobs_of_a_user = settings.jobs_of_a_user,
                 .metrics_per_job = settings.metrics_per_job,
                 .pipeline_plan = settings.pipeline_plan,
                 .log = settings.log_level == log::Level::debug ? &log : nullptr}};
  sockets->hand_to(server);
  bool stopping = false;
  const auto take_signal = [&](int signal) {
    if (signal == SIGHUP) {
      try {
        server.set_access(read_access(settings));
        log::info("keys and revoked tokens were read again");
      } catch (const Error& error) {
        log::error(fmt::format("the old keys and revoked tokens stay in force: {}", error.what()));
      }
    } else if (!std::exchange(stopping, true)) {
      supervisor.tell("STOPPING=1");
      server.stop(patience_at_end, [&loop] { loop.stop(); });
    }
  };
  const transport::EventLoop::Watch watch = loop.when_readable(signals.get(), [&] {
    signalfd_siginfo info{};
    while (::read(signals.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      take_signal(static_cast<int>(info.ssi_signo));
    }
  });
  surroundings.out << fmt::format("listening on {}\n", fmt::join(sockets->names(), ", ")) << std::flush;
  supervisor.tell("READY=1");
  transport::EventLoop::Watch alive;
  std::function<void()> say_alive = [&] {
    supervisor.tell("WATCHDOG=1");
    alive = loop.after(*supervisor.watchdog() / 3, say_alive);
  };
  if (supervisor.watchdog()) {
    say_alive();
  }
  loop.run();
  if (server.is_working()) {
    // A thread that waits for the store cannot be ended. As after a crash, nothing is lost that was acknowledged.
    log::warning("the store did not answer in time; requests that wait for it end without an answer");
    sockets.reset();
    log.end_thread();
    std::quick_exit(EXIT_SUCCESS);
  }
}

}  // namespace zeus::server
