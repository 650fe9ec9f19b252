#include "sweep/host_file.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace zeus::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> labels_of(const std::string& text) {
  std::vector<std::string> labels;
  for (const Place& place : parse_hosts("h", text)) {
    labels.push_back(place.label);
  }
  return labels;
}

std::string refused_hosts(const std::string& text) {
  try {
    parse_hosts("hosts.yaml", text);
  } catch (const Error& error) {
    return error.what();
  }
  return "read";
}

TEST(HostFile, EachCombinationIsAPlace) {
  EXPECT_THAT(labels_of("- a\n- hostname: [h1, h2]\n  container: [gpu0, gpu1]\n"),
              ElementsAre("a", "h1 (gpu0)", "h1 (gpu1)", "h2 (gpu0)", "h2 (gpu1)"));
  EXPECT_THAT(labels_of("- hostname: [h1, h2]\n  nap: [1]\n- hostname: [h3]\n  nap: [2]\n"),
              ElementsAre("h1", "h2", "h3"));
}

TEST(HostFile, HostsHaveParametersSlotsAndAProgram) {
  const auto places =
      parse_hosts("h", "- hostname: 'node{{ n }}.lab'\n  n: [1, 2]\n  slots: 4\n  zeus: {program: /opt/zeus}\n");
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[1].host, "node2.lab");
  EXPECT_EQ(places[1].slots, 4);
  EXPECT_EQ(places[1].program, "/opt/zeus");
  EXPECT_EQ(*find_parameter(places[1].parameters, "hostname"), "node2.lab");
  EXPECT_EQ(*find_parameter(places[1].parameters, "n"), "2");
}

TEST(HostFile, WhatCannotBeAHostIsRefused) {
  EXPECT_THAT(refused_hosts(""), HasSubstr("it has no hosts"));
  EXPECT_THAT(refused_hosts("- '-oProxyCommand=ls'\n"), HasSubstr("cannot be a host name"));
  EXPECT_THAT(refused_hosts("- 'h1; ls'\n"), HasSubstr("cannot be a host name"));
  EXPECT_THAT(refused_hosts("- h1\n- h1\n"), HasSubstr("the host 'h1' is there twice"));
  EXPECT_THAT(refused_hosts("- hostname: h1\n  slots: 0\n"), HasSubstr("hosts.yaml:1: 'slots' is '0'"));
  EXPECT_THAT(refused_hosts("- hostname: h1\n  zeus: yes\n"), HasSubstr("'zeus' of a host is not a mapping"));
  EXPECT_THAT(refused_hosts("- hostname: '{{ x }}'\n"), HasSubstr("no parameter is called 'x'"));
}

}  // namespace
}  // namespace zeus::sweep
