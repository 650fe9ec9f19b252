// The bodies of /api/v1, which runs recurring jobs over a network: what `zeus serve` reads and answers, and what a
// client sends and reads. A job's definition, views, entries and exports are the records of those names themselves
// (records/job_definition.hpp, job_view.hpp, job_summary.hpp, job_entry.hpp). docs/http.md lists the routes.
// Here, tries and recurrences are numbered from 1, as people see them; entries, in events and exports, from 0.
// Plain values; any thread.
#pragma once

#include "records/job_definition.hpp"
#include "records/job_entry.hpp"
#include "records/job_summary.hpp"
#include "records/job_view.hpp"
#include "records/json_reader.hpp"
#include "records/limit_profile.hpp"
#include "records/try_report.hpp"
#include "records/wall_time_json.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::protocol {

// Clients recognize our service by this.
struct ServiceAnswer {
  std::string service = "zeus";
  std::string version;      // "0.1.0"
  std::uint32_t api = 1;    // the version of /api/v1
  std::string instance;     // another one at each start of a server
  bool tokens = false;      // whether it requires a token
  bool takes_beats = true;  // whether an owner that sends beats counts as alive for its lease only

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("service", self.service);
    fields("version", self.version);
    fields("api", self.api);
    fields("instance", self.instance);
    fields("tokens", self.tokens);
    fields("takes_beats", self.takes_beats);
  }
  friend bool operator==(const ServiceAnswer&, const ServiceAnswer&) = default;
};

// The answer when a request was not carried out, in place of all others here: `application/problem+json`.
struct Problem {
  std::string type = "about:blank";
  std::string title;  // of the status: "Conflict"
  std::uint32_t status = 0;
  std::string kind;                   // of zeus::Error: "conflict"
  std::string detail;                 // what happened to what
  std::optional<std::string> advice;  // what to do

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("type", self.type);
    fields("title", self.title);
    fields("status", self.status);
    fields("kind", self.kind);
    fields("detail", self.detail);
    fields("advice", self.advice, field::Rule{.left_out = true});
  }
  friend bool operator==(const Problem&, const Problem&) = default;
};

// An existing job: its definition, and the devices on which it runs now.
struct DefinedJob {
  std::string name;
  records::JobDefinition definition;
  records::JobDevice device;
  WallTime created;
  std::uint64_t entries = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("name", self.name);
    fields("definition", self.definition);
    fields("device", self.device);
    fields("created", self.created);
    fields("entries", self.entries);
  }
};

// What a redefinition has changed.
struct RedefinedJob {
  std::string name;
  std::vector<records::ReportedChange> changes;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("name", self.name);
    fields("changes", self.changes);
  }
};

// A recurrence whose figures are wrong counts for nothing from now on.
struct LeaveOutRecurrence {
  std::string reason;  // for people

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("reason", self.reason);
  }
};

struct LeftOutRecurrence {
  std::uint64_t recurrence = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.recurrence);
  }
};

struct ImportedJob {
  std::string name;
  std::uint64_t entries = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("name", self.name);
    fields("entries", self.entries);
  }
};

// The weights of a cost: energy_share x energy + (1 - energy_share) x max_power x time.
struct CostWeights {
  double energy_share = 0.5;
  Watts max_power;

  [[nodiscard]] Joules of(Joules energy, Seconds time) const {
    return energy_share * energy + (1.0 - energy_share) * (max_power * time);
  }

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("energy_share", self.energy_share, field::share);
    fields("max_power", self.max_power, field::from_zero);
  }
  friend bool operator==(const CostWeights&, const CostWeights&) = default;
};

// An owner needs a trained model, and has these devices for it.
struct BeginRecurrence {
  records::JobDevice device;
  records::JobOwner owner;
  // How long the owner may be silent and count as alive; 120 s by default.
  std::optional<Seconds> lease;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("device", self.device);
    fields("owner", self.owner);
    fields("lease", self.lease, field::Rule{.least = 1.0, .most = 30.0 * 86400.0, .left_out = true});
  }
};

struct BegunRecurrence {
  std::uint64_t recurrence = 0;
  // Its definition now; its tries are held to that.
  records::JobDefinition definition;
  records::JobDevice device;
  CostWeights cost;
  Seconds lease;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.recurrence);
    fields("definition", self.definition);
    fields("device", self.device);
    fields("cost", self.cost);
    fields("lease", self.lease);
  }
};

// What is known of a batch size on a recurrence's devices.
struct KnownOfBatchSize {
  std::vector<records::LimitProfile> limits;  // the measured ones, ascending
  std::optional<Watts> best_limit;            // the cheapest of these
  std::optional<Seconds> run_time;            // of the last complete run
  bool has_worked = false;                    // whether a try with it has ever reached the target
  bool others_have_worked = false;            // whether one with another batch size has

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("limits", self.limits);
    fields("best_limit", self.best_limit);
    fields("run_time", self.run_time);
    fields("has_worked", self.has_worked);
    fields("others_have_worked", self.others_have_worked);
  }
};

// What comes next? Names the last limits that could not all be measured, which are not asked for again.
struct AskNext {
  std::optional<records::ProfileAsked> unmeasured;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("unmeasured", self.unmeasured, field::Rule{.left_out = true});
  }
};

// Run one try; its start is on record.
struct RunAnswer {
  static constexpr std::string_view kind = "run";

