// What the events of a training say of its power limits. A template over the events, which are of `train`: the program
// has them from its sessions, libzeus-jobs.so through public headers. One thread.
#pragma once

#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace zeus::trial {

template <typename Applied, typename Refused, typename Unoptimized>
class HeardLimits {
 public:
  // The limit that was chosen, once it is in force.
  [[nodiscard]] std::optional<Watts> chosen() const { return chosen_; }
  // Why limits are left alone; empty if they are not.
  [[nodiscard]] const std::string& left_alone() const { return left_alone_; }

  void forget_refusals() { left_alone_.clear(); }
  void choose(std::optional<Watts> limit) { chosen_ = limit; }
  void leave_alone(std::string why) {
    left_alone_ = std::move(why);
    chosen_.reset();
  }

  // While several limits are compared, one that is refused is left out. If it is the only one that is wanted, all are
  // left alone.
  template <typename Event>
  void hear(const Event& event, bool compares) {
    if (const auto* applied = std::get_if<Applied>(&event)) {
      chosen_ = applied->optimum ? std::optional{applied->setting.limit} : std::nullopt;
    } else if (const auto* alone = std::get_if<Unoptimized>(&event)) {
      leave_alone(alone->why);
    } else if (const auto* refused = std::get_if<Refused>(&event); refused != nullptr && !compares) {
      leave_alone(refused->why);
    }
  }

 private:
  std::optional<Watts> chosen_;
  std::string left_alone_;
};

}  // namespace zeus::trial
