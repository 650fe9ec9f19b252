// The guardian. A process that holds leases starts it. When that process dies or hangs, the guardian puts back the
// settings found on the GPUs (control/guard_duty.hpp). It can do nothing else, and takes its orders only from files.

#include "backends/amdsmi/amdsmi_backend.hpp"
#include "backends/nvml/nvml_backend.hpp"
#include "base/clock.hpp"
#include "base/companion_process.hpp"
#include "base/file_tree.hpp"
#include "control/guard_duty.hpp"

#include <zeus/error.hpp>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

namespace {

template <typename T>
T number_from(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc{} || end != text.end()) {
    throw zeus::Error{zeus::ErrorKind::invalid_argument, "this program is started by Zeus itself, not by hand"};
  }
  return number;
}

int guard(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("zeus_guardian: Zeus starts this program itself, to put GPUs back when another program dies\n", stderr);
    return 2;
  }
  const auto holder = number_from<std::int64_t>(argv[2]);
  const auto started = number_from<std::uint64_t>(argv[3]);
  zeus::FileDescriptor connection = zeus::enter_companion();
  zeus::SystemClock clock;
  zeus::backends::nvml::NvmlBackend nvml{clock};
  zeus::backends::amdsmi::AmdsmiBackend amdsmi{clock};
  const std::array<zeus::device::Backend*, 2> backends{&nvml, &amdsmi};
  const zeus::control::GuardDuty duty{zeus::control::Ledger{zeus::FileTree{argv[1]}, zeus::FileTree{}}, holder, started,
                                      std::move(connection)};
  return zeus::control::stand_guard(duty, backends, clock) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return guard(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "zeus_guardian: %s\n", error.what());
    return 1;
  }
}
