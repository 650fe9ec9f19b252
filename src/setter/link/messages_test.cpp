#include "setter/link/messages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace zeus::setter {
namespace {

template <typename Message>
std::optional<Message> sent(const Message& message) {
  return message_from<Message>(bytes_of(message));
}

Setting sent_setting(const Setting& setting) {
  Request request{.kind = RequestKind::set};
  put_setting(request, setting);
  return setting_of(sent(request).value());
}

SettingResult sent_result(const SettingResult& result) {
  Answer answer{.kind = RequestKind::set};
  put_result(answer, result);
  return result_from(sent(answer).value());
}

TEST(SetterMessages, ASettingArrivesAsItWasSent) {
  EXPECT_EQ(std::get<SetPowerLimit>(sent_setting(SetPowerLimit{212.5_W})).limit, 212.5_W);
  const auto lock = std::get<LockClocks>(sent_setting(LockClocks{ClockDomain::memory, {405_MHz, 1215_MHz}}));
  EXPECT_EQ(lock.domain, ClockDomain::memory);
  EXPECT_EQ(lock.range, (ClockRange{405_MHz, 1215_MHz}));
  EXPECT_EQ(std::get<UnlockClocks>(sent_setting(UnlockClocks{ClockDomain::sm})).domain, ClockDomain::sm);
  EXPECT_EQ(std::get<UnlockClocks>(sent_setting(UnlockClocks{})).domain, std::nullopt);
  EXPECT_TRUE(std::get<SetPersistence>(sent_setting(SetPersistence{true})).enabled);
  EXPECT_FALSE(std::get<SetPersistence>(sent_setting(SetPersistence{false})).enabled);
}

TEST(SetterMessages, AResultArrivesAsItWasSent) {
  SettingResult result;
  result.enforced = 200_W;
  result.locked_to = std::optional{ClockRange{210_MHz, 900_MHz}};
  result.running = Reason::lost;
  result.persistence = true;
  result.error = Error{ErrorKind::timeout, "the driver is slow", "wait"};
  result.is_over = true;
  const SettingResult arrived = sent_result(result);
  EXPECT_EQ(arrived.enforced, result.enforced);
  EXPECT_TRUE(arrived.locked_to == result.locked_to);
  EXPECT_EQ(arrived.running, result.running);
  EXPECT_EQ(arrived.persistence, result.persistence);
  ASSERT_TRUE(arrived.error);
  EXPECT_EQ(arrived.error->kind(), ErrorKind::timeout);
  EXPECT_STREQ(arrived.error->what(), result.error->what());
  EXPECT_TRUE(arrived.is_over);
  result.locked_to = std::optional<ClockRange>{};
  EXPECT_TRUE(sent_result(result).locked_to == result.locked_to) << "unlocked is not unknown";
}

TEST(SetterMessages, AClientArrivesAsItWasSentAndWithWhatWasFoundOut) {
  const control::LeaseClient client{.user = 1000, .process = Holder{77, 123, {}}, .control_group = {}, .token = "ann"};
  Request request{.kind = RequestKind::take};
  put_client(request, client);
  EXPECT_EQ(client_of(sent(request).value()), client);
  Request nothing{.kind = RequestKind::take};
  put_client(nothing, {});
  EXPECT_EQ(client_of(sent(nothing).value()), control::LeaseClient{});

  Taken taken{.client = client, .found = 250_W, .error = {}};
  taken.client.process->command = "python3";
  taken.client.control_group = "0::/user.slice";
  Answer answer{.kind = RequestKind::take};
  put_taken(answer, taken);
  const Taken arrived = taken_from(sent(answer).value(), client);
  EXPECT_EQ(arrived.client, taken.client);
  EXPECT_EQ(arrived.found, taken.found);
  EXPECT_FALSE(arrived.error);
}

TEST(SetterMessages, TheCauseOfAnErrorIsKeptInWords) {
  std::optional<Error> error;
  try {
    throw Error{ErrorKind::unavailable, "the disk is full"};
  } catch (const Error&) {
    error = Error{ErrorKind::internal, "the record cannot be written", "free some space"};
  }
  EXPECT_STREQ(error_from(sent(wire_error(error)).value())->what(), error->what());
}

TEST(SetterMessages, ALongTextIsCutInItsMiddle) {
  Text<64> text;
  text.put(std::string(30, 'a') + std::string(100, 'b') + std::string(30, 'c'));
  EXPECT_LE(text.text().size(), 64U);
  EXPECT_TRUE(text.text().starts_with("aaa"));
  EXPECT_TRUE(text.text().ends_with("ccc"));
}

TEST(SetterMessages, AnotherSizeIsNoMessage) {
  const Request request{.kind = RequestKind::renew};
  const std::span<const std::byte> bytes = bytes_of(request);
  EXPECT_TRUE(message_from<Request>(bytes));
  EXPECT_FALSE(message_from<Request>(bytes.first(bytes.size() - 1)));
  EXPECT_FALSE(message_from<Request>({}));
  std::vector<std::byte> longer{bytes.begin(), bytes.end()};
  longer.push_back({});
  EXPECT_FALSE(message_from<Request>(longer));
}

TEST(SetterMessages, AValueOutsideItsRangeIsRefused) {
  const auto is_refused = [](auto change) {
    Request request{.kind = RequestKind::set};
    change(request);
    return !sent(request);
  };
  EXPECT_TRUE(is_refused([](Request& one) { one.kind = static_cast<RequestKind>(7); }));
  EXPECT_TRUE(is_refused([](Request& one) { one.term = std::nan(""); }));
  EXPECT_TRUE(is_refused([](Request& one) { one.term = -1; }));
  EXPECT_TRUE(is_refused([](Request& one) { one.first = std::numeric_limits<double>::infinity(); }));
  EXPECT_TRUE(is_refused([](Request& one) { one.second = -200; }));
  EXPECT_TRUE(is_refused([](Request& one) { one.user = -2; }));
  EXPECT_TRUE(is_refused([](Request& one) { one.process = -1; }));
  EXPECT_TRUE(is_refused([](Request& one) { one.token.size = 513; }));
  EXPECT_TRUE(is_refused([](Request& one) { one.why.size = std::numeric_limits<std::uint64_t>::max(); }));
  EXPECT_TRUE(is_refused([](Request& one) { one.has_token = 2; }));
  EXPECT_TRUE(is_refused([](Request& one) { one.setting = static_cast<SettingKind>(4); }));
  EXPECT_TRUE(is_refused([](Request& one) { one.domain = 4; }));
  EXPECT_TRUE(is_refused([](Request& one) {
    one.setting = SettingKind::locked_clocks;
    one.domain = 3;  // all domains, which can only be unlocked
  }));
  EXPECT_FALSE(is_refused([](Request&) {}));

  const auto is_refused_answer = [](auto change) {
    Answer answer{.kind = RequestKind::set};
    change(answer);
    return !sent(answer);
  };
  EXPECT_TRUE(is_refused_answer([](Answer& one) { one.error.kind = 10; }));
  EXPECT_TRUE(is_refused_answer([](Answer& one) { one.error.message.size = 4097; }));
  EXPECT_TRUE(is_refused_answer([](Answer& one) { one.enforced.failure = 8; }));
  EXPECT_TRUE(is_refused_answer([](Answer& one) { one.found.value = std::nan(""); }));
  EXPECT_TRUE(is_refused_answer([](Answer& one) { one.is_over = 2; }));
  EXPECT_FALSE(is_refused_answer([](Answer&) {}));
}

}  // namespace
}  // namespace zeus::setter
