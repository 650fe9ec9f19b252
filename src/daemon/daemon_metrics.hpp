// What is counted of the daemon and of its devices, for Prometheus: the catalogue, and what is counted as it happens.
// What devices say is asked for at each scrape. The loop's thread.
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

  // `route` is the table's own word, "other" for what is in no table: clients do not choose it.
  void count_request(std::string_view route, int status, Seconds time);
  // What was read for this scrape; of what could not be read nothing is said.
  void note_gpu(const ServedGpu& gpu, const protocol::GpuReadings& readings);
  void note_cpu(const ServedCpu& cpu, const protocol::CpuReadings& readings);
  // All of it, with what is known of the node now.
  [[nodiscard]] std::string text(const Node& node);

 private:
  protocol::Metrics metrics_;
};

}  // namespace zeus::daemon
