#include "control/lease_record.hpp"

#include "tests/support/golden.hpp"
#include "tests/support/record_properties.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::control {
namespace {

LeaseRecord full_record() {
  LeaseRecord record{
      {123456789, Instant{183456789}, {4711, 99, "python3"}, {}}, "GPU-8e1d7a52", "GPU 0 (Tesla V100)", "9f6b3e0a"};
  record.found.power_limit = Milliwatts{249'123};
  record.found.clocks[ClockDomain::graphics] = {};
  record.found.clocks[ClockDomain::sm] = {.known = true, .locked_to = std::nullopt};
  record.found.clocks[ClockDomain::memory] = {.known = true, .locked_to = ClockRange{405_MHz, 877_MHz}};
  record.found.persistence_mode = false;
  return record;
}

TEST(LeaseRecord, KeepsItsForm) {
  test::expect_golden("control/lease_record.json", to_json(full_record()));
}

LeaseRecord lent_record() {
  LeaseRecord record = full_record();
  record.lending.emplace();
  record.lending->changes = 3;
  record.lending->child = Claim{123456999, Instant{183456999}, {4713, 104, "python3"}, {}};
  record.lending->child->found.power_limit = 150_W;
  record.clocks = {{ClockDomain::graphics, FoundClocks{true, ClockRange{900_MHz, 1200_MHz}}},
                   {ClockDomain::memory, FoundClocks{true, std::nullopt}}};
  return record;
}

TEST(LeaseRecord, KeepsItsFormWithALentClaim) {
  test::expect_golden("control/lease_record_lent.json", to_json(lent_record()));
}

// A daemon's record; the daemon knows the child's client only by its token.
LeaseRecord record_for_clients() {
  LeaseRecord record = lent_record();
  record.holder = {12, 3, "zeusd"};
  record.client = {.user = 1000,
                   .process = Holder{77, 98, "python3"},
                   .control_group = "0::/user.slice/user-1000.slice",
                   .token = std::nullopt};
  record.lending->child->client.emplace().token = "alice";
  return record;
}

TEST(LeaseRecord, KeepsItsFormWithAClient) {
  test::expect_golden("control/lease_record_for_clients.json", to_json(record_for_clients()));
}

TEST(LeaseRecord, NamesItsClientInWords) {
  const LeaseRecord record = record_for_clients();
  EXPECT_EQ(to_text(record), "process 12 (zeusd) for user 1000's process 77 (python3)");
  EXPECT_EQ(to_text(*record.child()), "process 4713 (python3) for the token of alice");
  EXPECT_EQ(to_text(full_record()), "process 4711 (python3)");
  EXPECT_EQ(to_text(LeaseClient{.user = 0}), "user 0");
  EXPECT_EQ(to_text(LeaseClient{.user = 7, .token = "alice"}), "user 7 with the token of alice");
  EXPECT_EQ(to_text(LeaseClient{.process = Holder{77, 98, ""}, .control_group = "0::/"}), "process 77");
  EXPECT_EQ(to_text(LeaseClient{.control_group = "0::/kubepods/a"}), "the control group 0::/kubepods/a");
  EXPECT_EQ(to_text(LeaseClient{}), "an unknown client");
}

TEST(LeaseRecord, ComesBackAsItWasWritten) {
  EXPECT_EQ(lease_record_from_json(to_json(record_for_clients())), record_for_clients());
  EXPECT_EQ(lease_record_from_json(to_json(full_record())), full_record());
  EXPECT_EQ(lease_record_from_json(to_json(lent_record())), lent_record());
  LeaseRecord bare = full_record();
  bare.found = {};
  EXPECT_EQ(lease_record_from_json(to_json(bare)), bare);
}

// Clocks have a format of their own, which these tests check.
TEST(LeaseRecord, NothingElseIsTakenForIt) {
  const auto json = records::JsonValue::parse(to_json(full_record())).value();
  for (const test::Mutant& mutant :
       test::mutants_of(json, {"power_limit_w", "persistence_mode", "graphics", "sm", "memory"})) {
    test::expect_refused<LeaseRecord>(mutant.json, mutant.what);
  }
  const auto for_clients = records::JsonValue::parse(to_json(record_for_clients())).value();
  for (const test::Mutant& mutant :
       test::mutants_of(for_clients, {"power_limit_w", "persistence_mode", "graphics", "sm", "memory", "clocks",
                                      "client", "user", "process", "control_group", "token", "lending", "child"})) {
    test::expect_refused<LeaseRecord>(mutant.json, mutant.what);
  }
}

TEST(LeaseRecord, ACommandOfAnyBytesCanBeWritten) {
  LeaseRecord record = full_record();
  record.holder.command = "\xff(\x01";
  EXPECT_NO_THROW(lease_record_from_json(to_json(record)));
}

TEST(LeaseRecord, AnyCutIsRefused) {
  const std::string whole = to_json(full_record());
  for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
    EXPECT_THROW(lease_record_from_json(whole.substr(0, length)), Error) << length;
  }
}

TEST(LeaseRecord, WhatMakesNoSenseIsRefused) {
  const std::string whole = to_json(full_record());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  for (const std::string& text :
       {with("\"version\": 1", "\"version\": 2"), with("249.123", "-5"), with("249.123", "1e999"),
        with("249.123", "\"250\""), with("249.123", "null"), with("405.0", "900"), with("\"memory\"", "\"cache\""),
        with("\"unknown\"", "\"locked\""), with("false", "0"), with("4711", "-1"), with("4711", "1e3"),
        with("123456789", "99999999999999999999"), with("\"gpu\"", "\"cpu\"")}) {
    try {
      lease_record_from_json(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
    }
  }
}

TEST(LeaseRecord, SaysWhatWasFoundInWords) {
  EXPECT_EQ(to_text(full_record().found),
            "power limit 249.123 W, graphics clocks unlocked, sm clocks unlocked, memory clocks locked to 405-877 MHz, "
            "persistence mode off");
  EXPECT_EQ(to_text(Found{}), "nothing");
}

}  // namespace
}  // namespace zeus::control