  std::uint64_t try_number = 0;
  std::uint64_t seed = 0;  // for the script
  records::TryPlan plan;
  std::string why;  // one sentence without a full stop
  KnownOfBatchSize known;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.try_number);
    fields("seed", self.seed);
    fields("batch_size", self.plan.batch_size);
    fields("limit", self.plan.limit);
    fields("max_epochs", self.plan.max_epochs);
    fields("budget", self.plan.budget);
    fields("purpose", self.plan.purpose);
    fields("why", self.why);
    fields("known", self.known);
  }
};

// Measure these limits at this batch size, report `profiled`, then ask again.
struct ProfileAnswer {
  static constexpr std::string_view kind = "profile";

  records::ProfileAsked asked;
  std::uint64_t seed = 0;  // for the training that is measured: the next try's, unless others start one first
  KnownOfBatchSize known;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("batch_size", self.asked.batch_size);
    fields("limits", self.asked.limits);
    fields("seed", self.seed);
    fields("why", self.asked.why);
    fields("known", self.known);
  }
};

// The recurrence has failed as often as allowed, and is over.
struct GiveUpAnswer {
  static constexpr std::string_view kind = "give_up";

  records::FailedTries failed;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("tries", self.failed.tries);
    fields("never_reached", self.failed.never_reached);
  }
};

using NextAnswer = std::variant<RunAnswer, ProfileAnswer, GiveUpAnswer>;
using ClaimAnswer = std::variant<RunAnswer>;

// The training whose limits were to be measured has reached the target: it becomes the try.
struct ClaimTry {
  int batch_size = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("batch_size", self.batch_size, field::count_from_one);
  }
};

struct GiveUpRecurrence {
  std::string reason;  // for people

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("reason", self.reason);
  }
};

// The latest readings of a GPU of the recurrence.
struct GpuNow {
  std::string gpu;  // UUID
  std::string name;
  std::optional<Watts> power;
  std::optional<Watts> limit;
  std::optional<Megahertz> clock;
  std::optional<Celsius> temperature;
  std::vector<std::string> throttled_by;  // "power_cap", "hardware_thermal"

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("gpu", self.gpu);
    fields("name", self.name);
    fields("power", self.power, field::power);
    fields("limit", self.limit, field::power);
    fields("clock", self.clock, field::count);
    fields("temperature", self.temperature, field::Rule{.least = -field::most_counted, .most = field::most_counted});
    fields("throttled_by", self.throttled_by);
  }
  friend bool operator==(const GpuNow&, const GpuNow&) = default;
};

// A beat: the owner lives.
struct Beat {
  std::vector<GpuNow> gpus;  // may be empty

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("gpus", self.gpus);
  }
};

// The state of a recurrence after a report.
struct RecurrenceNow {
  std::uint64_t recurrence = 0;
  records::RecurrenceState state = records::RecurrenceState::running;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.recurrence);
    fields("state", self.state);
  }
};

// A machine that runs, or has just run, recurrences; known from their beats alone.
struct NodeRecurrence {
  std::string job;
  std::uint64_t recurrence = 0;
  std::string user;  // empty if no token was required
  std::int64_t pid = 0;
  std::string command;
  std::vector<GpuNow> gpus;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("job", self.job);
    fields("recurrence", self.recurrence);
    fields("user", self.user);
    fields("pid", self.pid);
    fields("command", self.command);
    fields("gpus", self.gpus);
  }
};
struct Node {
  std::string host;
  std::vector<NodeRecurrence> recurrences;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("host", self.host);
    fields("recurrences", self.recurrences);
  }
};
struct Nodes {
  std::vector<Node> nodes;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("nodes", self.nodes);
  }
};

// The saving on one day (UTC), over the recurrences of all jobs that reached their targets on it.
struct SavingsOfDay {
  std::string day;  // "2026-11-21"
  records::SavingsView savings;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("day", self.day);
    fields("savings", self.savings);
  }
};
struct SavingsAnswer {
  std::vector<SavingsOfDay> days;              // ascending; those with a counted recurrence
  std::optional<records::SavingsView> in_all;  // empty if none is counted

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("days", self.days, field::Rule{.members = most_days});
    fields("in_all", self.in_all, field::because("no recurrence that is counted reached in these days"));
  }

  static constexpr std::size_t most_days = 100'000;
};

// Pages: if there are more, `next` is the value for the same route's `before` (numbers) or `cursor` (jobs).

struct JobPage {
  std::vector<records::JobSummary> jobs;
  std::vector<records::UnreadableJob> unreadable;  // in the same range of the list
  std::optional<std::string> next;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("jobs", self.jobs);
    fields("unreadable", self.unreadable, field::Rule{.left_out = true});
    fields("next", self.next);
  }
};

struct RecurrencePage {
  std::vector<records::RecurrenceView> recurrences;  // newest first
  std::optional<std::uint64_t> next;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrences", self.recurrences);
    fields("next", self.next);
  }
};

struct TryPage {
  std::vector<records::TryView> tries;  // newest first
  std::optional<std::uint64_t> next;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("tries", self.tries);
    fields("next", self.next);
  }
};

// Reads a server's answer with a status of success. Fields that a newer server adds are ignored.
template <typename Answer>
Answer read_service_answer(std::string_view json) {
  return records::record_from_json<Answer>(json, {.refusal = "this is not the answer of a Zeus server",
                                                  .advice = "check that it is as new as this program",
                                                  .newer = true});
}

}  // namespace zeus::protocol
