// A process that runs recurrences of jobs on servers, for tests that kill both:
//   server_http_worker NAME SEED RECURRENCES SERVERS UNTIL KEYS JOB...
// SERVERS are addresses with commas between them: who gets no answer asks the next one. It ends after that many
// recurrences, or once the file UNTIL is there. KEYS is `kept`, or `new` for a client that is wrong: it makes a new key
// each time it asks again. JOB... are gone through in order, again and again.
// Lines on standard output, with the seconds of the system's steady clock in front:
//   asks OPERATION SERVER, answered, broken WHY     for each request that is made
//   begun JOB RECURRENCE, started JOB TRY RECURRENCE BATCH_SIZE, profiled JOB RECURRENCE BATCH_SIZE,
//   epochs JOB TRY, finished JOB TRY OUTCOME EPOCHS for all that was acknowledged, with the numbers of the record
//   differs WHAT                                    an answer that is another one when it is asked for again
//   refused MESSAGE                                 then exit code 1
// Outcomes are drawn.

#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/random_id.hpp"
#include "jobs/job.hpp"
#include "records/json_writer.hpp"
#include "remote_jobs/server_address.hpp"
#include "remote_jobs/service_client.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace zeus::literals;
namespace protocol = zeus::protocol;
namespace records = zeus::records;
namespace remote_jobs = zeus::remote_jobs;

constexpr zeus::Seconds answer_time{10};
constexpr zeus::Seconds between_requests{0.05};
constexpr zeus::Seconds patience{300};
// One answer in so many is asked for again, at the next server.
constexpr std::uint64_t asked_twice = 8;

records::JobDefinition definition() {
  return {.batch_sizes = {16, 32, 64, 128},
          .default_batch_size = 64,
          .target = {},
          .max_epochs = 50,
          .policy = "zeus",
          .seed = 1,
          .max_slowdown = {},
          .device = {.model = "V100", .gpus = 1, .max_power = 250_W, .power_limits = {100_W, 175_W, 250_W}}};
}

class Worker {
 public:
  Worker(std::string_view servers, bool keeps_keys, records::JobOwner owner, std::uint64_t seed)
      : keeps_keys_{keeps_keys}, owner_{std::move(owner)}, draws_{seed} {
    for (std::size_t begin = 0; begin <= servers.size();) {
      const std::size_t end = std::min(servers.find(',', begin), servers.size());
      clients_.emplace_back(remote_jobs::server_address(servers.substr(begin, end - begin), zeus::Environment{}), "",
                            answer_time);
      begin = end + 1;
    }
    at_ = static_cast<std::size_t>(seed % clients_.size());
  }

  void recur(const std::string& job) {
    if (defined_.insert(job).second) {
      ask("define",
          {.method = "PUT", .path = remote_jobs::job_path(job), .body = records::json_line(definition()), .key = {}});
    }
    const std::uint64_t recurrence = begin(job);
    const std::string path = remote_jobs::job_path(job, fmt::format("/recurrences/{}/", recurrence + 1));
    while (true) {
      const protocol::NextAnswer answer = next(path);
      if (std::holds_alternative<protocol::GiveUpAnswer>(answer)) {
        return;
      }
      if (const auto* const profile = std::get_if<protocol::ProfileAnswer>(&answer)) {
        measure(path, *profile);
        say(fmt::format("profiled {} {} {}", job, recurrence, profile->asked.batch_size));
        continue;
      }
      const auto& run = std::get<protocol::RunAnswer>(answer);
      say(fmt::format("started {} {} {} {}", job, run.try_number - 1, recurrence, run.plan.batch_size));
      tell(
          path, "epochs",
          records::EpochsTrained{.try_number = run.try_number, .progress = {.epochs = 1, .time = zeus::Seconds{10.0}}});
      say(fmt::format("epochs {} {}", job, run.try_number - 1));
      const records::TryOver over = outcome_of(run.try_number);
      tell(path, "finished", over);
      say(fmt::format("finished {} {} {} {}", job, run.try_number - 1, records::to_string(over.result.outcome),
                      over.result.progress.epochs));
      if (reached(over.result.outcome)) {
        return;
      }
    }
  }

  void say(std::string_view line) const {
    fmt::print("{:.6f} {}\n", seconds(), line);
    static_cast<void>(std::fflush(stdout));
  }

 private:
  [[nodiscard]] double seconds() const { return (clock_.now() - zeus::Instant{}).value(); }

  std::uint64_t begin(const std::string& job) {
    const remote_jobs::Change change{.path = remote_jobs::job_path(job, "/recurrences"),
                                     .body = records::json_line(protocol::BeginRecurrence{
                                         .device = definition().device, .owner = owner_, .lease = {}}),
                                     .key = zeus::random_id()};
    const auto begun = protocol::read_service_answer<protocol::BegunRecurrence>(ask("begin", change));
    say(fmt::format("begun {} {}", job, begun.recurrence - 1));
    if (keeps_keys_ && draws_.bits() % asked_twice == 0) {
      const auto again = protocol::read_service_answer<protocol::BegunRecurrence>(ask_elsewhere("begin", change));
      if (again.recurrence != begun.recurrence) {
        say(fmt::format("differs begin {} {}", begun.recurrence, again.recurrence));
      }
    }
    return begun.recurrence - 1;
  }

