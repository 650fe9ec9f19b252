// The guardian as a program of its own (apps/zeus_guardian.cpp), started when it is first needed and again if it has
// died. Threads: any. One for each process that takes leases; a forked child that takes leases starts its own.
#pragma once

#include "base/companion_process.hpp"
#include "base/holder.hpp"
#include "control/guardian.hpp"

#include <zeus/units.hpp>

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace zeus::control {

class GuardianProcess final : public Guardian {
 public:
  struct Plan {
    std::filesystem::path program;
    std::filesystem::path folder;  // of the records
    FileTree machine;              // where /proc is
    // How long it may take to open the devices: that takes seconds if no other process has them open.
    Seconds patience{60};
  };
  explicit GuardianProcess(Plan plan);

  // An unavailable Error if the guardian cannot be started, does not do its work or does not see the GPU.
  void watch(const std::string& gpu) override;
  void notice() noexcept override;

 private:
  const Plan plan_;
  std::mutex mutex_;
  pid_t owner_ = 0;  // the process that started the companion
  std::unique_ptr<CompanionProcess> companion_;
  std::set<std::string> seen_;  // by the companion, by UUID
};

}  // namespace zeus::control
