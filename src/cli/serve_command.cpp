#include "cli/serve_command.hpp"

#include "base/log.hpp"
#include "cli/input_file.hpp"
#include "command_line/options.hpp"
#include "trace/plan_file.hpp"

#include <zeus/version.hpp>

namespace zeus::cli {

void ServeCommand::declare(Options& options) {
  options.example("zeus serve", "the user's own store, to this machine alone");
  options.example("zeus serve --listen 0.0.0.0:8470 --signing-key-path key --database postgresql://zeus@db/zeus",
                  "a team's jobs, to anyone with a token");
  options.add_option("--listen", settings_.listen, "Where to listen")
      .value_name("ADDRESS:PORT|unix:PATH")
      .with_default("127.0.0.1:8470");
  options.add_option("--database", settings_.database, "The file or PostgreSQL address of the store")
      .path()
      .with_default("the user's own store")
      .value_name("FILE|URL");
  options
      .add_option("--pipeline-plan", pipeline_plan_,
                  "The clocks that pipelined trainings follow: a plan of `zeus pipeline --json`, or a freqs_*.py")
      .path();
  options.group("Who may use it");
  options
      .add_option(
          "--signing-key-path", settings_.signing_key_path,
          "The key, or a folder of keys, that tokens are signed with; without it, no tokens are asked for and only "
          "this machine is served")
      .path();
  options.add_flag("--no-tokens", settings_.no_tokens, "Serve other machines too, without asking for tokens");
  options.add_flag("--behind-proxy", settings_.behind_proxy,
                   "Trust a proxy in front: accept any host name, and do not limit connections by address");
  options.add_option("--host-name", settings_.host_names, "Another name by which clients call this server")
      .value_name("NAME");
  options.group("Bounds");
  options.add_option("--cache-mib", settings_.cache_mib, "Memory for jobs that are kept open")
      .rule({.least = 1, .most = 1048576})
      .with_default();
  options.add_option("--jobs-per-user", settings_.jobs_of_a_user, "How many jobs one user may have")
      .rule({.least = 1, .most = 1e9})
      .with_default();
  options.group("What it reports");
  options
      .add_option("--log-level", log_level_,
                  "What to log: failures alone, also what an administrator should look at, also what the server does, "
                  "also each request")
      .among({"error", "warning", "info", "debug"})
      .with_default();
  options.add_option("--metrics-per-job", metrics_per_job_, "Whether metrics report each job")
      .among({"on", "off"})
      .with_default();
}

int ServeCommand::run(Context& context) {
  settings_.metrics_per_job = metrics_per_job_ == "on";
  settings_.log_level = log_level_ == "error"     ? log::Level::error
                        : log_level_ == "warning" ? log::Level::warning
                        : log_level_ == "info"    ? log::Level::info
                                                  : log::Level::debug;
  settings_.version = zeus::version();
  if (!pipeline_plan_.empty()) {
    settings_.pipeline_plan = trace::parse_plan_file(pipeline_plan_, read_input_file(pipeline_plan_));
  }
  server::serve(settings_, {context.out, context.clock, context.environment, context.files});
  return exit_ok;
}

}  // namespace zeus::cli
