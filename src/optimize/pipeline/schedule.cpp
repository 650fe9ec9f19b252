#include "optimize/pipeline/schedule.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace zeus::optimize::pipeline {

namespace {

constexpr std::string_view forward = "forward";
constexpr std::string_view backward = "backward";
constexpr std::string_view recomputation = "recomputation";
constexpr std::string_view forward_backward = "forward_backward";
constexpr std::string_view backward_input = "backward_input";
constexpr std::string_view backward_weight = "backward_weight";

constexpr std::size_t most_in_a_schedule = 20'000'000;

constexpr std::array schedules{
    Schedule::gpipe,       Schedule::one_forward_one_backward, Schedule::interleaved, Schedule::early_recomputation,
    Schedule::zero_bubble,
};

// One computation, at its place in the order of its device.
struct Step {
  std::string_view instruction;
  std::size_t stage;
  std::size_t microbatch;
};

using Order = std::vector<Step>;

// The k-th chunk of work that a device of an interleaved pipeline does in one direction. A device takes `devices`
// micro-batches through one model chunk, then the same micro-batches through the next.
Step interleaved_step(const PipelineShape& shape, std::size_t device, std::size_t k, bool is_forward) {
  const std::size_t round = shape.devices * shape.chunks;
  const std::size_t in_order = k % round / shape.devices;
  const std::size_t chunk = is_forward ? in_order : shape.chunks - 1 - in_order;
  return {.instruction = is_forward ? forward : backward,
          .stage = chunk * shape.devices + device,
          .microbatch = k / round * shape.devices + k % shape.devices};
}

Order interleaved_order(const PipelineShape& shape, std::size_t device) {
  const std::size_t total = shape.microbatches * shape.chunks;
  const std::size_t ahead = (shape.devices - device - 1) * 2 + (shape.chunks - 1) * shape.devices;
  const std::size_t warm_up = std::min(ahead, total);
  Order order;
  for (std::size_t k = 0; k < warm_up; ++k) {
    order.push_back(interleaved_step(shape, device, k, true));
  }
  for (std::size_t k = warm_up; k < total; ++k) {
    order.push_back(interleaved_step(shape, device, k, true));
    order.push_back(interleaved_step(shape, device, k - warm_up, false));
  }
  for (std::size_t k = total - warm_up; k < total; ++k) {
    order.push_back(interleaved_step(shape, device, k, false));
  }
  return order;
}

// What stage `stage` does once the gradient of a micro-batch has arrived.
void append_backward(const PipelineShape& shape, std::size_t stage, std::size_t microbatch, Order& order) {
  switch (shape.schedule) {
    case Schedule::early_recomputation:
      // While forwards remain, the device is busy until the gradient arrives. In the drain it waits, and recomputes
      // meanwhile.
      if (microbatch + shape.devices <= shape.microbatches + stage) {
        order.push_back({forward_backward, stage, microbatch});
      } else {
        order.push_back({recomputation, stage, microbatch});
        order.push_back({backward, stage, microbatch});
      }
      return;
    case Schedule::zero_bubble:
      // Later stages have memory to spare, so they postpone more gradients of the weights into the drain.
      order.push_back({backward_input, stage, microbatch});
      if (microbatch >= stage) {
        order.push_back({backward_weight, stage, microbatch - stage});
      }
      return;
    default:
      order.push_back({backward, stage, microbatch});
  }
}

Order one_by_one_order(const PipelineShape& shape, std::size_t stage) {
  const std::size_t warm_up =
      shape.schedule == Schedule::gpipe ? shape.microbatches : std::min(shape.devices - stage, shape.microbatches);
  Order order;
  for (std::size_t m = 0; m < warm_up; ++m) {
    order.push_back({forward, stage, m});
  }
  for (std::size_t m = 0; m < shape.microbatches; ++m) {
    append_backward(shape, stage, m, order);
    if (m + warm_up < shape.microbatches) {
      order.push_back({forward, stage, m + warm_up});
    }
  }
  if (shape.schedule == Schedule::zero_bubble) {
    const std::size_t done = shape.microbatches - std::min(stage, shape.microbatches);
    for (std::size_t m = done; m < shape.microbatches; ++m) {
      order.push_back({backward_weight, stage, m});
    }
  }
  return order;
}

void check_shape(const PipelineShape& shape) {
  if (shape.devices == 0 || shape.microbatches == 0 || shape.chunks == 0 || shape.copies == 0) {
    throw Error{ErrorKind::invalid_argument, "a pipeline without stages, micro-batches, chunks or copies cannot run",
                "give at least one of each"};
  }
  if (shape.chunks > 1 && shape.schedule != Schedule::interleaved) {
    throw Error{
        ErrorKind::invalid_argument,
        fmt::format("the schedule {} has one model chunk per device, not {}", to_string(shape.schedule), shape.chunks),
        "use the schedule interleaved, or one chunk"};
  }
  if (shape.schedule == Schedule::interleaved && shape.microbatches % shape.devices != 0) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("{} micro-batches cannot be interleaved on {} devices", shape.microbatches, shape.devices),
                "use a multiple of the number of devices"};
  }
  const std::size_t room = most_in_a_schedule / shape.devices / 3;
  if (shape.microbatches > room || shape.chunks > room / std::max<std::size_t>(shape.microbatches, 1)) {
    throw Error{ErrorKind::invalid_argument, "the pipeline has too many computations",
                fmt::format("keep stages times micro-batches below {}", most_in_a_schedule / 3)};
  }
}

