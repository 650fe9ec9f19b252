#include "backends/nvml/ask.hpp"

namespace zeus::backends::nvml {

using device::Stamped;

namespace {

// The sensors behind fields refresh at most this seldom; an older stamp is on another clock than ours.
constexpr Seconds oldest_stamp = 2_s;

Reading<double> number_in(const abi::FieldValue& field) {
  switch (field.type) {
    case abi::ValueType::floating:
      return field.value.floating;
    case abi::ValueType::unsigned_int:
      return static_cast<double>(field.value.unsigned_int);
    case abi::ValueType::unsigned_long:
      return static_cast<double>(field.value.unsigned_long);
    case abi::ValueType::unsigned_long_long:
      return static_cast<double>(field.value.unsigned_long_long);
    case abi::ValueType::signed_long_long:
      return static_cast<double>(field.value.signed_long_long);
    case abi::ValueType::signed_int:
      return static_cast<double>(field.value.signed_int);
    case abi::ValueType::unsigned_short:
      return static_cast<double>(field.value.unsigned_short);
  }
  return Failure{Reason::unreliable, "the driver answers with a type of number that it does not document"};
}

}  // namespace

Reading<Stamped<double>> ask_field(const Session& session, abi::Device handle, std::uint32_t field,
                                   std::uint32_t scope) {
  if (session.nvml().field_values == nullptr) {
    return call_missing;
  }
  abi::FieldValue answer;
  answer.field = field;
  answer.scope = scope;
  const Instant before = session.clock().now();
  const abi::Code code = session.nvml().field_values(handle, 1, &answer);
  const TwoClocks after{session.clock()};
  if (code != abi::success) {
    return failure_of(code);
  }
  if (answer.code != abi::success) {
    return failure_of(answer.code);
  }
  const Reading<double> number = number_in(answer);
  if (!number) {
    return number.failure();
  }
  const Instant stamp = after.instant(answer.timestamp_microseconds);
  if (stamp <= after.now && stamp >= before - oldest_stamp) {
    return Stamped<double>{*number, stamp, Seconds{static_cast<double>(answer.latency_microseconds) * 1e-6}};
  }
  const Seconds latency = after.now - before;
  return Stamped<double>{*number, before + latency / 2, latency};
}

}  // namespace zeus::backends::nvml
