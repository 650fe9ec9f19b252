#include "cli/watch_view.hpp"

#include "cli/json_number.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

namespace zeus::cli {

namespace {

std::string_view word_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return "gpu";
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::memory:
      break;
  }
  return "memory";
}

Seconds since_boot(Instant instant) {
  return instant - Instant{};
}

void put_device(records::JsonWriter& json, const WatchedDevice& device) {
  std::optional<Joules> joules;
  std::optional<Seconds> from;
  std::optional<Seconds> to;
  if (device.energy) {
    joules = device.energy->joules;
    from = since_boot(device.energy->from);
    to = since_boot(device.energy->to);
  }
  json.put("kind", word_of(device.kind));
  json.put("id", device.id);
  json.put("uuid", device.uuid.empty() ? std::nullopt : std::optional{device.uuid}, "it is not reported");
  json.put("name", device.name.empty() ? std::nullopt : std::optional{device.name}, "it is not reported");
  json.put("power_w", json_number(device.power), device.power_reason);
  json.put("limit_w", json_number(device.limit), device.limit_reason);
  json.put("energy_j", json_number(joules), device.energy_reason);
  json.put("energy_from_s", json_number(from), device.energy_reason);
  json.put("energy_to_s", json_number(to), device.energy_reason);
  json.put("began_anew", device.energy ? std::optional{device.energy->began_anew} : std::nullopt, device.energy_reason);
  json.put("holder", device.holder, device.holder_reason);
}

void put_node(records::JsonWriter& json, const WatchedNode& node) {
  constexpr const char* not_yet = "it has not answered yet";
  json.put("node", node.name);
  json.put("missing", node.missing.has_value());
  if (node.missing) {
    json.because("missing", *node.missing);
  }
  json.put("missing_for_s", json_number(node.missing_for), "it is not missing");
  json.put("daemon", node.daemon, not_yet);
  json.put("clock_offset_s", json_number(node.clock_offset), node.daemon ? "its clock is not reported" : not_yet);
  json.put("clock_doubt_s", json_number(node.clock_doubt), node.daemon ? "its clock is not reported" : not_yet);
  json.put("restarts", node.restarts, node.daemon ? "this daemon does not report its restarts" : not_yet);
  json.put_list("devices", node.devices,
                [&](const WatchedDevice& device) { json.object([&] { put_device(json, device); }); });
}

}  // namespace

std::string device_name(const WatchedDevice& device) {
  switch (device.kind) {
    case DeviceKind::gpu:
      return fmt::format("GPU {}", device.id);
    case DeviceKind::cpu:
      return fmt::format("CPU {}", device.id);
    case DeviceKind::memory:
      break;
  }
  return fmt::format("memory {}", device.id);
}

std::vector<WatchSum> sums_of(const WatchMoment& moment) {
  std::vector<WatchSum> sums;
  for (const DeviceKind kind : {DeviceKind::gpu, DeviceKind::cpu, DeviceKind::memory}) {
    WatchSum sum{kind, {}, {}, {}};
    bool there_are = false;
    for (const WatchedNode& node : moment.nodes) {
      for (const WatchedDevice& device : node.devices) {
        if (device.kind != kind) {
          continue;
        }
        there_are = true;
        if (device.energy) {
          sum.energy = sum.energy.value_or(Joules{0}) + device.energy->joules;
        }
        if (device.power) {
          sum.power = sum.power.value_or(Watts{0}) + *device.power;
        } else if (!node.missing) {
          sum.unknown.push_back(node.name + ' ' + device_name(device));
        }
      }
    }
    if (there_are) {
      sums.push_back(std::move(sum));
    }
  }
  return sums;
}

std::vector<std::string> missing_nodes(const WatchMoment& moment) {
  std::vector<std::string> missing;
  for (const WatchedNode& node : moment.nodes) {
    if (node.missing) {
      missing.push_back(node.name);
    }
  }
  return missing;
}

std::string watch_json(const WatchMoment& moment) {
  records::JsonWriter json;
  json.object([&] {
    json.put("time", moment.time);
    json.put("monotonic_s", moment.monotonic);
    json.put("elapsed_s", moment.elapsed);
    json.put("missing", missing_nodes(moment));
    json.put_list("sums", sums_of(moment), [&](const WatchSum& sum) {
      json.object([&] {
        json.put("kind", word_of(sum.kind));
        json.put("power_w", json_number(sum.power), "no node that is there reports it");
        json.put("energy_j", json_number(sum.energy), "no node has reported it yet");
        json.put("unknown", sum.unknown);
      });
    });
    json.put_list("nodes", moment.nodes, [&](const WatchedNode& node) { json.object([&] { put_node(json, node); }); });
  });
  return json.take();
}

}  // namespace zeus::cli
