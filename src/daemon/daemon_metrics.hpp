// The daemon's metrics of itself and of its devices, for Prometheus: the catalogue, and the counts as they happen.
// Devices are read at each scrape. The loop's thread.
#pragma once

#include "protocol/device_readings.hpp"
#include "protocol/metrics.hpp"

#include <zeus/units.hpp>

#include <string>
#include <string_view>

namespace zeus::daemon {

struct Node;
struct ServedGpu;
struct ServedCpu;

class DaemonMetrics {
 public:
  DaemonMetrics();

  // `route` is the table's own name, or "other" for a path in no table: clients do not choose it.
  void count_request(std::string_view route, int status, Seconds time);
  // What was read for this scrape; values that could not be read are left out.
  void note_gpu(const ServedGpu& gpu, const protocol::GpuReadings& readings);
  void note_cpu(const ServedCpu& cpu, const protocol::CpuReadings& readings);
  // All metrics, with the present state of the node.
  [[nodiscard]] std::string text(const Node& node);

 private:
  protocol::Metrics metrics_;
};

}  // namespace zeus::daemon
