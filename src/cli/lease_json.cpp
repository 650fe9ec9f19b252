#include "cli/lease_json.hpp"

#include "base/holder.hpp"

#include <string_view>

namespace zeus::cli {

namespace {

void put_process(records::JsonWriter& json, std::string_view key, const Holder& process) {
  json.put(key, [&] {
    json.put("pid", process.pid);
    json.put("command", process.command);
  });
}

void put_client(records::JsonWriter& json, const control::LeaseClient& client) {
  constexpr std::string_view unknown = "its holder did not report it";
  json.put("user", client.user, unknown);
  if (client.process) {
    put_process(json, "process", *client.process);
  } else {
    json.put_unknown("process", unknown);
  }
  json.put("control_group", client.control_group, unknown);
  json.put("token", client.token, unknown);
}

}  // namespace

void put_holder(records::JsonWriter& json, const control::Claim& claim) {
  put_process(json, "holder", claim.holder);
  if (claim.client) {
    json.put("client", [&] { put_client(json, *claim.client); });
  } else {
    json.put_unknown("client", "its holder has it for itself");
  }
}

void put_no_holder(records::JsonWriter& json, std::string_view why) {
  json.put_unknown("holder", why);
  json.put_unknown("client", why);
}

}  // namespace zeus::cli
