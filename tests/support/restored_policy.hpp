// The promise of every policy about its saved state: restored at any point of a history, a new policy decides and saves
// from then on exactly like the original. For tests of policies.
#pragma once

#include "base/state_text.hpp"
#include "optimize/batch_size/policy.hpp"
#include "optimize/batch_size/profile_book.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace zeus::test {

inline std::string saved(const optimize::Policy& policy) {
  StateWriter writer;
  policy.save(writer);
  return writer.take();
}

inline std::string described(const optimize::Decision& decision) {
  if (const auto* profile = std::get_if<optimize::ProfileLimits>(&decision)) {
    std::string text = fmt::format("profile {}:", profile->arm);
    for (const Watts limit : profile->limits) {
      text += fmt::format(" {}", limit.value());
    }
    return text;
  }
  const auto& run = std::get<optimize::RunTry>(decision);
  return fmt::format("run {} at {} for {} as {}, profile {}, usual {}", run.arm, run.limit.value_or(Watts{}).value(),
                     run.max_epochs.value_or(0), static_cast<int>(run.purpose), run.profile,
                     run.usual_cost.value_or(Joules{}).value());
}

// The book gets an event before the policy does, as in a recurring job.
inline void learn(optimize::ProfileBook& profiles, const optimize::JobSpec& spec, const records::JobEvent& event) {
  if (const auto* profiled = std::get_if<records::LimitsProfiled>(&event)) {
    profiles.add(spec.arm_of(profiled->batch_size), profiled->limits);
  } else if (const auto* start = std::get_if<records::StartSeen>(&event)) {
    profiles.begin_with(profiles.cost().of(start->energy, start->time));
  } else if (const auto* changed = std::get_if<records::DeviceChanged>(&event)) {
    profiles.restart(changed->max_power);
  }
}

inline void expect_goes_on_from_its_saved_state(const optimize::JobSpec& spec,
                                                const std::function<std::unique_ptr<optimize::Policy>()>& make,
                                                const std::vector<records::JobEvent>& history) {
  optimize::ProfileBook profiles{spec};
  const std::unique_ptr<optimize::Policy> kept = make();
  std::vector<std::unique_ptr<optimize::Policy>> restored;
  for (std::size_t event = 0; event < history.size(); ++event) {
    const std::string text = saved(*kept);
    StateReader reader{text};
    restored.push_back(make());
    restored.back()->restore(reader);
    EXPECT_TRUE(reader.done());
    learn(profiles, spec, history[event]);
    kept->apply(history[event], profiles);
    const optimize::Question question{.number = 40 + event, .recurrence = 9, .spent = {}, .best = {}};
    for (std::size_t from = 0; from < restored.size(); ++from) {
      restored[from]->apply(history[event], profiles);
      EXPECT_EQ(saved(*restored[from]), saved(*kept)) << "restored before event " << from << ", after " << event;
      EXPECT_EQ(described(restored[from]->decide(question, profiles)), described(kept->decide(question, profiles)))
          << "restored before event " << from << ", after " << event;
    }
  }
}

}  // namespace zeus::test
