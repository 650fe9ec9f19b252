// Everything that the daemon serves, as its routes see it. Made by the service; used on the loop's thread only.
#pragma once

#include "daemon/cpu_power_meter.hpp"
#include "daemon/cpu_reader.hpp"
#include "daemon/daemon_metrics.hpp"
#include "daemon/gpu_reader.hpp"
#include "daemon/gpu_seat.hpp"
#include "daemon/lease_desk.hpp"
#include "daemon/power_stream.hpp"
#include "protocol/discovery.hpp"
#include "service/access.hpp"
#include "setter/link/remote_audit.hpp"

#include <zeus/units.hpp>

#include <memory>
#include <string>
#include <vector>

namespace zeus::daemon {

struct ServedGpu {
  device::GpuIdentity identity;
  std::unique_ptr<GpuReader> reader;
  std::unique_ptr<GpuSeat> seat;
  std::unique_ptr<PowerStream> stream;
  bool counts_energy = false;
};

struct ServedCpu {
  std::unique_ptr<CpuReader> reader;
  std::unique_ptr<CpuPowerMeter> power;
  std::unique_ptr<PowerStream> stream;
};

struct Node {
  Loop& loop;
  service::Access access;  // `served` has the groups of routes
  bool logs_requests = false;
  std::shared_ptr<setter::RemoteAudit> audit;  // null: there is none
  protocol::DaemonIdentity identity;
  std::vector<ServedGpu> gpus;
  std::vector<ServedCpu> cpus;
  std::unique_ptr<PowerStream> no_device;  // for a listener that asks for no device
  std::unique_ptr<LeaseDesk> desk;
  DaemonMetrics metrics;

  // By its number, which must exist.
  [[nodiscard]] ServedGpu& gpu(int number) { return gpus.at(static_cast<std::size_t>(number)); }
  [[nodiscard]] const ServedGpu& gpu(int number) const { return gpus.at(static_cast<std::size_t>(number)); }
  [[nodiscard]] ServedCpu& cpu(int number) { return cpus.at(static_cast<std::size_t>(number)); }
};

}  // namespace zeus::daemon
