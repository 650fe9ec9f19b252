#include "cli/watch_command.hpp"

#include "backends/zeusd/daemon_place.hpp"
#include "base/printable.hpp"
#include "cli/live_screen.hpp"
#include "cli/node_watch.hpp"
#include "cli/watch_table.hpp"
#include "command_line/options.hpp"
#include "command_line/terminal_style.hpp"
#include "tls/authorities.hpp"
#include "transport/host_port.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <ostream>
#include <set>

namespace zeus::cli {

namespace {

// Nodes are asked twice for each picture, so that it is recent, and at least this often: a node that is away is shown
// as missing within three seconds.
constexpr Seconds longest_period{1};
constexpr Seconds connect_time{1.5};
constexpr Seconds answer_time{3};

constexpr std::string_view https{"https://"};

// "HOST:PORT", "https://HOST:PORT", or a socket's path, perhaps after the word that other programs put before it.
transport::Endpoint endpoint_of(const std::string& node) {
  constexpr std::string_view word{"unix:"};
  constexpr std::string_view http{"http://"};
  std::error_code unknown;
  transport::Endpoint server;
  if (node.starts_with(https) || node.starts_with(http)) {
    server.host_port = node.substr(node.starts_with(https) ? https.size() : http.size());
  } else if (node.starts_with(word)) {
    server.unix_path = node.substr(word.size());
  } else if (std::filesystem::is_socket(node, unknown)) {
    server.unix_path = node;
  } else {
    server = transport::Endpoint::from(node);
  }
  if (server.unix_path.empty() && transport::split_host_port(server.host_port).port == "0") {
    throw Error{ErrorKind::invalid_argument, fmt::format("{} is not an address", in_quotes(node)),
                "no program listens on port 0"};
  }
  return server;
}

std::vector<transport::ClientPlan> plans_of(const std::vector<std::string>& nodes, const Environment& environment) {
  const std::string token = backends::zeusd::zeusd_token(environment);
  std::shared_ptr<const tls::Authorities> authorities;
  std::vector<transport::ClientPlan> plans;
  std::set<std::string> names;
  for (const std::string& node : nodes) {
    const transport::Endpoint server = endpoint_of(node);
    if (!names.insert(server.name()).second) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("{} is named twice, and would be counted twice", in_quotes(node)), "name each node once"};
    }
    plans.push_back({.server = server, .token = token, .connect_time = connect_time, .answer_time = answer_time});
    if (node.starts_with(https)) {
      authorities = authorities ? authorities : tls::Authorities::of(environment);
      plans.back().channel = authorities->channel_to(server.host_port);
    }
  }
  return plans;
}

WatchMoment watch_moment(const std::vector<std::unique_ptr<NodeWatch>>& watches, const Clock& clock, Instant start) {
  WatchMoment moment;
  moment.time = static_cast<double>(clock.wall().microseconds_since_epoch) * 1e-6;
  moment.monotonic = clock.now() - Instant{};
  moment.elapsed = clock.now() - start;
  for (const auto& watch : watches) {
    moment.nodes.push_back(watch->node());
  }
  return moment;
}

// No node has ever answered.
bool is_in_vain(const WatchMoment& moment) {
  return std::ranges::none_of(moment.nodes, [](const WatchedNode& node) { return node.daemon.has_value(); });
}

}  // namespace

void WatchCommand::declare(Options& options) {
  options.example("zeus watch node1:4938 node2:4938", "two nodes, once a second");
  options.example("zeus watch /run/zeusd/zeusd.sock --interval 10s --json", "this one, for a program");
  options.footer(
      "A node is HOST:PORT, https://HOST:PORT, or the path of a zeusd's socket. Runs until it is\n"
      "interrupted, or q is pressed; arrows and page keys scroll. Energy counts from the start; sums\n"
      "say which nodes are missing. ZEUSD_TOKEN, or the file that ZEUSD_TOKEN_FILE names, has the\n"
      "token for nodes that ask for one; ZEUS_CA_FILE names the authorities to trust in place of\n"
      "the system's.");
  options.add_option("NODE", nodes_, "Where a zeusd listens").required().no_command();
  options.add_option("--interval", interval_, "Time between two pictures, in seconds, or as 200ms")
      .rule({.least = 0.1, .most = 86400})
      .with_default()
      .value_name("S");
  options.add_option("--duration", duration_, "Stop after this long")
      .rule({.least = 0.0, .most = 1e9, .above_least = true})
      .value_name("S");
  options.add_flag("--json", json_, "Print one JSON object a line, and no table");
  add_color_option(options, color_);
}

int WatchCommand::run(Context& context) {
  const std::vector<transport::ClientPlan> plans = plans_of(nodes_, context.environment);
  Moments moments{context.clock, interval_, duration_};
  const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  const command_line::TerminalStyle style = command_line::terminal_style(color_, context.environment, is_terminal);
  std::vector<std::unique_ptr<NodeWatch>> watches;
  for (const transport::ClientPlan& plan : plans) {
    watches.push_back(std::make_unique<NodeWatch>(context.clock, plan, std::min(interval_ / 2.0, longest_period)));
  }
  WatchMoment moment;
  {
    const auto viewer =
        style.live && !json_ ? std::make_unique<Viewer>(context.out, style.colour) : std::unique_ptr<Viewer>{};
    bool go_on = true;
    while (go_on) {
      go_on = moments.wait(viewer.get());
      moment = watch_moment(watches, context.clock, moments.start());
      if (json_) {
        context.out << watch_json(moment) << '\n' << std::flush;
      } else if (viewer) {
        viewer->show({.text =
                          [moment](const std::optional<Screen>& screen) {
                            return watch_table(moment, screen.value_or(Screen{}));
                          },
                      .rows = watch_rows(moment),
                      .rows_shown = [moment](const Screen& screen) { return watch_rows_shown(moment, screen); }});
      } else if (const std::optional<Screen> fitting = paper(is_terminal, style.colour)) {
        context.out << watch_table(moment, *fitting) << '\n' << std::flush;
      } else {
        context.out << watch_lines(moment) << std::flush;
      }
      if (!context.out) {
        break;  // the reader has closed the pipe
      }
    }
  }
  for (const auto& watch : watches) {
    watch->stop();
  }
  if (is_in_vain(moment)) {
    std::string reasons;
    for (const WatchedNode& node : moment.nodes) {
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", node.name, node.missing.value_or(""));
    }
    throw Error{ErrorKind::unavailable, "no node has answered: " + reasons,
                "see that zeusd runs there, and that this user may reach it"};
  }
  return exit_ok;
}

}  // namespace zeus::cli
