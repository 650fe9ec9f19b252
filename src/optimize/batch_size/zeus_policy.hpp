// Policy `zeus`, that of the NSDI'23 paper (algorithms 1 to 3). It explores with pruning in two rounds, or as many as
// the spec says. The first round starts at the default batch size, each later one at the cheapest found; each goes
// down, then up. Then it uses Gaussian Thompson sampling among the batch sizes that were kept. A submission that
// overlaps an undecided exploration runs the best batch size known. One thread at a time.
#pragma once

#include "optimize/batch_size/policy.hpp"
#include "optimize/batch_size/thompson_arm.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace zeus::optimize {

class ZeusPolicy final : public Policy {
 public:
  // With pruning off, which is for comparison only, a batch size that failed is kept and does not end its direction.
  enum class Pruning { on, off };

  explicit ZeusPolicy(const JobSpec& spec, Pruning pruning = Pruning::on);

  [[nodiscard]] std::string_view name() const override { return "zeus"; }
  [[nodiscard]] std::unique_ptr<Policy> clone() const override { return std::make_unique<ZeusPolicy>(*this); }
  void apply(const records::JobEvent& event, const ProfileBook& profiles) override;
  [[nodiscard]] Decision decide(const Question& question, const ProfileBook& profiles) const override;
  [[nodiscard]] std::vector<std::optional<CostBelief>> beliefs(const ProfileBook& profiles) const override;

  [[nodiscard]] int version() const override { return 2; }
  void save(StateWriter& writer) const override { state(writer, *this); }
  void restore(StateReader& reader) override { state(reader, *this); }

 private:
  // One exploration of an arm. An arm has at most one in each round.
  struct Exploration {
    bool ended = false;
    bool reached = false;
    Joules cost;

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.ended, self.reached, self.cost);
    }
  };
  struct Arm {
    std::vector<Exploration> explorations;  // one for each round
    std::size_t explored = 0;               // how many of them were started
    std::uint64_t exploring = 0;            // the number of the try of the latest one
    ThompsonArm belief;
    bool kept = false;  // by all rounds of pruning
    Joules epoch_cost;  // the cost of an epoch that `belief` is scaled to; 0 until known

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.explorations, self.explored, self.exploring, self.belief, self.kept, self.epoch_cost);
    }
  };
  // The state of pruning: what to explore next, or whether an exploration is still running; if neither, pruning is
  // over.
  struct Walk {
    std::optional<std::size_t> explore;
    bool waiting = false;
    std::vector<std::size_t> kept;
  };

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    // Arms cannot be default-constructed: they are read into those that the constructor made from the spec.
    for (auto& arm : self.arms_) {
      archive(arm);
    }
    archive(self.spec_.max_power, self.spec_.power_limits, self.exploring_, self.moved_, self.best_arm_,
            self.best_cost_);
  }

  void end_try(const records::TryEnded& ended, const ProfileBook& profiles);
  void settle_pruning();
  void translate(const ProfileBook& profiles, std::size_t arm);
  [[nodiscard]] Walk walk() const;
  [[nodiscard]] std::size_t sample(std::uint64_t number) const;
  [[nodiscard]] std::size_t rounds() const { return spec_.zeus.pruning_rounds; }

  JobSpec spec_;
  std::vector<Arm> arms_;
  bool prunes_;  // whether failed batch sizes are dropped
  bool exploring_ = true;
  bool moved_ = false;    // whether the job has moved to other devices
  std::size_t best_arm_;  // of the cheapest try that reached the target; the default before that
  std::optional<Joules> best_cost_;
};

}  // namespace zeus::optimize
