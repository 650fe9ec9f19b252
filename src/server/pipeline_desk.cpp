#include "server/pipeline_desk.hpp"

#include "base/printable.hpp"
#include "base/random_id.hpp"
#include "base/wall_time_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace zeus::server {

namespace {

// Of all trainings together: beyond these, those that were silent longest are forgotten.
constexpr std::size_t most_trainings = 1'000;
constexpr std::size_t most_ranks_of_all = 1'000'000;
constexpr std::size_t random_letters = 8;
constexpr std::size_t longest_remark = 40;
constexpr std::size_t most_named = 8;

Error senseless(std::string message, std::string advice) {
  return {ErrorKind::invalid_argument, std::move(message), std::move(advice)};
}

// The letters that mean the same in every path.
std::string plain(std::string_view text) {
  std::string letters{text.substr(0, longest_remark)};
  std::ranges::replace_if(
      letters,
      [](char letter) {
        return !((letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                 (letter >= 'a' && letter <= 'z'));
      },
      '-');
  return letters;
}

// "ranks 1, 3 and 12 more"
std::string named_ranks(const std::vector<std::uint32_t>& ranks) {
  const std::size_t shown = std::min(ranks.size(), most_named);
  const std::string text =
      fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s",
                  fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return ranks.size() == shown ? text : text + fmt::format(" and {} more", ranks.size() - shown);
}

std::string place_of(const PipelineRank& rank) {
  return fmt::format("pp_rank {}, dp_rank {}, tp_rank {}", rank.pp_rank, rank.dp_rank, rank.tp_rank);
}

bool same_place(const PipelineRank& one, const PipelineRank& other) {
  return one.pp_rank == other.pp_rank && one.dp_rank == other.dp_rank && one.tp_rank == other.tp_rank;
}

}  // namespace

PipelineDesk::PipelineDesk(records::PlannedRanks plan) : plan_{std::move(plan)} {
}

void PipelineDesk::check_shape(const PipelineJob& job) const {
  if (!job.job_id.empty()) {
    throw senseless("job_id is not empty", "leave it to the server");
  }
  if (std::uint64_t{job.pp_degree} * job.dp_degree * job.tp_degree != job.world_size) {
    throw senseless(fmt::format("pp_degree {} x dp_degree {} x tp_degree {} is not world_size {}", job.pp_degree,
                                job.dp_degree, job.tp_degree, job.world_size),
                    "give the degrees that this training runs with");
  }
  if (plan_.size() != job.world_size && plan_.size() != job.pp_degree) {
    throw senseless(fmt::format("this server's plan is for {} pipeline ranks, and this training has {}", plan_.size(),
                                job.pp_degree),
                    "start `zeus serve` with a --pipeline-plan for this training");
  }
}

void PipelineDesk::make_room(std::uint32_t ranks) {
  std::size_t all = ranks;
  for (const auto& [id, training] : trainings_) {
    all += training.shape.world_size;
  }
  while (!trainings_.empty() && (trainings_.size() >= most_trainings || all > most_ranks_of_all)) {
    const auto oldest = std::ranges::min_element(trainings_, {}, [](const auto& one) { return one.second.heard; });
    all -= oldest->second.shape.world_size;
    refuse(oldest->second,
           Error{ErrorKind::conflict, "too many trainings have registered here since", "begin the training again"});
    trainings_.erase(oldest);
  }
}

std::string PipelineDesk::register_job(const PipelineJob& job, Instant now, WallTime civil) {
  check_shape(job);
  const std::lock_guard guard{mutex_};
  make_room(job.world_size);
  std::string id = fmt::format("{}-dp{}-pp{}-tp{}-{}", plain(to_text(civil)), job.dp_degree, job.pp_degree,
                               job.tp_degree, random_id().substr(0, random_letters));
  if (job.job_metadata && !job.job_metadata->empty()) {
    id += "-" + plain(*job.job_metadata);
  }
  trainings_.insert_or_assign(id, Training{.shape = job, .ranks = {}, .waiting = {}, .heard = now, .registered = now});
  return id;
}

PipelineDesk::Training& PipelineDesk::find(const std::string& id) {
  const auto known = trainings_.find(id);
  if (known == trainings_.end()) {
    throw Error{ErrorKind::not_found, fmt::format("no training is registered as {}", in_quotes(id)),
                "begin the training again: a server that was started again knows none"};
  }
  return known->second;
}

const std::vector<records::PlannedInstruction>& PipelineDesk::planned(const Training& training,
                                                                      const PipelineRank& rank) const {
  return plan_.size() == training.shape.world_size ? plan_[rank.rank] : plan_[rank.pp_rank];
}

void PipelineDesk::check_clocks(const Training& training, const PipelineRank& rank) const {
  if (rank.available_frequencies.empty()) {
    return;
  }
  for (const records::PlannedInstruction& instruction : planned(training, rank)) {
    const double clock = instruction.frequency.value();
    const auto is_it = [clock](std::uint32_t one) { return std::abs(one - clock) < 1.0; };
    if (clock > 0 && std::ranges::none_of(rank.available_frequencies, is_it)) {
      throw senseless(fmt::format("rank {}: its GPU cannot be locked to {} MHz, which the plan has for '{}'", rank.rank,
                                  clock, instruction.name),
                      "make the plan from a profile of this model of GPU");
    }
  }
}

void PipelineDesk::register_rank(const std::string& id, const PipelineRank& rank, Instant now) {
  const std::lock_guard guard{mutex_};
  Training& training = find(id);
  const PipelineJob& shape = training.shape;
  if (rank.rank >= shape.world_size || rank.pp_rank >= shape.pp_degree || rank.dp_rank >= shape.dp_degree ||
      rank.tp_rank >= shape.tp_degree) {
    throw senseless(
        fmt::format("rank {} ({}) is outside of a training with world_size {}, pp_degree {}, dp_degree {}, "
                    "tp_degree {}",
                    rank.rank, place_of(rank), shape.world_size, shape.pp_degree, shape.dp_degree, shape.tp_degree),
        "give all ranks the same degrees");
  }
  for (const auto& [number, other] : training.ranks) {
    if ((number == rank.rank) != same_place(other, rank)) {
      throw senseless(
          number == rank.rank
              ? fmt::format("rank {} is registered at {}, not at {}", number, place_of(other), place_of(rank))
              : fmt::format("rank {} and rank {} are both at {}", number, rank.rank, place_of(rank)),
          "give each rank a place of its own");
    }
  }
  check_clocks(training, rank);
  PipelineRank kept = rank;
  kept.available_frequencies = {};
  training.ranks.insert_or_assign(rank.rank, std::move(kept));
  training.heard = training.registered = now;
  reply_if_complete(training);
}

void PipelineDesk::ask(const std::string& id, std::uint32_t rank, Reply reply, Instant now) {
  const std::lock_guard guard{mutex_};
  Training& training = find(id);
  if (!training.ranks.contains(rank)) {
    throw Error{ErrorKind::conflict, fmt::format("rank {} is not registered", rank), "register it before it asks"};
  }
  training.heard = now;
  // Of a rank that asks twice, as after a lost connection, the later request counts.
  if (const auto before = training.waiting.find(rank); before != training.waiting.end()) {
    before->second.refused(Error{ErrorKind::conflict, fmt::format("rank {} has asked again", rank)});
  }
  training.waiting.insert_or_assign(rank, std::move(reply));
  reply_if_complete(training);
}

void PipelineDesk::reply_if_complete(Training& training) const {
  if (training.ranks.size() < training.shape.world_size) {
    return;
  }
  for (const auto& [rank, reply] : std::exchange(training.waiting, {})) {
    reply.given({.rank = rank, .frequencies = planned(training, training.ranks.at(rank))});
  }
}

void PipelineDesk::report(const std::string& id, std::uint32_t rank, Instant now) {
  const std::lock_guard guard{mutex_};
  Training& training = find(id);
  if (!training.ranks.contains(rank)) {
    throw Error{ErrorKind::conflict, fmt::format("rank {} is not registered", rank), "register it first"};
  }
  training.heard = now;
}

void PipelineDesk::refuse(Training& training, const Error& error) {
  for (const auto& [rank, reply] : std::exchange(training.waiting, {})) {
    reply.refused(error);
  }
}

void PipelineDesk::look(Instant now) {
  const std::lock_guard guard{mutex_};
  for (auto& [id, training] : trainings_) {
    if (training.waiting.empty() || now - training.registered < patience) {
      continue;
    }
    std::vector<std::uint32_t> missing;
    for (std::uint32_t rank = 0; rank < training.shape.world_size; ++rank) {
      if (!training.ranks.contains(rank)) {
        missing.push_back(rank);
      }
    }
    refuse(training, Error{ErrorKind::conflict,
                           fmt::format("{} of {} did not register within {} s", named_ranks(missing),
                                       training.shape.world_size, patience.value()),
                           "look at what they log, and begin the training again"});
  }
}

void PipelineDesk::end() {
  const std::lock_guard guard{mutex_};
  for (auto& [id, training] : trainings_) {
    refuse(training, Error{ErrorKind::conflict, "the server stops", "begin the training again"});
  }
}

}  // namespace zeus::server
