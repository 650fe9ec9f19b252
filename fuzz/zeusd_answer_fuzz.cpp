// Any answer of a daemon is a record, which survives being written and read again, or is refused with a corrupt_data
// Error. The first byte selects the kind of answer.

#include "protocol/error_body.hpp"
#include "protocol/zeusd_api.hpp"

#include <zeus/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

namespace protocol = zeus::protocol;

template <typename Answer>
void try_answer(std::string_view body) {
  try {
    const auto answer = protocol::read_answer<Answer>(body);
    if (!(protocol::read_answer<Answer>(zeus::records::json_line(answer)) == answer)) {
      std::abort();
    }
  } catch (const zeus::Error& error) {
    if (error.kind() != zeus::ErrorKind::corrupt_data) {
      std::abort();
    }
  }
}

constexpr std::array attempts{
    &try_answer<protocol::DiscoveryAnswer>,
    &try_answer<protocol::TimeAnswer>,
    &try_answer<protocol::WhoAmIAnswer>,
    &try_answer<protocol::GpuPowerAnswer>,
    &try_answer<protocol::GpuEnergyAnswer>,
    &try_answer<protocol::GpuPowerLimitAnswer>,
    &try_answer<protocol::GpuPowerLimitRangeAnswer>,
    &try_answer<protocol::GpuPersistenceModeAnswer>,
    &try_answer<protocol::CpuEnergyAnswer>,
    &try_answer<protocol::CpuPowerAnswer>,
    &try_answer<protocol::GpuPowerEvent>,
    &try_answer<protocol::CpuPowerEvent>,
    &try_answer<protocol::Readings>,
    &try_answer<protocol::LeaseAnswer>,
    &try_answer<protocol::LeaseList>,
    &try_answer<protocol::Conflict>,
    &try_answer<protocol::Outcomes>,
};

}  // namespace

extern "C" int fuzz_zeusd_answer(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view body{reinterpret_cast<const char*>(data + 1), size - 1};
  attempts[(data[0] - std::size_t{'A'}) % attempts.size()](body);
  if (protocol::refusal_text(body).size() > 1000) {
    std::abort();
  }
  return 0;
}
