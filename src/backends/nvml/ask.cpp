#include "backends/nvml/ask.hpp"

namespace zeus::backends::nvml {

using device::Stamped;

namespace {

// The sensors behind fields refresh at most this seldom; an older stamp is on another clock than ours.
constexpr Seconds oldest_stamp = 2_s;

Reading<double> number_in(const abi::FieldValue& field) {
  switch (field.type) {
    case abi::ValueType::real:
      return field.value.real;
    case abi::ValueType::uint32:
      return static_cast<double>(field.value.uint32);
    case abi::ValueType::ulong:
      return static_cast<double>(field.value.ulong);
    case abi::ValueType::uint64:
      return static_cast<double>(field.value.uint64);
    case abi::ValueType::int64:
      return static_cast<double>(field.value.int64);
    case abi::ValueType::int32:
      return static_cast<double>(field.value.int32);
    case abi::ValueType::uint16:
      return static_cast<double>(field.value.uint16);
  }
  return Failure{Reason::unreliable, "the driver answers with a type of number that it does not document"};
}

}  // namespace

Reading<Stamped<double>> ask_field(const NvmlLibrary& library, abi::Device* handle, std::uint32_t field,
                                   abi::PowerScope scope) {
  if (library.functions().field_values == nullptr) {
    return call_missing;
  }
  abi::FieldValue answer;
  answer.field = field;
  answer.scope = static_cast<unsigned>(scope);
  const Instant before = library.clock().now();
  const abi::Code code = library.functions().field_values(handle, 1, &answer);
  const TwoClocks after{library.clock()};
  if (code != abi::Code::success) {
    return Api::failure_of(code);
  }
  if (answer.result != abi::Code::success) {
    return Api::failure_of(answer.result);
  }
  const Reading<double> number = number_in(answer);
  if (!number) {
    return number.failure();
  }
  const Instant stamp = after.instant(answer.timestamp_us);
  if (stamp <= after.now && stamp >= before - oldest_stamp) {
    return Stamped<double>{*number, stamp, Seconds{static_cast<double>(answer.latency_us) * 1e-6}};
  }
  const Seconds latency = after.now - before;
  return Stamped<double>{*number, before + latency / 2, latency};
}

}  // namespace zeus::backends::nvml
