#include "jobs/redefinition.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace zeus::jobs {

namespace {

struct Consequence {
  std::string_view key;
  std::string_view words;
};

constexpr std::array<Consequence, 15> consequences{{
    {"batch_sizes", "what is known of the remaining ones is kept, and new ones are untried"},
    {"default_batch_size", "everything learned is kept, and savings are relative to the new default"},
    {"target_metric", "the number of epochs is learned again, and measured power limits are kept"},
    {"max_epochs", "everything is kept except for tries that ended at the old maximum or went beyond the new one"},
    {"eta", "costs are weighed again, and everything learned is kept"},
    {"beta", "everything learned is kept"},
    {"window", "everything learned is kept, as far as the new window reaches back"},
    {"policy", "the new policy learns from the recorded tries"},
    {"seed", "everything learned is kept, and draws and seeds change"},
    {"max_slowdown", "everything learned is kept, and limits are chosen again"},
    {"pruning_rounds", "everything learned is kept, and batch sizes are pruned again"},
    {"explorations", "everything learned is kept"},
    {"prior_cost_j", "everything learned is kept, and beliefs start from the new prior"},
    {"prior_precision", "everything learned is kept, and beliefs start from the new prior"},
    {"learning_rate", "the number of epochs is learned again, and measured power limits are kept"},
}};

bool has(const records::JobDefinition& definition, int batch_size) {
  return definition.batch_sizes.empty()
             ? batch_size == 1
             : std::ranges::find(definition.batch_sizes, batch_size) != definition.batch_sizes.end();
}

// Whether a try that ended under one maximum of epochs would end the same way under another.
bool same_end(const records::TryResult& result, const records::JobDefinition& then, const records::JobDefinition& now) {
  const int epochs = result.progress.epochs;
  if (result.outcome == records::TryOutcome::exhausted) {
    return now.max_epochs <= then.max_epochs || epochs < then.max_epochs;
  }
  return !reached(result.outcome) || epochs <= now.max_epochs;
}

}  // namespace

std::string_view what_follows(std::string_view key) {
  const auto* const place = std::ranges::find(consequences, key, &Consequence::key);
  return place != consequences.end() ? place->words : std::string_view{};
}

std::vector<records::ReportedChange> reported(const std::vector<records::DefinitionChange>& changes) {
  std::vector<records::ReportedChange> told;
  for (const records::DefinitionChange& change : changes) {
    told.push_back({.key = std::string{change.key},
                    .was = change.was,
                    .now = change.now,
                    .follows = std::string{what_follows(change.key)}});
  }
  return told;
}

bool same_epochs(const records::JobDefinition& then, const records::JobDefinition& now) {
  return (then.max_epochs == 1) == (now.max_epochs == 1);
}

bool same_course(const records::JobDefinition& then, const records::JobDefinition& now) {
  return same_epochs(then, now) && then.target == now.target &&
         (!then.learning_rate || !now.learning_rate || then.learning_rate == now.learning_rate);
}

std::optional<records::JobEntryBody> still_true(const records::JobEntryBody& body, const records::JobDefinition& then,
                                                const records::JobDefinition& now) {
  if (const auto* const started = std::get_if<records::TryStarted>(&body)) {
    return has(now, started->event.plan.batch_size) ? std::optional{body} : std::nullopt;
  }
  if (const auto* const profiled = std::get_if<records::ProfileTaken>(&body)) {
    if (!has(now, profiled->measured.batch_size)) {
      return std::nullopt;
    }
    records::ProfileTaken kept = *profiled;
    if (!same_epochs(then, now)) {
      kept.measured.limits.clear();
    }
    return kept;
  }
  if (const auto* const finished = std::get_if<records::TryFinished>(&body)) {
    if (!has(now, finished->batch_size)) {
      return std::nullopt;
    }
    records::TryFinished kept = *finished;
    if (!same_course(then, now) || !same_end(kept.result, then, now)) {
      kept.result.left_out = "the job was defined differently";
    }
    return kept;
  }
  return body;
}

}  // namespace zeus::jobs
