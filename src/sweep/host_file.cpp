#include "sweep/host_file.hpp"

#include "base/printable.hpp"
#include "sweep/command_filling.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace zeus::sweep {

namespace {

constexpr std::size_t most_places = 100'000;

// ssh would take a name that begins with a dash for an option.
bool is_host_name(const std::string& host) {
  return !host.empty() && !host.starts_with('-') && std::ranges::all_of(host, [](unsigned char letter) {
    return letter > ' ' && letter != 0x7f && letter != '\'' && letter != '"' && letter != '\\' && letter != '$' &&
           letter != '`';
  });
}

std::string program_of(const std::string& name, const YamlValue& settings) {
  if (settings.kind != YamlValue::Kind::map || settings.keys.size() != 1 || settings.keys.front() != "program") {
    throw yaml_error(name, settings.line, "'zeus' of a host is not a mapping with the key 'program'",
                     "write `zeus: {program: /opt/zeus/bin/zeus}`, or leave it out");
  }
  return values_of(name, "program", settings.members.front()).front();
}

Place place_of(const std::string& name, const YamlValue& member, const Task& task, const std::string& program) {
  Place place{.program = program};
  place.host = filled(task.command, task.parameters);
  if (!is_host_name(place.host)) {
    throw yaml_error(name, member.line, fmt::format("{} cannot be a host name", in_quotes(place.host)),
                     "give the name as you would type it after `ssh`");
  }
  place.slots = task.slots;
  place.label = printable(place.host);
  place.parameters.push_back({.name = "hostname", .value = place.host});
  for (const Parameter& parameter : task.parameters) {
    if (parameter.name != "slots") {
      place.parameters.push_back(parameter);
    }
  }
  return place;
}

// The parts of a host are told apart by their parameters.
void name_parts(std::vector<Place>& places) {
  std::map<std::string, int> parts;
  for (const Place& place : places) {
    ++parts[place.host];
  }
  for (Place& place : places) {
    std::string own;
    for (const Parameter& parameter : place.parameters) {
      if (parameter.name != "hostname") {
        own += (own.empty() ? "" : ", ") + parameter.value;
      }
    }
    if (parts[place.host] > 1 && !own.empty()) {
      place.label = printable(fmt::format("{} ({})", place.host, own));
    }
  }
}

void add_places(const std::string& name, const YamlValue& member, std::vector<Place>& places) {
  QueueEntry entry;  // the host names in place of commands
  std::string program = "zeus";
  if (member.kind != YamlValue::Kind::map) {
    entry.commands = values_of(name, "hostname", member);
  }
  for (std::size_t i = 0; i < member.keys.size(); ++i) {
    const std::string& key = member.keys[i];
    if (key == "hostname") {
      entry.commands = values_of(name, key, member.members[i]);
    } else if (key == "zeus") {
      program = program_of(name, member.members[i]);
    } else {
      entry.parameters.push_back({.name = key, .values = values_of(name, key, member.members[i])});
    }
  }
  if (entry.commands.empty()) {
    throw yaml_error(name, member.line, "a host has no name", "give it a key `hostname`");
  }
  at_place(name, member.line, [&] {
    const std::size_t count = task_count(entry);
    if (places.size() + count > most_places) {
      throw Error{ErrorKind::invalid_argument, fmt::format("there are more than {} hosts", most_places),
                  "shorten the lists"};
    }
    for (std::size_t i = 0; i < count; ++i) {
      places.push_back(place_of(name, member, task_at(entry, i), program));
    }
  });
}

}  // namespace

std::vector<Place> parse_hosts(const std::string& name, const std::string& text) {
  const YamlValue document = parse_yaml(name, text);
  std::vector<Place> places;
  for (const YamlValue& member : list_of(name, document)) {
    add_places(name, member, places);
  }
  if (places.empty()) {
    throw yaml_error(name, 1, "it has no hosts", "list them, one a line, each after a dash");
  }
  name_parts(places);
  std::set<std::string> labels;
  for (const Place& place : places) {
    if (!labels.insert(place.label).second) {
      throw yaml_error(name, 1, fmt::format("the host {} is there twice", in_quotes(place.label)),
                       "for two runs at a time, give it `slots: 2`");
    }
  }
  return places;
}

}  // namespace zeus::sweep
