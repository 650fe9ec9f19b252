// What a policy program and the simulator say to each other: one JSON object a line, as docs/policy-programs.md
// describes. Fields that the store records too have the same names as there. Plain values; copy them freely between
// threads.
#pragma once

#include "records/job_event.hpp"
#include "records/limit_profile.hpp"

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::research {

// A new job begins; whatever was learned is of another one.
struct JobLine {
  static constexpr std::string_view kind = "job";
  static constexpr int version = 1;

  std::vector<int> batch_sizes;  // ascending
  int default_batch_size = 0;
  std::vector<Watts> limits;  // ascending
  Watts max_power;
  int max_epochs = 0;
  double eta = 0.0;
  double beta = 0.0;
  std::size_t window = 0;
  std::uint64_t seed = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields.version(version);
    fields("batch_sizes", self.batch_sizes);
    fields("default_batch_size", self.default_batch_size);
    fields("limits", self.limits);
    fields("max_power", self.max_power);
    fields("max_epochs", self.max_epochs);
    fields("eta", self.eta);
    fields("beta", self.beta);
    fields("window", self.window);
    fields("seed", self.seed);
  }
};

struct StartedLine {
  static constexpr std::string_view kind = "started";

  std::uint64_t try_number = 0;
  std::uint64_t recurrence = 0;
  records::TryPlan plan;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.try_number);
    fields("recurrence", self.recurrence);
    fields("batch_size", self.plan.batch_size);
    fields("purpose", self.plan.purpose);
    fields("limit", self.plan.limit);
    fields("max_epochs", self.plan.max_epochs);
    fields("budget", self.plan.budget);
  }
};

struct LimitLine {
  Watts limit;
  Seconds epoch_time;
  Watts average_power;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("limit", self.limit);
    fields("epoch_time", self.epoch_time);
    fields("average_power", self.average_power);
  }
};

struct ProfiledLine {
  static constexpr std::string_view kind = "profiled";

  std::uint64_t recurrence = 0;
  int batch_size = 0;
  std::vector<LimitLine> limits;
  Joules energy;  // beside any training
  Seconds time;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.recurrence);
    fields("batch_size", self.batch_size);
    fields("limits", self.limits);
    fields("energy", self.energy);
    fields("time", self.time);
  }
};

struct FinishedLine {
  static constexpr std::string_view kind = "finished";

  std::uint64_t try_number = 0;
  std::uint64_t recurrence = 0;
  int batch_size = 0;
  records::TryOutcome outcome = records::TryOutcome::lost;
  int epochs = 0;
  Joules energy;
  Seconds time;
  Joules cost;  // of both, by the job's eta

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("try", self.try_number);
    fields("recurrence", self.recurrence);
    fields("batch_size", self.batch_size);
    fields("outcome", self.outcome);
    fields("epochs", self.epochs);
    fields("energy", self.energy);
    fields("time", self.time);
    fields("cost", self.cost);
  }
};

struct GivenUpLine {
  static constexpr std::string_view kind = "given_up";

  std::uint64_t recurrence = 0;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("recurrence", self.recurrence);
  }
};

struct MovedLine {
  static constexpr std::string_view kind = "moved";

  std::string device;
  Watts max_power;
  std::vector<Watts> limits;  // empty: the same as before

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("device", self.device);
    fields("max_power", self.max_power);
    fields("limits", self.limits);
  }
};

// The only line that wants an answer.
struct DecideLine {
  static constexpr std::string_view kind = "decide";

  std::uint64_t number = 0;
  std::uint64_t recurrence = 0;
  int tries = 0;
  Joules spent;
  std::optional<Joules> best;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("number", self.number);
    fields("recurrence", self.recurrence);
    fields("tries", self.tries);
    fields("spent", self.spent);
    fields("best", self.best);
  }
};

using PolicyLine = std::variant<JobLine, StartedLine, ProfiledLine, FinishedLine, GivenUpLine, MovedLine, DecideLine>;

// The answer. With `measure`, those limits are measured first, and the question comes again.
struct PolicyAnswer {
  int batch_size = 0;
  std::optional<Watts> limit;  // the cheapest measured one if there is none
  std::vector<Watts> measure;
  std::optional<bool> profile;
  std::optional<int> max_epochs;
  std::optional<records::TryPurpose> purpose;
  std::optional<Joules> usual_cost;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("batch_size", self.batch_size, field::count_from_one);
    fields("limit", self.limit, field::may_lack(field::power_above_zero));
    fields("measure", self.measure, field::may_lack(field::power_above_zero));
    fields("profile", self.profile, field::Rule{.left_out = true});
    fields("max_epochs", self.max_epochs, field::may_lack(field::count_from_one));
    fields("purpose", self.purpose, field::Rule{.left_out = true});
    fields("usual_cost", self.usual_cost, field::may_lack(field::energy));
  }
};

}  // namespace zeus::research
