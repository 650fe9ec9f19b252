#include "daemon/client.hpp"

#include "base/file_tree.hpp"
#include "base/holder.hpp"
#include "control/descent.hpp"

#include <fmt/format.h>
#include <poll.h>

namespace zeus::daemon {

Client client_of(const service::Call& call) {
  Client client;
  if (const std::optional<transport::LocalPeer>& peer = call.peer().local) {
    client.user = peer->user;
    client.groups = peer->groups;
    client.groups.push_back(peer->group);
    if (peer->process) {
      client.process = ClientProcess{peer->pid, peer->started, peer->process};
    }
  }
  if (const std::optional<tokens::Claims>& claims = call.visitor().claims) {
    client.token = claims->subject;
    client.bearer = call.visitor().bearer;
  }
  return client;
}

std::optional<ClientKey> key_of(const Client& client) {
  if (client.process && client.process->started != 0) {
    return ClientKey{.pid = client.process->pid, .started = client.process->started, .token = {}};
  }
  if (client.token) {
    return ClientKey{.token = *client.token};
  }
  return std::nullopt;
}

bool is_same_user(const Client& one, const Client& other) {
  return one.token == other.token && one.user == other.user;
}

std::string to_text(const Client& client) {
  if (client.token) {
    return fmt::format("the token of {}", *client.token);
  }
  if (client.user) {
    return client.process ? fmt::format("user {}'s process {}", *client.user, client.process->pid)
                          : fmt::format("user {}", *client.user);
  }
  return "an unknown client";
}

bool descends_from(const ClientProcess& child, const ClientProcess& ancestor) {
  const auto lives = [&] {
    pollfd asked{child.end->get(), POLLIN, 0};
    return ::poll(&asked, 1, 0) == 0;
  };
  return control::descends_from(FileTree{}, child.pid, Holder{ancestor.pid, ancestor.started, {}}) && lives();
}

}  // namespace zeus::daemon
