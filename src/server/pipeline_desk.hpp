// The pipelined trainings that follow this server's plan. A training registers, then each of its ranks; when all have,
// each that waits gets its schedule. Everything is in memory alone: with the server, the trainings that have registered
// are gone, while those that have their schedules go on.
//
// Any thread; replies are called within the call that causes them, and must not call the desk. What an operation
// refuses is an Error. Time is an argument.
#pragma once

#include "base/clock.hpp"
#include "records/pipeline_plan.hpp"
#include "server/pipeline_bodies.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace zeus::server {

class PipelineDesk {
 public:
  // How long ranks wait since the last one registered.
  static constexpr Seconds patience{60};

  // Of a rank that waits; one of the two is called, once.
  struct Reply {
    std::function<void(const FrequencySchedule&)> given;
    std::function<void(const Error&)> refused;
  };

  // `plan` has a list for each rank or for each stage.
  explicit PipelineDesk(records::PlannedRanks plan);

  [[nodiscard]] std::uint32_t planned_ranks() const { return static_cast<std::uint32_t>(plan_.size()); }

  // The ID, fit for any path. `civil` is part of it.
  std::string register_job(const PipelineJob& job, Instant now, WallTime civil);
  // A rank that registers again, at the same place, is the same.
  void register_rank(const std::string& id, const PipelineRank& rank, Instant now);
  // Replies at once if all ranks have registered. Throws an Error, and does not reply, for an unknown job or rank.
  void ask(const std::string& id, std::uint32_t rank, Reply reply, Instant now);
  // A result does not change the plan.
  void report(const std::string& id, std::uint32_t rank, Instant now);

  // Refuses those that have waited too long.
  void look(Instant now);
  // Refuses all that wait.
  void end();

 private:
  struct Training {
    PipelineJob shape;
    std::map<std::uint32_t, PipelineRank> ranks;  // without their clocks
    std::map<std::uint32_t, Reply> waiting;
    Instant heard;       // its latest word, by which the oldest training makes room
    Instant registered;  // the latest of its ranks
  };

  // Call these with the mutex held.
  Training& find(const std::string& id);
  void check_shape(const PipelineJob& job) const;
  void check_clocks(const Training& training, const PipelineRank& rank) const;
  [[nodiscard]] const std::vector<records::PlannedInstruction>& planned(const Training& training,
                                                                        const PipelineRank& rank) const;
  void make_room(std::uint32_t ranks);
  static void refuse(Training& training, const Error& error);
  void reply_if_complete(Training& training) const;

  const records::PlannedRanks plan_;
  std::mutex mutex_;
  std::map<std::string, Training> trainings_;
};

}  // namespace zeus::server
