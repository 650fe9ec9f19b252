#include "cli/llm_arena_command.hpp"

#include "base/file_descriptor.hpp"
#include "base/signal_descriptor.hpp"
#include "command_line/options.hpp"
#include "device/inventory.hpp"
#include "measure/devices.hpp"
#include "measure/windows.hpp"
#include "serving/arena.hpp"
#include "serving/votes.hpp"
#include "transport/event_loop.hpp"
#include "transport/listener.hpp"
#include "transport/same_site.hpp"

#include <zeus/error.hpp>
#include <zeus/measure.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

namespace zeus::cli {

namespace {

std::vector<FileDescriptor> loopback_sockets(const std::string& address) {
  std::vector<FileDescriptor> sockets = transport::listen_on_tcp(address);
  for (const FileDescriptor& socket : sockets) {
    if (const std::string here = transport::address_of(socket); !transport::is_loopback_name(here)) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("{} can be reached from other machines, and the arena asks for no token", here),
                  "listen on 127.0.0.1; others come through SSH (`ssh -L 8480:127.0.0.1:8480 HOST`)"};
    }
  }
  return sockets;
}

bool have_one_in_common(const std::vector<int>& some, const std::vector<int>& others) {
  return std::ranges::any_of(some, [&](int one) { return std::ranges::find(others, one) != others.end(); });
}

}  // namespace

void LlmArenaCommand::declare(Options& options) {
  options.example("zeus llm arena --a http://127.0.0.1:8000 --b http://127.0.0.1:8001", "two servers on this machine");
  options.footer(
      "Serves the page to this machine until an interrupt (Ctrl-C) or SIGTERM. Servers without a GPU in common\n"
      "answer at once, others one after the other. `zeus llm board` counts the votes.");
  for (ServedModelOptions& server : servers_) {
    server.declare(options);
  }
  options.group("The arena");
  options.add_option("--listen", listen_, "Where the page is; only this machine may reach it")
      .with_default()
      .value_name("ADDRESS:PORT");
  options.add_option("--votes", votes_, "The file that votes are appended to").path().with_default();
  options.add_option("--max-tokens", max_tokens_, "The most tokens of an answer")
      .rule({.least = 1.0, .most = 1e6})
      .with_default();
  options.add_option("--answer-time", answer_time_, "How long an answer may take")
      .rule(field::above_zero)
      .with_default("120s");
}

int LlmArenaCommand::run(Context& context) {
  std::array<ModelServer, 2> servers{servers_[0].find_server(context), servers_[1].find_server(context)};
  std::vector<FileDescriptor> sockets = loopback_sockets(listen_);
  serving::VoteFile votes{votes_};
  const FileDescriptor signals = service_signals();
  const device::Inventory inventory = device::take_inventory(context.backends, context.environment);
  const auto source = std::make_shared<measure::SamplerSource>(measure::visible_devices(inventory), context.clock);
  std::array<std::vector<int>, 2> gpus;
  std::vector<Monitor> monitors;
  serving::ArenaPlan plan{.seed = static_cast<std::uint64_t>(context.clock.wall().microseconds_since_epoch)};
  for (std::size_t side = 0; side < 2; ++side) {
    gpus.at(side) = servers_.at(side).find_gpus(context, inventory, servers.at(side));
    monitors.push_back(measure::monitor_of(source, {.gpus = gpus.at(side), .cpus = std::vector<int>{}}));
    const ModelServer& server = servers.at(side);
    plan.sides.at(side) = {
        .url = server.shown,
        .plan = {.server = server.plan,
                 .prefix = server.prefix,
                 .request = {.model = server.model.id, .max_tokens = max_tokens_, .seed = plan.seed % 1'000'000'000},
                 .answer_time = answer_time_}};
  }
  for (std::size_t side = 0; side < 2; ++side) {
    plan.sides.at(side).monitor = &monitors[side];
  }
  plan.at_once = !have_one_in_common(gpus[0], gpus[1]);
  const Monitor::Listening listening = monitors[0].listen();
  transport::EventLoop loop;
  serving::Arena arena{loop, context.clock, std::move(plan), votes};
  context.out << fmt::format("the arena is at http://{}; votes go to {}\n", transport::address_of(sockets.front()),
                             votes_)
              << std::flush;
  for (FileDescriptor& socket : sockets) {
    arena.accept_on(std::move(socket));
  }
  const transport::EventLoop::Watch watch = loop.when_readable(signals.get(), [&loop] { loop.stop(); });
  loop.run();
  return exit_ok;
}

}  // namespace zeus::cli
