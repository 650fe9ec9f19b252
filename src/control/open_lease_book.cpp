#include "control/open_lease_book.hpp"

#include "control/guardian_process.hpp"
#include "control/state_folder.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace zeus::control {

namespace fs = std::filesystem;

fs::path find_guardian(const Environment& environment, const fs::path& beside) {
  if (const std::optional<std::string> named = environment.get("ZEUS_GUARDIAN"); named && !named->empty()) {
    return *named;
  }
  // First beside a program as built, then beside a library as built; then from bin or lib, and from lib/<machine>, as
  // installed; then from bin, as pip installs.
  constexpr std::array places{"zeus_guardian", "../bin/zeus_guardian", "../libexec/zeus/zeus_guardian",
                              "../../libexec/zeus/zeus_guardian", "../lib/zeus/zeus_guardian"};
  std::string tried;
  for (const char* const place : places) {
    fs::path candidate = (beside / place).lexically_normal();
    if (::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    tried += (tried.empty() ? "" : ", ") + candidate.string();
  }
  throw Error{
      ErrorKind::not_found,
      fmt::format("the guardian, which puts GPUs back when this process dies, is not installed (tried {})", tried),
      "nothing is set without it; install Zeus completely, or name the program in ZEUS_GUARDIAN"};
}

LeaseBook open_lease_book(const Environment& environment, const FileTree& machine, const fs::path& beside,
                          std::vector<device::DiscoveredGpu> gpus, Clock& clock, Lends lends,
                          std::shared_ptr<Lessor> lessor) {
  fs::path folder;
  fs::path guardian;
  try {
    folder = make_state_folder(environment, ::geteuid());
    guardian = find_guardian(environment, beside);
  } catch (const Error& error) {
    if (!lessor) {
      throw;
    }
    return LeaseBook{std::move(gpus), std::move(lessor), lends, error};
  }
  return LeaseBook{Ledger{FileTree{folder}, machine},
                   std::move(gpus),
                   std::make_shared<GuardianProcess>(GuardianProcess::Plan{guardian, folder, machine}),
                   clock,
                   lends,
                   std::move(lessor)};
}

}  // namespace zeus::control
