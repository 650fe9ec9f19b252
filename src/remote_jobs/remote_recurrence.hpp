// Carries out a recurrence that a server keeps. It asks the server what to do; a thread of its own reports the results,
// in order and once. While the server is away the training goes on, and new measurements are known here. One thread,
// except for beat(), which any thread may call.
#pragma once

#include "base/clock.hpp"
#include "jobs/recurrence_link.hpp"
#include "protocol/jobs_api.hpp"
#include "remote_jobs/outbox.hpp"
#include "remote_jobs/server_address.hpp"
#include "remote_jobs/service_client.hpp"

#include <zeus/units.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::remote_jobs {

struct RemotePlan {
  ServerAddress address;
  std::string token;      // used if the address has none
  Seconds patience{600};  // how long to wait for an absent server when nothing else is left to do
  // Whether the user wants all waiting to end.
  std::function<bool()> hurry = [] { return false; };
  // The current readings of the owner's GPUs, for display elsewhere.
  std::function<std::vector<protocol::GpuNow>()> readings = [] { return std::vector<protocol::GpuNow>{}; };
  // Prints what the recurrence waits for while it is idle.
  std::function<void(const std::string&)> say = [](const std::string& /*line*/) {};
};

class RemoteRecurrence final : public jobs::RecurrenceLink {
 public:
  // Begins a recurrence of an existing job. The clock outlives it.
  RemoteRecurrence(Clock& clock, RemotePlan plan, const std::string& job, const records::JobDevice& device,
                   const records::JobOwner& owner);
  RemoteRecurrence(const RemoteRecurrence&) = delete;
  RemoteRecurrence& operator=(const RemoteRecurrence&) = delete;
  ~RemoteRecurrence() override;

  [[nodiscard]] std::uint64_t number() const override { return begun_.recurrence; }
  [[nodiscard]] const records::JobDefinition& definition() const override { return begun_.definition; }
  [[nodiscard]] const optimize::JobSpec& spec() const override { return spec_; }
  [[nodiscard]] std::vector<records::LimitProfile> limits(int batch_size) const override;
  [[nodiscard]] std::optional<Seconds> run_time(int batch_size) const override;
  std::uint64_t seed_of_next_try() override { return next_seed_; }
  Worked worked(int batch_size) override;

  [[nodiscard]] bool over() const override { return over_; }
  std::optional<jobs::Step> next(jobs::Wait wait) override;
  std::optional<records::TryStarted> claim(int batch_size, jobs::Wait wait) override;
  void profiled(const records::LimitsMeasured& measured) override;
  void epochs(const records::TryProgress& progress) override;
  void finished(const records::TryResult& result) override;
  void give_up(const std::string& reason) override;
  void beat() override;
  void settle() override;
  void let_go() noexcept override;

 private:
  [[nodiscard]] std::string path(std::string_view operation) const;
  [[nodiscard]] Change change(std::string_view operation, std::string body) const;
  void tell(Change change, Outbox::Kind kind = Outbox::Kind::keep);
  // The answer to a change that is needed to go on, after all earlier changes were sent. Waits for as long as there is
  // patience with the server, or until the user wants to stop; or a moment, and the same question must follow.
  std::optional<std::string> ask(std::string_view operation, const std::string& body, jobs::Wait wait);
  void settle(Patience& left);
  void wait_a_last_time();
  void throw_refusal() const;
  void know(int batch_size, const protocol::KnownOfBatchSize& known);
  records::TryStarted step_of(const protocol::RunAnswer& answer);

  Clock& clock_;
  RemotePlan plan_;
  std::string job_;
  std::shared_ptr<ServiceClient> client_;  // for the outbox alone, once there is one
  protocol::BegunRecurrence begun_;
  optimize::JobSpec spec_;
  std::map<int, protocol::KnownOfBatchSize> known_;
  std::uint64_t next_seed_ = 0;
  std::optional<records::ProfileAsked> asked_;  // not yet answered with all that was asked for
  std::uint64_t try_number_ = 0;                // of the running try, from 1
  bool over_ = false;
  bool waited_in_vain_ = false;  // for a server that is away; nothing waits for it again
  bool asking_ = false;
  std::atomic<Instant> last_beat_;
  Outbox outbox_;
};

}  // namespace zeus::remote_jobs
