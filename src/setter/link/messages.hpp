// The messages between zeusd, which strangers talk to, and its setter, which has the rights. Each has one fixed layout
// and one size; both sides are the same build, and each checks whatever it receives. All fields take a multiple of
// eight bytes, so that no byte of a message is left to chance. Plain values and pure functions; any thread.
#pragma once

#include "control/lease_client.hpp"
#include "setter/link/remote_audit.hpp"
#include "setter/link/seat.hpp"
#include "setter/link/setting.hpp"

#include <zeus/error.hpp>
#include <zeus/reading.hpp>
#include <zeus/units.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace zeus::setter {

// At most this many bytes; what is longer is cut, with " ... " in its middle.
template <std::size_t Longest>
struct Text {
  static_assert(Longest % 8 == 0);
  std::uint64_t size = 0;
  std::array<char, Longest> bytes{};

  [[nodiscard]] bool is_valid() const { return size <= Longest; }
  [[nodiscard]] std::string text() const { return {bytes.data(), size}; }
  void put(std::string_view given);
};

enum class RequestKind : std::uint64_t { take, set, renew, restore, release, put_back, overruled };

// The alternatives of Setting, in their order.
enum class SettingKind : std::uint64_t { power_limit, locked_clocks, unlocked_clocks, persistence };

// From zeusd, about one GPU.
struct Request {
  RequestKind kind = RequestKind::take;
  LeaseNumber lease = 0;
  // take
  double term = 0;
  std::int64_t user = -1;  // -1: unknown
  std::int64_t process = 0;
  std::uint64_t started = 0;  // 0: no process
  std::uint64_t has_token = 0;
  Text<512> token;
  // set
  SettingKind setting = SettingKind::power_limit;
  std::uint64_t domain = 0;  // of clocks; one more than the last: all
  double first = 0;          // the limit, or the lowest clock
  double second = 0;         // the highest clock
  std::uint64_t enabled = 0;
  // release
  Text<256> why;
};

// A value, or the reason why there is none.
struct WireReading {
  std::uint64_t failure = 0;  // 0: there is a value; otherwise one more than the Reason
  double value = 0;
};

struct WireError {
  std::uint64_t kind = 0;  // 0: none; otherwise one more than the ErrorKind
  Text<4096> message;
  Text<1024> advice;
};

// From the setter, to each Request.
struct Answer {
  RequestKind kind = RequestKind::take;
  std::uint64_t calls = 0;
  WireError error;
  // take
  WireReading found;
  std::uint64_t has_command = 0;  // the process was there
  Text<64> command;
  std::uint64_t has_control_group = 0;
  Text<4096> control_group;
  // set
  WireReading enforced;
  WireReading locked_from;  // with `is_locked`
  double locked_to = 0;
  std::uint64_t is_locked = 0;
  WireReading running;
  WireReading persistence;
  std::uint64_t is_over = 0;
  // put_back, overruled
  std::uint64_t has_text = 0;
  Text<4096> text;
};

// What the setter says once, before it waits for requests: each GPU with an end of its own channel, then `ready` with
// that of the audit log; or why it cannot work.
enum class GreetingKind : std::uint64_t { gpu, ready, failed };
struct Greeting {
  GreetingKind kind = GreetingKind::failed;
  Text<128> uuid;
  double longest = 0;  // Seat::longest()
  WireError error;
};

// To the audit log: a call that was refused before it reached a GPU (no answer), or the file was moved away (answered
// by a WireError).
enum class AuditKind : std::uint64_t { refusal, reopen };
struct AuditRequest {
  AuditKind kind = AuditKind::refusal;
  Text<1024> who;
  Text<128> what;
  Text<512> asked;
  Text<512> outcome;
};

bool is_valid(const Request& request);
bool is_valid(const WireError& error);
bool is_valid(const Answer& answer);
bool is_valid(const Greeting& greeting);
bool is_valid(const AuditRequest& request);

template <typename Message>
std::span<const std::byte> bytes_of(const Message& message) {
  static_assert(std::is_trivially_copyable_v<Message>);
  return std::as_bytes(std::span{&message, 1});
}

// Nothing if these bytes are not such a message.
template <typename Message>
std::optional<Message> message_from(std::span<const std::byte> bytes) {
  static_assert(std::is_trivially_copyable_v<Message>);
  Message message;
  if (bytes.size() != sizeof message) {
    return std::nullopt;
  }
  std::memcpy(&message, bytes.data(), sizeof message);
  return is_valid(message) ? std::optional{message} : std::nullopt;
}

WireError wire_error(const std::optional<Error>& error);
std::optional<Error> error_from(const WireError& error);

void put_client(Request& request, const control::LeaseClient& client);
control::LeaseClient client_of(const Request& request);
void put_setting(Request& request, const Setting& setting);
Setting setting_of(const Request& request);

AuditRequest wire_refusal(const RefusedCall& call);
RefusedCall refusal_from(const AuditRequest& request);

void put_taken(Answer& answer, const Taken& taken);
// `client` is the one that was sent.
Taken taken_from(const Answer& answer, control::LeaseClient client);
void put_result(Answer& answer, const SettingResult& result);
SettingResult result_from(const Answer& answer);
void put_text(Answer& answer, const std::optional<std::string>& text);
std::optional<std::string> text_from(const Answer& answer);

}  // namespace zeus::setter
