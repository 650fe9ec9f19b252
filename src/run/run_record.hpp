// The result of one `zeus run`, for programs: what its last lines tell people, and all that they leave out. Plain
// values; copy them freely between threads.
#pragma once

#include "records/job_view.hpp"

#include <zeus/energy.hpp>
#include <zeus/fields.hpp>
#include <zeus/training_report.hpp>
#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::run {

struct RunRecord {
  // A GPU on which the command trained.
  struct Gpu {
    int index = 0;
    std::string uuid;
    std::string name;

    template <typename Fields>
    static void describe(Fields& fields, const Gpu& self) {
      fields("index", self.index);
      fields("uuid", self.uuid);
      fields("name", self.name);
    }
  };

  std::optional<std::string> job;
  std::vector<Gpu> gpus;
  // As `zeus jobs` shows it; empty, with the reason, if nothing was recorded.
  std::optional<records::RecurrenceView> recurrence;
  std::string unrecorded;
  std::vector<records::TryView> tries;  // of the recurrence
  // For a command whose power limit was chosen without a job, as docs/train.md describes.
  std::optional<TrainingResult> training;
  std::string no_training;
  // Of the whole run; unknown if a part of it is.
  std::optional<Joules> energy;
  std::optional<Joules> uncertainty;  // half-width of the 95 % interval
  std::string energy_unknown;
  Seconds time;
  int exit_code = 0;

  void take(const std::optional<Energy>& whole, std::string_view why_not) {
    energy = whole ? std::optional{whole->value} : std::nullopt;
    uncertainty = whole ? std::optional{whole->uncertainty} : std::nullopt;
    energy_unknown = whole ? "" : why_not;
  }

  template <typename Fields>
  static void describe(Fields& fields, const RunRecord& self) {
    fields("job", self.job, field::because("no job was named"));
    fields("gpus", self.gpus);
    fields("recurrence", self.recurrence, field::because(self.unrecorded));
    fields("tries", self.tries);
    fields("training", self.training, field::because(self.no_training));
    fields("energy", self.energy, field::because(self.energy_unknown));
    fields("uncertainty", self.uncertainty, field::because(self.energy_unknown));
    fields("time", self.time);
    fields("exit_code", self.exit_code);
  }
};

}  // namespace zeus::run
