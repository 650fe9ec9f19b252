// Policy `zeus`: the one of the NSDI'23 paper (algorithms 1 to 3). Two rounds of exploration with pruning (or as many
// as the spec says), each from the default batch size down, then up, then from the cheapest found; then Gaussian
// Thompson sampling among what was kept. A submission that overlaps an undecided exploration runs the best batch size
// known. One thread at a time.
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
  // Without pruning, for comparison alone, a batch size that failed is kept, and does not end its direction.
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
  // One exploration of an arm; an arm has at most one a round.
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
    std::vector<Exploration> explorations;  // one a round
    std::size_t explored = 0;               // how many of them were started
    std::uint64_t exploring = 0;            // the number of the try that is the last of them
    ThompsonArm belief;
    bool kept = false;  // by both rounds of pruning
    Joules epoch_cost;  // that `belief` is in terms of; 0 until known

    template <typename Archive, typename Self>
    static void state(Archive& archive, Self& self) {
      archive(self.explorations, self.explored, self.exploring, self.belief, self.kept, self.epoch_cost);
    }
  };
  // Where pruning stands: what to explore next, what is still running, or that it is over.
  struct Walk {
    std::optional<std::size_t> explore;
    bool waiting = false;
    std::vector<std::size_t> kept;
  };

  template <typename Archive, typename Self>
  static void state(Archive& archive, Self& self) {
    // Arms cannot be made from nothing: they are read into those that the spec has made.
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
  bool prunes_;  // whether failed batch sizes are given up
  bool exploring_ = true;
  bool moved_ = false;    // to other devices, at least once
  std::size_t best_arm_;  // of the cheapest try that reached the target; the default before
  std::optional<Joules> best_cost_;
};

}  // namespace zeus::optimize
