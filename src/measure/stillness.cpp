#include "measure/stillness.hpp"

namespace zeus::measure {

namespace {

// The processor time that the threads of a suspended process may use around their suspension, as a part of it.
constexpr double used_around = 0.05;

}  // namespace

Seconds Stillness::late(Instant now, Seconds used) const {
  if (!last_ || now - last_->due < least) {
    return {};
  }
  // Until the mark was due, every processor may have been used.
  const Seconds before = (last_->due - last_->at) * static_cast<double>(processors_);
  const Seconds late = now - last_->due;
  return used - last_->used <= before + late * used_around ? late : Seconds{};
}

void Stillness::mark(Instant now, Instant due, Seconds used) {
  const std::lock_guard guard{mutex_};
  total_ += late(now, used);
  last_ = Mark{.at = now, .due = due, .used = used};
}

void Stillness::rest() {
  const std::lock_guard guard{mutex_};
  last_.reset();
}

Seconds Stillness::total(Instant now, Seconds used) const {
  const std::lock_guard guard{mutex_};
  return total_ + late(now, used);
}

}  // namespace zeus::measure