  protocol::NextAnswer next(const std::string& path) {
    const remote_jobs::Change change{
        .path = path + "next", .body = records::json_line(protocol::AskNext{}), .key = zeus::random_id()};
    auto answer = protocol::read_service_answer<protocol::NextAnswer>(ask("next", change));
    // Requests for limits are not recorded, and the limits may be known meanwhile.
    const auto* const run = std::get_if<protocol::RunAnswer>(&answer);
    if (run != nullptr && keeps_keys_ && draws_.bits() % asked_twice == 0) {
      const auto again = protocol::read_service_answer<protocol::NextAnswer>(ask_elsewhere("next", change));
      const auto* const same = std::get_if<protocol::RunAnswer>(&again);
      if (same == nullptr || same->try_number != run->try_number || same->seed != run->seed ||
          same->plan.batch_size != run->plan.batch_size || same->plan.limit != run->plan.limit ||
          same->plan.budget != run->plan.budget || same->plan.max_epochs != run->plan.max_epochs ||
          same->plan.purpose != run->plan.purpose || same->why != run->why) {
        say(fmt::format("differs next {} of {}", run->try_number, path));
      }
    }
    return answer;
  }

  void measure(const std::string& path, const protocol::ProfileAnswer& profile) {
    std::vector<records::LimitProfile> limits;
    for (const zeus::Watts limit : profile.asked.limits) {
      limits.push_back({.limit = limit, .epoch_time = 10_s, .average_power = 100_W});
    }
    tell(path, "profiled",
         records::LimitsMeasured{
             .batch_size = profile.asked.batch_size, .limits = limits, .charged = {}, .time = zeus::Seconds{1.0}});
  }

  records::TryOver outcome_of(std::uint64_t number) {
    const auto kind = draws_.bits() % 10;
    const auto epochs = static_cast<int>(draws_.bits() % 20) + 1;
    return {.try_number = number,
            .result = {.outcome = kind < 7   ? records::TryOutcome::reached
                                  : kind < 9 ? records::TryOutcome::stopped
                                             : records::TryOutcome::lost,
                       .progress = {.epochs = epochs,
                                    .gpus = {{.gpu = "GPU-0",
                                              .energy = {.value = zeus::Joules{1000.0 * epochs},
                                                         .uncertainty = 1_J,
                                                         .systematic = {}}}},
                                    .time = zeus::Seconds{10.0 * epochs}},
                       .limit = 175_W,
                       .exit_code = 0}};
  }

  template <typename Body>
  void tell(const std::string& path, std::string_view operation, const Body& body) {
    ask(operation,
        {.path = fmt::format("{}{}", path, operation), .body = records::json_line(body), .key = zeus::random_id()});
  }

  std::string ask_elsewhere(std::string_view operation, const remote_jobs::Change& change) {
    at_ = (at_ + 1) % clients_.size();
    return ask(operation, change);
  }

  // Until there is an answer.
  std::string ask(std::string_view operation, remote_jobs::Change change) {
    const zeus::Instant until = clock_.now() + patience;
    while (true) {
      say(fmt::format("asks {} {}", operation, clients_[at_].address().shown));
      try {
        std::string answer = clients_[at_].make(change);
        say("answered");
        return answer;
      } catch (const zeus::Error& error) {
        say(fmt::format("broken {}", error.message()));
        if (!remote_jobs::is_passing(error) || clock_.now() >= until) {
          throw;
        }
      }
      at_ = (at_ + 1) % clients_.size();
      if (!keeps_keys_ && !change.key.empty()) {
        change.key = zeus::random_id();
      }
      clock_.sleep_until(clock_.now() + between_requests);
    }
  }

  bool keeps_keys_;
  records::JobOwner owner_;
  zeus::Random draws_;
  mutable zeus::SystemClock clock_;
  std::vector<remote_jobs::ServiceClient> clients_;
  std::size_t at_ = 0;
  std::set<std::string> defined_;
};

int run(const std::vector<std::string>& arguments) {
  zeus::SystemClock clock;
  records::JobOwner owner = zeus::jobs::this_site(clock, zeus::FileTree{}).owner;
  owner.process.command = arguments.at(0);
  const unsigned long recurrences = std::stoul(arguments.at(2));
  const std::filesystem::path until = arguments.at(4);
  const bool keeps_keys = arguments.at(5) == "kept";
  const std::vector<std::string> jobs(arguments.begin() + 6, arguments.end());
  Worker worker{arguments.at(3), keeps_keys, owner, std::stoull(arguments.at(1))};
  for (unsigned long done = 0; done < recurrences && !std::filesystem::exists(until); ++done) {
    try {
      worker.recur(jobs.at(done % jobs.size()));
    } catch (const zeus::Error& error) {
      worker.say(fmt::format("refused {}", error.what()));
      // A client that repeats a finished request gets a refusal, and goes on.
      if (keeps_keys || remote_jobs::is_passing(error)) {
        return 1;
      }
    }
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(std::vector<std::string>(words + 1, words + count));
  } catch (const std::exception& problem) {
    std::fputs(problem.what(), stderr);
    return 2;
  }
}
