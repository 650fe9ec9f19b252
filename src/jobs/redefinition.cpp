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
    {"batch_sizes", "what is known of those that remain stays, and new ones are untried"},
    {"default_batch_size", "all that was learned stays, and savings are counted against the new default"},
    {"target_metric", "how many epochs it takes is learned again, and measured power limits stay"},
    {"max_epochs", "all stays except tries that ended by the old maximum or went beyond the new one"},
    {"eta", "costs are weighed again, and all that was learned stays"},
    {"beta", "all that was learned stays"},
    {"window", "all that was learned stays, as far as the new window remembers it"},
    {"policy", "the new policy learns from the earlier tries"},
    {"seed", "all that was learned stays, and draws and seeds change"},
    {"max_slowdown", "all that was learned stays, and limits are chosen again"},
    {"pruning_rounds", "all that was learned stays, and batch sizes are pruned again"},
    {"explorations", "all that was learned stays"},
    {"prior_cost_j", "all that was learned stays, and beliefs start from other values"},
    {"prior_precision", "all that was learned stays, and beliefs start from other values"},
    {"learning_rate", "how many epochs it takes is learned again, and measured power limits stay"},
}};

bool has(const records::JobDefinition& definition, int batch_size) {
  return definition.batch_sizes.empty()
             ? batch_size == 1
             : std::ranges::find(definition.batch_sizes, batch_size) != definition.batch_sizes.end();
}

// Whether a try that ended under one maximum of epochs would end the same way under another.
bool same_end(const records::TryEnded& event, const records::JobDefinition& then, const records::JobDefinition& now) {
  if (event.outcome == records::TryOutcome::exhausted) {
    return now.max_epochs <= then.max_epochs || event.epochs < then.max_epochs;
  }
  return !reached(event.outcome) || event.epochs <= now.max_epochs;
}

}  // namespace

std::string_view what_follows(std::string_view key) {
  const auto* const place = std::ranges::find(consequences, key, &Consequence::key);
  return place != consequences.end() ? place->words : std::string_view{};
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
    return has(now, started->event.batch_size) ? std::optional{body} : std::nullopt;
  }
  if (const auto* const profiled = std::get_if<records::ProfileTaken>(&body)) {
    if (!has(now, profiled->event.batch_size)) {
      return std::nullopt;
    }
    records::ProfileTaken kept = *profiled;
    if (!same_epochs(then, now)) {
      kept.event.limits.clear();
    }
    return kept;
  }
  if (const auto* const finished = std::get_if<records::TryFinished>(&body)) {
    if (!has(now, finished->event.batch_size)) {
      return std::nullopt;
    }
    records::TryFinished kept = *finished;
    if (!same_course(then, now) || !same_end(kept.event, then, now)) {
      kept.left_out = "the job was defined differently";
    }
    return kept;
  }
  return body;
}

}  // namespace zeus::jobs