// The profile of each instruction of a stage, as an index into the graph's profiles.
class ProfileTable {
 public:
  ProfileTable(const PipelineShape& shape, std::span<const StageProfile> given, records::ComputationGraph& graph)
      : names_{instructions_of(shape.schedule)}, stages_{shape.devices * shape.chunks} {
    places_.assign(stages_ * names_.size(), absent);
    for (const StageProfile& entry : given) {
      if (entry.stage >= stages_) {
        throw Error{ErrorKind::invalid_argument,
                    fmt::format("the profile has a stage {}, but the pipeline has {} stages", entry.stage, stages_),
                    "stages count from 0; give the number of stages (and chunks) that was profiled"};
      }
      add(entry, graph);
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (places_[i] == absent) {
        throw Error{ErrorKind::invalid_argument,
                    fmt::format("the profile has no '{}' of stage {}", names_[i % names_.size()], i / names_.size()),
                    fmt::format("the schedule {} needs it", to_string(shape.schedule))};
      }
    }
  }

  [[nodiscard]] std::size_t at(std::string_view instruction, std::size_t stage) const {
    const auto name = static_cast<std::size_t>(std::ranges::find(names_, instruction) - names_.begin());
    return places_[stage * names_.size() + name];
  }

 private:
  static constexpr std::size_t absent = std::numeric_limits<std::size_t>::max();

  void add(const StageProfile& entry, records::ComputationGraph& graph) {
    const auto found = std::ranges::find(names_, entry.profile.name);
    if (found == names_.end()) {
      return;  // measured, but not part of this schedule
    }
    std::size_t& place = places_[entry.stage * names_.size() + static_cast<std::size_t>(found - names_.begin())];
    if (place != absent) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("'{}' of stage {} is given twice", entry.profile.name, entry.stage),
                  "give each stage's instruction once, with all its frequencies"};
    }
    place = graph.profiles.size();
    graph.profiles.push_back(
        {.name = fmt::format("{} of stage {}", entry.profile.name, entry.stage), .options = entry.profile.options});
  }

  std::span<const std::string_view> names_;
  std::size_t stages_;
  std::vector<std::size_t> places_;
};

// Adds the dependencies between stages, by the positions of each stage's forwards and gradients in the graph.
void connect_stages(const PipelineShape& shape, records::ComputationGraph& graph, std::span<const std::size_t> forwards,
                    std::span<const std::size_t> gradients) {
  const std::size_t stages = shape.devices * shape.chunks;
  const Seconds transfer = shape.devices > 1 ? shape.transfer_time : Seconds{0};
  for (std::size_t stage = 0; stage + 1 < stages; ++stage) {
    for (std::size_t m = 0; m < shape.microbatches; ++m) {
      const std::size_t here = stage * shape.microbatches + m;
      const std::size_t next = here + shape.microbatches;
      graph.dependencies.push_back({.from = forwards[here], .to = forwards[next], .time = transfer});
      graph.dependencies.push_back({.from = gradients[next], .to = gradients[here], .time = transfer});
    }
  }
}

// What a rank was seen to run, by stage and micro-batch.
using ByPlace = std::map<std::pair<std::size_t, std::size_t>, std::size_t>;

// Adds the dependencies between stages, each of which has to run the same micro-batches.
void connect_observed(records::ComputationGraph& graph, const ByPlace& all, bool is_forward) {
  std::size_t last = 0;
  for (const auto& [place, index] : all) {
    last = std::max(last, place.first);
  }
  const auto at = [&](std::size_t stage, std::size_t microbatch, const records::Computation& beside) {
    const auto found = all.find({stage, microbatch});
    if (found == all.end()) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("rank {} runs {}, but no rank runs the {} {}.{}", beside.device, beside.name,
                              is_forward ? forward : backward, stage, microbatch),
                  "give the steps of one iteration, with stages numbered from 0 along the pipeline"};
    }
    return found->second;
  };
  for (const auto& [place, index] : all) {
    const auto [stage, microbatch] = place;
    if (stage > 0) {
      (void)at(stage - 1, microbatch, graph.computations[index]);
    }
    if (stage < last) {
      const std::size_t next = at(stage + 1, microbatch, graph.computations[index]);
      graph.dependencies.push_back(
          {.from = is_forward ? index : next, .to = is_forward ? next : index, .time = Seconds{0}});
    }
  }
}

}  // namespace

