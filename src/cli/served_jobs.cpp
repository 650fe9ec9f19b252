#include "cli/kept_jobs.hpp"
#include "protocol/query.hpp"
#include "remote_jobs/server_address.hpp"
#include "remote_jobs/service_client.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace zeus::cli {

namespace {

using remote_jobs::job_path;

// A server needs a while to import a long history.
constexpr Seconds time_to_import{300};

class ServedJobs final : public KeptJobs {
 public:
  ServedJobs(const Context& context, const std::string& server)
      : client_{remote_jobs::server_address(server), context.environment.get("ZEUS_TOKEN").value_or(""),
                time_to_import} {}

  [[nodiscard]] std::string location() const override { return client_.address().shown; }
  std::vector<records::JobSummary> summaries(const LeftOut& /*left_out*/) override {
    std::vector<records::JobSummary> all;
    std::string path = "/api/v1/jobs?limit=1000";
    while (true) {
      auto page = client_.get<protocol::JobPage>(path);
      std::ranges::move(page.jobs, std::back_inserter(all));
      if (!page.next) {
        return all;
      }
      path = fmt::format("/api/v1/jobs?limit=1000&cursor={}", protocol::percent_encoded(*page.next));
    }
  }
  records::JobView view(const std::string& job) override {
    return client_.get<records::JobView>(job_path(job, "?all=true"));
  }
  records::JobDefinition definition(const std::string& job) override {
    return client_.get<records::JobView>(job_path(job, "?last=0")).definition;
  }
  std::string exported(const std::string& job) override { return client_.get_text(job_path(job, "/export")); }
  std::vector<protocol::ReportedChange> redefine(const std::string& job,
                                                 const records::JobDefinition& definition) override {
    return client_
        .change<protocol::RedefinedJob>(
            {.path = job_path(job, "/redefine"), .body = records::json_line(definition), .key = {}})
        .changes;
  }
  bool has(const std::string& job) override {
    try {
      client_.get_text(job_path(job, "?last=0"));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::not_found) {
        return false;
      }
      if (error.kind() != ErrorKind::corrupt_data && error.kind() != ErrorKind::unavailable) {
        throw;
      }
    }
    return true;
  }
  void forget(const std::string& job) override {
    client_.make({.method = "DELETE", .path = job_path(job), .body = {}, .key = {}});
  }
  protocol::ImportedJob import(const std::string& job, const std::string& text) override {
    return protocol::read_service_answer<protocol::ImportedJob>(
        client_.make({.path = job_path(job, "/import"), .body = text, .type = "application/x-ndjson", .key = {}}));
  }

 private:
  remote_jobs::ServiceClient client_;
};

}  // namespace

std::unique_ptr<KeptJobs> served_jobs(const Context& context, const std::string& server) {
  return std::make_unique<ServedJobs>(context, server);
}

}  // namespace zeus::cli
