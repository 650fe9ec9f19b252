// Any bytes between zeusd and its setter, in both directions. The first letter chooses who gets them: "r" is a sequence
// of requests to a setter of a GPU in memory, "a" an answer, "g" a greeting, "l" a line of the audit log. Bytes that
// are no message are refused; a message means the same when it is written again. Whatever a setter is asked for, its
// GPU has the settings that it had once zeusd is gone.

#include "device/driver_gate.hpp"
#include "fuzz/require.hpp"
#include "setter/work/serve.hpp"
#include "tests/support/leased_gpus.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace {

using namespace zeus;
using namespace zeus::setter;
using fuzz::require;

// Fills a message with the given bytes, and zeros where they end.
template <typename Message>
Message filled(std::span<const std::uint8_t> bytes) {
  Message message;
  std::memset(static_cast<void*>(&message), 0, sizeof message);
  std::memcpy(static_cast<void*>(&message), bytes.data(), std::min(bytes.size(), sizeof message));
  return message;
}

// One field after the other, from few bytes: a whole message is long, and most of it is text.
Request request_from(std::span<const std::uint8_t> bytes) {
  const auto at = [&](std::size_t index) { return index < bytes.size() ? bytes[index] : std::uint8_t{0}; };
  Request request{.kind = static_cast<RequestKind>(at(0) % 8)};
  request.lease = at(1) % 4;
  request.term = at(2) % 2 == 0 ? 60 : static_cast<double>(at(2)) * 100;
  request.user = static_cast<std::int64_t>(at(3)) - 128;
  request.process = at(4);
  request.started = at(5);
  request.has_token = at(6) % 3;
  request.token.size = at(7);
  request.setting = static_cast<SettingKind>(at(8) % 5);
  request.domain = at(9) % 5;
  request.first = static_cast<double>(at(10)) * 2;
  request.second = static_cast<double>(at(11)) * 10;
  request.enabled = at(12) % 3;
  return request;
}
constexpr std::size_t bytes_of_request = 13;

class SetterWorld : test::LocalStand {
 public:
  SetterWorld() {
    auto audited = std::make_shared<AuditedControl>(gpu_, gpu_, nullptr);
    const device::DiscoveredGpu gpu{gpu_, audited, 0};
    book_.emplace(ledger(), std::vector{gpu}, guardian_, clock_);
    seat_.emplace(*book_, ledger_, LocalSeat::Parts{gpu, audited, std::make_shared<device::DriverGate>()}, clock_);
  }

  void run(std::span<const std::uint8_t> input) {
    const auto settings = [this] {
      return std::tuple{gpu_->power_limits().current, gpu_->persistence_mode(),
                        gpu_->locked_clocks(ClockDomain::graphics), gpu_->locked_clocks(ClockDomain::memory)};
    };
    const auto found = settings();
    while (!input.empty()) {
      const std::size_t size = std::min(input.size(), bytes_of_request);
      const Request request = request_from(input.first(size));
      input = input.subspan(size);
      if (const std::optional<Request> valid = message_from<Request>(bytes_of(request))) {
        const Answer answer = answer_to(*seat_, *valid);
        require(message_from<Answer>(bytes_of(answer)).has_value());
      }
    }
    seat_->release_all("zeusd has ended");
    require(settings() == found);
    require(!record("GPU-0"));
  }

 private:
  control::Ledger ledger_ = ledger();
  std::optional<control::LeaseBook> book_;
  std::optional<LocalSeat> seat_;
};

}  // namespace

extern "C" int fuzz_setter_messages(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::span<const std::uint8_t> rest{data + 1, size - 1};
  if (data[0] == 'r') {
    static SetterWorld world;
    world.run(rest.first(std::min<std::size_t>(rest.size(), 40 * bytes_of_request)));
    if (const auto request = message_from<Request>(bytes_of(filled<Request>(rest)))) {
      Request again{.kind = request->kind};
      put_client(again, client_of(*request));
      put_setting(again, setting_of(*request));
      require(client_of(again) == client_of(*request));
      require(setting_of(again).index() == setting_of(*request).index());
    }
  } else if (data[0] == 'a') {
    if (const auto answer = message_from<Answer>(bytes_of(filled<Answer>(rest)))) {
      Answer again{.kind = answer->kind};
      put_result(again, result_from(*answer));
      require(message_from<Answer>(bytes_of(again)).has_value());
      const Taken taken = taken_from(*answer, {});
      put_taken(again, taken);
      put_text(again, text_from(*answer));
      require(message_from<Answer>(bytes_of(again)).has_value());
      require(taken_from(again, {}).found == taken.found);
    }
  } else if (data[0] == 'g') {
    if (const auto greeting = message_from<Greeting>(bytes_of(filled<Greeting>(rest)))) {
      require(greeting->uuid.text().size() <= 128);
      require(error_from(greeting->error).has_value() == (greeting->error.kind != 0));
    }
  } else if (data[0] == 'l') {
    if (const auto line = message_from<AuditRequest>(bytes_of(filled<AuditRequest>(rest)))) {
      require(message_from<AuditRequest>(bytes_of(wire_refusal(refusal_from(*line)))).has_value());
    }
  }
  return 0;
}
