#include "backends/nvml/ask.hpp"

namespace zeus::backends::nvml {

using device::Stamped;

namespace {

// The sensors behind fields refresh at least this often; an older timestamp is on another clock than ours.
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

TwoClocks::TwoClocks(const Clock& clock) {
  constexpr Seconds one_moment{20e-6};
  constexpr int most_looks = 10;
  Seconds closest;
  for (int look = 0; look == 0 || (look < most_looks && closest > one_moment); ++look) {
    const Instant before = clock.now();
    const WallTime civil = clock.wall();
    const Seconds apart = clock.now() - before;
    if (look == 0 || apart < closest) {
      closest = apart;
      now = before + apart / 2;
      wall = civil;
    }
  }
}

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
  const Instant ended = library.clock().now();
  const TwoClocks clocks{library.clock()};
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
  const Instant stamp = clocks.instant(answer.timestamp_us);
  if (stamp <= clocks.now && stamp >= before - oldest_stamp) {
    return Stamped<double>{*number, stamp, Seconds{static_cast<double>(answer.latency_us) * 1e-6}};
  }
  const Seconds latency = ended - before;
  return Stamped<double>{*number, before + latency / 2, latency};
}

}  // namespace zeus::backends::nvml
