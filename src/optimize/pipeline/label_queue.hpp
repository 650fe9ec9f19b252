// A priority queue of nodes by the number of ticks at which each becomes due, with at most one entry per node. An
// object belongs to one thread. Only its constructor allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zeus::optimize::pipeline {

class LabelQueue {
 public:
  explicit LabelQueue(std::size_t nodes) : place_(nodes, absent) { heap_.reserve(nodes); }

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::int32_t first() const { return heap_.front().node; }
  [[nodiscard]] std::int64_t first_due() const { return heap_.front().due; }

  // Enters the node, or moves it if it is there already.
  void set(std::int32_t node, std::int64_t due);
  // The same, but never makes the node due later than it already is.
  void advance(std::int32_t node, std::int64_t due);
  void remove(std::int32_t node);

 private:
  static constexpr std::int32_t absent = -1;
  struct Entry {
    std::int64_t due;
    std::int32_t node;
    [[nodiscard]] bool before(const Entry& other) const {
      return due != other.due ? due < other.due : node < other.node;
    }
  };

  void put(std::size_t place, const Entry& entry) {
    heap_[place] = entry;
    place_[static_cast<std::size_t>(entry.node)] = static_cast<std::int32_t>(place);
  }
  void rise(std::size_t place, const Entry& entry);
  void sink(std::size_t place, const Entry& entry);

  std::vector<Entry> heap_;
  std::vector<std::int32_t> place_;
};

}  // namespace zeus::optimize::pipeline
