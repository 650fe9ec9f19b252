// The service's metrics for Prometheus: of this process (requests, queues), and of each job, from the store, which are
// the same at every server. Any thread.
#pragma once

#include "protocol/metrics.hpp"
#include "records/job_summary.hpp"
#include "store/job_store.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::server {

// The state of a server at one moment.
struct ServerNow {
  std::size_t waiting = 0;
  std::size_t busy = 0;
  std::size_t connections = 0;
  std::size_t readers = 0;
  std::size_t open_jobs = 0;
  store::WriteCount written;
};

class ServiceMetrics {
 public:
  ServiceMetrics();

  void count_request(std::string_view operation, int status, Seconds took);
  // `jobs`: all of them, or none if there are no metrics per job.
  std::string text(const ServerNow& now, const store::SummaryPage& jobs);

 private:
  std::mutex mutex_;
  protocol::Metrics process_;
};

}  // namespace zeus::server
