// What iterations of a pipelined training took, as a file that rank 0 of the training writes and `zeus pipeline
// --measured` shows. Plain values; copy them freely between threads.
#pragma once

#include <zeus/fields.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::records {

// One computation of the iteration that is shown.
struct MeasuredComputation {
  std::uint32_t rank = 0;
  std::uint32_t stage = 0;
  std::uint32_t microbatch = 0;
  std::string instruction;  // "forward"
  Seconds start;            // since the iteration began
  Seconds duration;
  Megahertz frequency;  // requested; 0 if none was
  Watts power;          // what it draws on average at that clock, as profiled

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    const field::Rule count{.least = 0.0, .most = 1e6};
    fields("rank", self.rank, count);
    fields("stage", self.stage, count);
    fields("microbatch", self.microbatch, count);
    fields("instruction", self.instruction);
    fields("start", self.start, field::duration);
    fields("duration", self.duration, field::duration);
    fields("frequency", self.frequency, field::Rule{.least = 0.0, .most = 1e5});
    fields("power", self.power, field::power);
  }
  friend bool operator==(const MeasuredComputation&, const MeasuredComputation&) = default;
};

struct MeasuredIteration {
  std::uint32_t ranks = 1;
  std::uint32_t iterations = 1;  // that the means are of
  Seconds time;                  // of an iteration, mean
  Seconds time_uncertainty;      // half-width of its 95 % interval
  Joules energy;                 // of all GPUs in an iteration, mean
  Joules energy_uncertainty;
  std::optional<Seconds>
      claimed_time;  // by the plan that was followed, or without one, of the profile's fastest clocks
  std::optional<Joules> claimed_energy;
  std::vector<MeasuredComputation> computations;  // of an iteration of median length

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields.version(1);
    fields("ranks", self.ranks, field::Rule{.least = 1.0, .most = 1e6});
    fields("iterations", self.iterations, field::count_from_one);
    fields("time", self.time, field::duration_above_zero);
    fields("time_uncertainty", self.time_uncertainty, field::duration);
    fields("energy", self.energy, field::energy_above_zero);
    fields("energy_uncertainty", self.energy_uncertainty, field::energy);
    fields("claimed_time", self.claimed_time, field::duration_above_zero);
    fields("claimed_energy", self.claimed_energy, field::energy_above_zero);
    fields("computations", self.computations, field::Rule{.members = 200'000, .fewest = 1});
  }
  friend bool operator==(const MeasuredIteration&, const MeasuredIteration&) = default;
};

std::string to_json(const MeasuredIteration& iteration);

// A string that is not such a record, or has a computation of a rank that is not there, is a corrupt_data Error.
MeasuredIteration measured_iteration_from_json(std::string_view text);

}  // namespace zeus::records
