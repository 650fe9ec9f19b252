#include "cli/served_model_options.hpp"

#include "base/printable.hpp"
#include "cli/input_file.hpp"
#include "command_line/options.hpp"
#include "device/gpu_names.hpp"
#include "remote_jobs/server_address.hpp"
#include "serving/answer_stream.hpp"
#include "serving/server_process.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::cli {

namespace {

constexpr std::string_view version_of_interface = "/v1";
constexpr std::array<std::string_view, 3> side_flags{"--model", "--api-key-file", "--gpus"};

ErrorKind kind_of_status(int status) {
  return status == 401 || status == 403 ? ErrorKind::permission_denied : ErrorKind::unavailable;
}

Error refused_models(const transport::Answer& answer, const std::string& server) {
  const std::string said = printable(shortened(serving::error_text(answer.body), 200));
  return {kind_of_status(answer.status),
          fmt::format("{}/v1/models answers {} {}{}{}", server, answer.status, transport::reason_of(answer.status),
                      said.empty() ? "" : ": ", said),
          answer.status == 401 || answer.status == 403
              ? "give the server's key by --api-key-file or OPENAI_API_KEY"
              : "check that a server that speaks OpenAI's HTTP is at this URL"};
}

// None if the server answers something else than a list.
std::vector<serving::ServedModel> listed_models(std::string_view body) {
  try {
    return serving::read_models(body);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt_data) {
      throw;
    }
    return {};
  }
}

}  // namespace

void ServedModelOptions::declare(Options& options) {
  options.group(side_.empty() ? "The server" : fmt::format("Server {}", side_));
  options.add_option(side_.empty() ? "--url" : "--" + side_, url_, "Where it is, with or without /v1 at the end")
      .required()
      .value_name("URL");
  options.add_option(flag("--model"), model_, "Which of its models to ask").with_default("the only one");
  options.add_option(flag("--api-key-file"), key_file_, "A file with its key")
      .path()
      .with_default("OPENAI_API_KEY in the environment");
  options
      .add_option(flag("--gpus"), gpus_,
                  "The GPUs that it uses: by number, as `zeus devices` shows it, or by UUID; without this, those of "
                  "the process that listens at the URL's port, on this machine")
      .delimiter(',')
      .value_name("GPU,GPU");
}

std::string ServedModelOptions::find_key(const Context& context) const {
  if (!key_file_) {
    return context.environment.get("OPENAI_API_KEY").value_or("");
  }
  std::string key = read_input_file(*key_file_);
  while (!key.empty() && (key.back() == '\n' || key.back() == '\r' || key.back() == ' ')) {
    key.pop_back();
  }
  return key;
}

std::string ServedModelOptions::flag(std::string_view name) const {
  return fmt::format("{}{}{}", name, side_.empty() ? "" : "-", side_);
}

template <typename Work>
auto ServedModelOptions::for_side(const Work& work) const {
  ErrorKind kind{};
  std::string message;
  std::string advice;
  try {
    return work();
  } catch (const Error& error) {
    if (side_.empty()) {
      throw;
    }
    kind = error.kind();
    message = error.message();
    advice = error.advice();
  }
  for (const std::string_view name : side_flags) {
    if (const std::size_t place = advice.find(name); place != std::string::npos) {
      advice.replace(place, name.size(), flag(name));
    }
  }
  throw Error{kind, fmt::format("server {}: {}", side_, message), advice};
}

ModelServer ServedModelOptions::find_server(const Context& context) const {
  return for_side([&] { return ask_server(context); });
}

ModelServer ServedModelOptions::ask_server(const Context& context) const {
  const remote_jobs::ServerAddress address = remote_jobs::server_address(url_, context.environment);
  ModelServer server{
      .plan = {.server = address.endpoint,
               .token = address.token.empty() ? find_key(context) : address.token,
               .connect_time = Seconds{5},
               .answer_time = Seconds{30},
               .channel = address.authorities ? address.authorities->channel_to(address.endpoint.host_port)
                                              : transport::ChannelOver{}},
      .prefix = address.prefix,
      .shown = address.shown,
      .model = {}};
  if (server.prefix.ends_with(version_of_interface)) {
    server.prefix.resize(server.prefix.size() - version_of_interface.size());
  }
  transport::HttpClient client{server.plan};
  const transport::Answer answer = client.ask({.method = "GET", .path = server.prefix + "/v1/models"});
  // Some servers have no such list, or one that lacks models that they load when these are asked for.
  const bool is_refused = answer.status == 401 || answer.status == 403;
  if (model_.empty() || is_refused) {
    if (answer.status != 200) {
      throw refused_models(answer, server.shown);
    }
    server.model = serving::only_model(serving::read_models(answer.body));
    return server;
  }
  server.model = {.id = model_, .owner = {}};
  if (answer.status == 200) {
    for (const serving::ServedModel& listed : listed_models(answer.body)) {
      server.model = listed.id == model_ ? listed : server.model;
    }
  }
  return server;
}

std::vector<int> ServedModelOptions::find_gpus(const Context& context, const device::Inventory& inventory,
                                               const ModelServer& server) const {
  return for_side([&] {
    if (!gpus_.empty()) {
      return device::numbers_of(inventory, gpus_);
    }
    if (server.plan.server.host_port.empty()) {
      throw Error{ErrorKind::not_found, "the server is behind a socket without a port", "name its GPUs by --gpus"};
    }
    return serving::gpus_of_server(context.files, inventory, server.plan.server.host_port);
  });
}

}  // namespace zeus::cli
