// The setter, as zeusd starts it: a process with the rights to set GPUs, which zeusd itself gives up. It ends when
// zeusd does, and puts back what is still set. One thread; the seats and the audit log have threads of their own.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/socket_child.hpp"
#include "setter/link/channel.hpp"
#include "setter/link/remote_audit.hpp"
#include "setter/link/seat.hpp"

#include <zeus/units.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::setter {

struct SetterPlan {
  std::string gpu_backend;               // "auto", "nvml", "amdsmi"; "none" if no GPU is served
  bool sets = false;                     // keeps the right to set GPUs
  bool logs_all = false;                 // also lines of the level `debug`
  std::optional<std::string> audit_log;  // a file
  std::optional<std::string> commands;   // a file of commands that set GPUs in place of the driver
};

class SetterProcess {
 public:
  // Starts the program `zeus_setter`, or `zeus_command_setter` if there are commands, from the folder `beside` or from
  // where it is installed. Give up rights only after that. A not_found Error lists the places if it is in none of them.
  SetterProcess(const std::filesystem::path& beside, const SetterPlan& plan);

  struct Gpu {
    std::string uuid;
    std::shared_ptr<Seat> seat;
  };
  // Waits until it can set GPUs, and gives them in its order. Throws the Error for which it cannot. Once only.
  std::vector<Gpu> take_gpus();
  [[nodiscard]] const std::shared_ptr<RemoteAudit>& audit() const { return audit_; }

  // Becomes readable when the setter has ended.
  [[nodiscard]] int descriptor() const { return channel_.descriptor(); }
  // Lets it end, once no seat is used any more; false if it takes longer.
  bool end(Seconds patience);

 private:
  Channel channel_;
  std::unique_ptr<SocketChild> child_;
  std::shared_ptr<RemoteAudit> audit_;
};

}  // namespace zeus::setter
