#include "setter/link/messages.hpp"

#include "base/printable.hpp"

#include <cmath>
#include <utility>
#include <variant>

namespace zeus::setter {

namespace {

constexpr auto last_error_kind = static_cast<std::uint64_t>(ErrorKind::internal);
constexpr auto last_reason = static_cast<std::uint64_t>(Reason::unknown);
constexpr auto all_domains = static_cast<std::uint64_t>(ClockDomain::memory) + 1;

template <typename Enum>
bool is_up_to(Enum value, Enum last) {
  return static_cast<std::uint64_t>(value) <= static_cast<std::uint64_t>(last);
}

bool is_flag(std::uint64_t value) {
  return value <= 1;
}

bool is_amount(double value) {
  return std::isfinite(value) && value >= 0;
}

bool is_valid_reading(const WireReading& reading) {
  return reading.failure <= last_reason + 1 && std::isfinite(reading.value);
}

template <typename T, typename Number>
WireReading wire_reading(const Reading<T>& reading, Number number) {
  if (!reading) {
    return {static_cast<std::uint64_t>(reading.failure().reason) + 1, 0};
  }
  const double value = number(*reading);
  return std::isfinite(value) ? WireReading{0, value}
                              : WireReading{static_cast<std::uint64_t>(Reason::unreliable) + 1, 0};
}

template <typename T>
WireReading wire_reading(const Reading<T>& reading) {
  return wire_reading(reading, [](const T& value) { return value.value(); });
}

template <typename T, typename Make>
Reading<T> reading_from(const WireReading& reading, Make make) {
  return reading.failure == 0 ? Reading<T>{make(reading.value)} : Reading<T>{static_cast<Reason>(reading.failure - 1)};
}

template <typename T>
Reading<T> reading_from(const WireReading& reading) {
  return reading_from<T>(reading, [](double value) { return T{value}; });
}

}  // namespace

template <std::size_t Longest>
void Text<Longest>::put(std::string_view given) {
  const std::string fitting = shortened(given, Longest);
  bytes = {};
  size = fitting.copy(bytes.data(), Longest);
}

template struct Text<64>;
template struct Text<128>;
template struct Text<256>;
template struct Text<512>;
template struct Text<1024>;
template struct Text<4096>;

bool is_valid(const Request& request) {
  return is_up_to(request.kind, RequestKind::overruled) && is_amount(request.term) && request.user >= -1 &&
         request.process >= 0 && is_flag(request.has_token) && request.token.is_valid() &&
         is_up_to(request.setting, SettingKind::persistence) && request.domain <= all_domains &&
         is_amount(request.first) && is_amount(request.second) && is_flag(request.enabled) && request.why.is_valid() &&
         (request.setting != SettingKind::locked_clocks || request.domain < all_domains);
}

bool is_valid(const WireError& error) {
  return error.kind <= last_error_kind + 1 && error.message.is_valid() && error.advice.is_valid();
}

bool is_valid(const Answer& answer) {
  return is_up_to(answer.kind, RequestKind::overruled) && is_valid(answer.error) && is_valid_reading(answer.found) &&
         is_flag(answer.has_command) && answer.command.is_valid() && is_flag(answer.has_control_group) &&
         answer.control_group.is_valid() && is_valid_reading(answer.enforced) && is_valid_reading(answer.locked_from) &&
         is_amount(answer.locked_to) && is_flag(answer.is_locked) && is_valid_reading(answer.running) &&
         is_valid_reading(answer.persistence) && is_flag(answer.is_over) && is_flag(answer.has_text) &&
         answer.text.is_valid();
}

bool is_valid(const Greeting& greeting) {
  return is_up_to(greeting.kind, GreetingKind::failed) && greeting.uuid.is_valid() && is_amount(greeting.longest) &&
         is_valid(greeting.error);
}

bool is_valid(const AuditRequest& request) {
  return is_up_to(request.kind, AuditKind::reopen) && request.who.is_valid() && request.what.is_valid() &&
         request.asked.is_valid() && request.outcome.is_valid();
}

WireError wire_error(const std::optional<Error>& error) {
  WireError wire;
  if (error) {
    wire.kind = static_cast<std::uint64_t>(error->kind()) + 1;
    // The causes of an Error are part of what it says.
    wire.message.put(error->cause() ? error->what() : error->message());
    wire.advice.put(error->cause() ? "" : error->advice());
  }
  return wire;
}

std::optional<Error> error_from(const WireError& error) {
  if (error.kind == 0) {
    return std::nullopt;
  }
  return Error{static_cast<ErrorKind>(error.kind - 1), error.message.text(), error.advice.text()};
}

void put_client(Request& request, const control::LeaseClient& client) {
  request.user = client.user.value_or(-1);
  if (client.process) {
    request.process = client.process->pid;
    request.started = client.process->started;
  }
  request.has_token = client.token ? 1 : 0;
  request.token.put(client.token.value_or(""));
}

control::LeaseClient client_of(const Request& request) {
  control::LeaseClient client;
  if (request.user >= 0) {
    client.user = request.user;
  }
  if (request.started != 0) {
    client.process = Holder{request.process, request.started, {}};
  }
  if (request.has_token != 0) {
    client.token = request.token.text();
  }
  return client;
}

void put_setting(Request& request, const Setting& setting) {
  request.setting = static_cast<SettingKind>(setting.index());
  if (const auto* const limit = std::get_if<SetPowerLimit>(&setting)) {
    request.first = limit->limit.value();
  } else if (const auto* const lock = std::get_if<LockClocks>(&setting)) {
    request.domain = static_cast<std::uint64_t>(lock->domain);
    request.first = lock->range.minimum.value();
    request.second = lock->range.maximum.value();
  } else if (const auto* const unlock = std::get_if<UnlockClocks>(&setting)) {
    request.domain = unlock->domain ? static_cast<std::uint64_t>(*unlock->domain) : all_domains;
  } else {
    request.enabled = std::get<SetPersistence>(setting).enabled ? 1 : 0;
  }
}

Setting setting_of(const Request& request) {
  switch (request.setting) {
    case SettingKind::power_limit:
      return SetPowerLimit{Watts{request.first}};
    case SettingKind::locked_clocks:
      return LockClocks{static_cast<ClockDomain>(request.domain),
                        {Megahertz{request.first}, Megahertz{request.second}}};
    case SettingKind::unlocked_clocks:
      return UnlockClocks{request.domain == all_domains ? std::nullopt
                                                        : std::optional{static_cast<ClockDomain>(request.domain)}};
    case SettingKind::persistence:
      break;
  }
  return SetPersistence{request.enabled != 0};
}

AuditRequest wire_refusal(const RefusedCall& call) {
  AuditRequest request;
  request.who.put(call.who);
  request.what.put(call.what);
  request.asked.put(call.asked);
  request.outcome.put(call.outcome);
  return request;
}

RefusedCall refusal_from(const AuditRequest& request) {
  return {request.who.text(), request.what.text(), request.asked.text(), request.outcome.text()};
}

void put_taken(Answer& answer, const Taken& taken) {
  answer.error = wire_error(taken.error);
  answer.found = wire_reading(taken.found);
  if (taken.client.process && !taken.client.process->command.empty()) {
    answer.has_command = 1;
    answer.command.put(taken.client.process->command);
  }
  if (taken.client.control_group) {
    answer.has_control_group = 1;
    answer.control_group.put(*taken.client.control_group);
  }
}

Taken taken_from(const Answer& answer, control::LeaseClient client) {
  if (client.process && answer.has_command != 0) {
    client.process->command = answer.command.text();
  }
  if (answer.has_control_group != 0) {
    client.control_group = answer.control_group.text();
  }
  return {.client = std::move(client), .found = reading_from<Watts>(answer.found), .error = error_from(answer.error)};
}

void put_result(Answer& answer, const SettingResult& result) {
  answer.error = wire_error(result.error);
  answer.enforced = wire_reading(result.enforced);
  answer.locked_from = wire_reading(result.locked_to, [&](const std::optional<ClockRange>& range) {
    answer.is_locked = range ? 1 : 0;
    answer.locked_to = range ? range->maximum.value() : 0;
    return range ? range->minimum.value() : 0;
  });
  answer.running = wire_reading(result.running);
  answer.persistence = wire_reading(result.persistence, [](bool enabled) { return enabled ? 1.0 : 0.0; });
  answer.is_over = result.is_over ? 1 : 0;
}

SettingResult result_from(const Answer& answer) {
  return {.enforced = reading_from<Watts>(answer.enforced),
          .locked_to = reading_from<std::optional<ClockRange>>(
              answer.locked_from,
              [&](double from) -> std::optional<ClockRange> {
                return answer.is_locked != 0 ? std::optional{ClockRange{Megahertz{from}, Megahertz{answer.locked_to}}}
                                             : std::nullopt;
              }),
          .running = reading_from<Megahertz>(answer.running),
          .persistence = reading_from<bool>(answer.persistence, [](double value) { return value != 0; }),
          .error = error_from(answer.error),
          .is_over = answer.is_over != 0};
}

void put_text(Answer& answer, const std::optional<std::string>& text) {
  answer.has_text = text ? 1 : 0;
  answer.text.put(text.value_or(""));
}

std::optional<std::string> text_from(const Answer& answer) {
  return answer.has_text != 0 ? std::optional{answer.text.text()} : std::nullopt;
}

}  // namespace zeus::setter
