#include "run/termination.hpp"

#include <csignal>

namespace zeus::run {

void Termination::begin(Instant now) {
  if (!begun_) {
    begun_ = now;
  }
}

void Termination::begin_asked(Instant now) {
  if (!begun_) {
    begun_ = now;
    asked_ = true;
  }
}

std::optional<int> Termination::due(Instant now) {
  if (!begun_) {
    return std::nullopt;
  }
  if (!asked_) {
    asked_ = true;
    return SIGTERM;
  }
  if (!killed_ && now >= *begun_ + grace_) {
    killed_ = true;
    return SIGKILL;
  }
  return std::nullopt;
}

std::optional<Instant> Termination::next() const {
  if (!begun_ || killed_) {
    return std::nullopt;
  }
  return asked_ ? *begun_ + grace_ : *begun_;
}

}  // namespace zeus::run