std::string_view to_string(Schedule schedule) {
  switch (schedule) {
    case Schedule::gpipe:
      return "gpipe";
    case Schedule::one_forward_one_backward:
      return "1f1b";
    case Schedule::interleaved:
      return "interleaved";
    case Schedule::early_recomputation:
      return "early-recomputation";
    case Schedule::zero_bubble:
      return "zero-bubble";
  }
  return "1f1b";
}

std::optional<Schedule> schedule_from(std::string_view text) {
  const auto found = std::ranges::find(schedules, text, [](Schedule schedule) { return to_string(schedule); });
  return found == schedules.end() ? std::nullopt : std::optional{*found};
}

std::span<const Schedule> all_schedules() {
  return schedules;
}

bool is_gradient(std::string_view instruction) {
  return instruction == backward || instruction == forward_backward || instruction == backward_input;
}

std::span<const std::string_view> instructions_of(Schedule schedule) {
  static constexpr std::array plain{forward, backward};
  static constexpr std::array recomputing{forward, backward, recomputation, forward_backward};
  static constexpr std::array split{forward, backward_input, backward_weight};
  switch (schedule) {
    case Schedule::early_recomputation:
      return recomputing;
    case Schedule::zero_bubble:
      return split;
    default:
      return plain;
  }
}

records::ComputationGraph make_schedule(const PipelineShape& shape, std::span<const StageProfile> profiles) {
  check_shape(shape);
  records::ComputationGraph graph;
  graph.devices = shape.devices;
  graph.copies = shape.copies;
  const ProfileTable table{shape, profiles, graph};
  const std::size_t pairs = shape.devices * shape.chunks * shape.microbatches;
  std::vector<std::size_t> forwards(pairs);
  std::vector<std::size_t> gradients(pairs);
  for (std::size_t device = 0; device < shape.devices; ++device) {
    const Order order =
        shape.schedule == Schedule::interleaved ? interleaved_order(shape, device) : one_by_one_order(shape, device);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Step& step = order[i];
      const std::size_t index = graph.computations.size();
      graph.computations.push_back({.name = fmt::format("{} {}.{}", step.instruction, step.stage, step.microbatch),
                                    .instruction = std::string{step.instruction},
                                    .device = device,
                                    .profile = table.at(step.instruction, step.stage)});
      if (i > 0) {
        graph.dependencies.push_back({.from = index - 1, .to = index, .time = Seconds{0}});
      }
      const std::size_t pair = step.stage * shape.microbatches + step.microbatch;
      if (step.instruction == forward) {
        forwards[pair] = index;
      } else if (is_gradient(step.instruction)) {
        gradients[pair] = index;
      }
    }
  }
  connect_stages(shape, graph, forwards, gradients);
  return graph;
}

records::ComputationGraph observed_schedule(std::span<const std::vector<ObservedStep>> ranks, std::size_t copies,
                                            std::span<const StageProfile> profiles) {
  records::ComputationGraph graph;
  graph.devices = ranks.size();
  graph.copies = copies;
  std::map<std::pair<std::size_t, std::string>, std::size_t> known;
  for (const StageProfile& entry : profiles) {
    known[{entry.stage, entry.profile.name}] = graph.profiles.size();
    graph.profiles.push_back(
        {.name = fmt::format("{} of stage {}", entry.profile.name, entry.stage), .options = entry.profile.options});
  }
  std::map<std::tuple<std::size_t, std::size_t, std::string>, std::size_t> places;
  ByPlace forwards;
  ByPlace gradients;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (std::size_t i = 0; i < ranks[rank].size(); ++i) {
      const ObservedStep& step = ranks[rank][i];
      const auto profile = known.find({step.stage, step.instruction});
      const std::string name = fmt::format("{} {}.{}", step.instruction, step.stage, step.microbatch);
      if (profile == known.end()) {
        throw Error{ErrorKind::invalid_argument, fmt::format("rank {} runs {}, which no rank has measured", rank, name),
                    "measure each instruction of each stage"};
      }
      const std::size_t index = graph.computations.size();
      if (!places.emplace(std::tuple{step.stage, step.microbatch, step.instruction}, index).second) {
        throw Error{ErrorKind::invalid_argument, fmt::format("rank {} runs {}, which ran already", rank, name),
                    "give the steps of one iteration"};
      }
      if (step.instruction == forward) {
        forwards[{step.stage, step.microbatch}] = index;
      } else if (is_gradient(step.instruction)) {
        gradients[{step.stage, step.microbatch}] = index;
      }
      graph.computations.push_back(
          {.name = name, .instruction = step.instruction, .device = rank, .profile = profile->second});
      if (i > 0) {
        graph.dependencies.push_back({.from = index - 1, .to = index, .time = Seconds{0}});
      }
    }
  }
  connect_observed(graph, forwards, true);
  connect_observed(graph, gradients, false);
  return graph;
}

}  // namespace zeus::optimize::pipeline
