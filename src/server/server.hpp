// The service: a store over HTTP. It owns everything that a server keeps beside the store, none of which decides
// anything: threads, open jobs, connections. Must be made, started and destroyed on the loop's thread, or while the
// loop does not run. The arguments must outlive it.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/log_writer.hpp"
#include "jobs/job.hpp"
#include "server/api.hpp"
#include "server/event_hub.hpp"
#include "server/open_jobs.hpp"
#include "server/pipeline_desk.hpp"
#include "server/service.hpp"
#include "server/service_metrics.hpp"
#include "service/access.hpp"
#include "store/job_store.hpp"
#include "transport/event_loop.hpp"
#include "transport/server.hpp"
#include "transport/workers.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace zeus::server {

struct ServerPlan {
  std::string version;
  std::string instance;
  service::Access access;
  bool takes_from_one_address = true;  // false: a proxy sends all requests from one
  std::size_t cache_bytes = std::size_t{256} << 20;
  std::uint64_t jobs_of_a_user = 10'000;
  bool metrics_per_job = true;
  std::optional<records::PlannedRanks> pipeline_plan = {};
  LogWriter* log = nullptr;  // of requests; none if null
};

class Server {
 public:
  Server(transport::EventLoop& loop, Clock& clock, store::JobStore& store, const jobs::Site& site, ServerPlan plan);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  void accept_on(FileDescriptor listener);
  void set_access(service::Access access);
  // Accepts nothing more, answers the requests in flight and ends streams; then calls `done`, at the latest after
  // `patience`. If it is still working then, its destructor waits for the store.
  void stop(Seconds patience, std::function<void()> done);
  // Whether an operation runs or waits.
  [[nodiscard]] bool is_working() const;

 private:
  void look_whether_over();
  void look_at_pipelines();

  transport::EventLoop& loop_;
  Clock& clock_;
  OpenJobs jobs_;
  ServiceMetrics metrics_;
  std::shared_ptr<EventHub> events_;
  std::optional<PipelineDesk> pipelines_;
  Service service_;
  std::unique_ptr<transport::Workers> workers_;
  Api api_;
  std::unique_ptr<transport::HttpServer> http_;
  transport::EventLoop::Watch watch_;
  transport::EventLoop::Watch pipelines_watch_;
  Instant give_up_at_;
  std::function<void()> stopped_;
};

}  // namespace zeus::server
