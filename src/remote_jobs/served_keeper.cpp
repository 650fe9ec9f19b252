#include "remote_jobs/served_keeper.hpp"

#include "jobs/job.hpp"
#include "protocol/jobs_api.hpp"
#include "protocol/query.hpp"
#include "remote_jobs/patience.hpp"
#include "remote_jobs/service_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zeus::remote_jobs {

namespace {

// A server needs a while for a long history, and to fold it again.
constexpr Seconds time_for_a_history{300};
// Other questions wait for as long as the user is patient.
constexpr Seconds shortest_question{1};
constexpr Seconds longest_question{30};

class ServedKeeper final : public jobs::Keeper {
 public:
  ServedKeeper(RemotePlan plan, records::JobOwner owner, Clock& clock)
      : clock_{clock},
        plan_{std::move(plan)},
        owner_{std::move(owner)},
        client_{plan_.address, plan_.token, std::clamp(plan_.patience, shortest_question, longest_question)},
        patient_{plan_.address, plan_.token, time_for_a_history} {}

  [[nodiscard]] std::string location() const override { return plan_.address.shown; }

  std::optional<records::JobDefinition> find(const std::string& job) override {
    try {
      return patiently(clock_, plan_.hurry,
                       [&] { return client_.get<records::JobView>(job_path(job, "?last=0")).definition; });
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::not_found) {
        throw;
      }
      return std::nullopt;
    }
  }
  void define(const std::string& job, const records::JobDefinition& definition) override {
    patiently(clock_, plan_.hurry, [&] {
      return client_.make({.method = "PUT", .path = job_path(job), .body = records::json_line(definition), .key = {}});
    });
  }
  std::unique_ptr<jobs::RecurrenceLink> begin(const std::string& job, const records::JobDevice& device) override {
    return std::make_unique<RemoteRecurrence>(clock_, plan_, job, device, owner_);
  }

  records::JobView view(const std::string& job) override {
    return patient_.get<records::JobView>(job_path(job, "?all=true"));
  }
  records::JobView view_of_recurrence(const std::string& job, std::uint64_t recurrence) override {
    auto part = client_.get<records::JobView>(job_path(job, "?last=64"));
    if (std::ranges::find(part.recurrences, recurrence, &records::RecurrenceView::number) == part.recurrences.end()) {
      part = view(job);
    }
    jobs::keep_alone(part, recurrence);
    return part;
  }
  std::string exported(const std::string& job) override { return patient_.get_text(job_path(job, "/export")); }
  std::vector<records::ReportedChange> redefine(const std::string& job,
                                                const records::JobDefinition& definition) override {
    return patient_
        .change<protocol::RedefinedJob>(
            {.path = job_path(job, "/redefine"), .body = records::json_line(definition), .key = {}})
        .changes;
  }
  void leave_out(const std::string& job, std::uint64_t recurrence, const std::string& reason) override {
    client_.make({.path = job_path(job, fmt::format("/recurrences/{}/leave_out", recurrence)),
                  .body = records::json_line(protocol::LeaveOutRecurrence{.reason = reason}),
                  .key = {}});
  }
  void forget(const std::string& job) override {
    client_.make({.method = "DELETE", .path = job_path(job), .body = {}, .key = {}});
  }

  std::vector<records::JobSummary> summaries(const LeftOut& left_out) override {
    std::vector<records::JobSummary> all;
    std::string path = "/api/v1/jobs?limit=1000";
    while (true) {
      auto page = client_.get<protocol::JobPage>(path);
      std::ranges::move(page.jobs, std::back_inserter(all));
      for (const records::UnreadableJob& one : page.unreadable) {
        left_out(one.name, jobs::UnreadableJob{location(), one.name, one.why});
      }
      if (!page.next) {
        return all;
      }
      path = fmt::format("/api/v1/jobs?limit=1000&cursor={}", protocol::percent_encoded(*page.next));
    }
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
  std::uint64_t import(const std::string& job, const std::string& text) override {
    return patient_
        .change<protocol::ImportedJob>(
            {.path = job_path(job, "/import"), .body = text, .type = "application/x-ndjson", .key = {}})
        .entries;
  }

 private:
  Clock& clock_;
  RemotePlan plan_;
  records::JobOwner owner_;
  ServiceClient client_;
  ServiceClient patient_;
};

}  // namespace

std::unique_ptr<jobs::Keeper> served_keeper(RemotePlan plan, records::JobOwner owner, Clock& clock) {
  return std::make_unique<ServedKeeper>(std::move(plan), std::move(owner), clock);
}

}  // namespace zeus::remote_jobs
