#include "optimize/pipeline/label_queue.hpp"

namespace zeus::optimize::pipeline {

void LabelQueue::set(std::int32_t node, std::int64_t due) {
  const std::int32_t place = place_[static_cast<std::size_t>(node)];
  const Entry entry{due, node};
  if (place == absent) {
    heap_.push_back(entry);
    rise(heap_.size() - 1, entry);
  } else if (entry.before(heap_[static_cast<std::size_t>(place)])) {
    rise(static_cast<std::size_t>(place), entry);
  } else {
    sink(static_cast<std::size_t>(place), entry);
  }
}

void LabelQueue::advance(std::int32_t node, std::int64_t due) {
  const std::int32_t place = place_[static_cast<std::size_t>(node)];
  if (place == absent || due < heap_[static_cast<std::size_t>(place)].due) {
    set(node, due);
  }
}

void LabelQueue::remove(std::int32_t node) {
  const std::int32_t place = place_[static_cast<std::size_t>(node)];
  if (place == absent) {
    return;
  }
  place_[static_cast<std::size_t>(node)] = absent;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (last.node != node) {
    const auto hole = static_cast<std::size_t>(place);
    if (hole > 0 && last.before(heap_[(hole - 1) / 2])) {
      rise(hole, last);
    } else {
      sink(hole, last);
    }
  }
}

void LabelQueue::rise(std::size_t place, const Entry& entry) {
  while (place > 0 && entry.before(heap_[(place - 1) / 2])) {
    put(place, heap_[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  put(place, entry);
}

void LabelQueue::sink(std::size_t place, const Entry& entry) {
  while (2 * place + 1 < heap_.size()) {
    std::size_t child = 2 * place + 1;
    if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) {
      ++child;
    }
    if (!heap_[child].before(entry)) {
      break;
    }
    put(place, heap_[child]);
    place = child;
  }
  put(place, entry);
}

}  // namespace zeus::optimize::pipeline
