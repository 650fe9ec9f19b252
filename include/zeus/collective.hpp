// Communication between the processes of one distributed training, as Zeus needs it. The user provides it, over MPI
// (examples/mpi/mpi_collective.hpp), torch.distributed, or whatever the training itself uses.
//
// Zeus calls it from the thread that reports the training's events, in the same order in every rank, and never while
// another call is running: when a training begins, when a profiling slice ends or has to go on, after each change of a
// setting while profiling, and between epochs. Never within an ordinary step.
#pragma once

#include <zeus/units.hpp>

#include <cstddef>
#include <span>

namespace zeus {

class Collective {
 public:
  Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;
  virtual ~Collective() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;

  // Each of these replaces `values` in every rank by the same values: their sums, their maxima, or the bytes of rank
  // `root`. All ranks pass the same number of values. Throw an exception (of any kind; usually a timeout Error) if that
  // does not happen within `patience`: this is how Zeus notices that a rank has died. It then trains on without
  // optimizing, and calls none of these again.
  virtual void sum(std::span<double> values, Seconds patience) = 0;
  virtual void max(std::span<double> values, Seconds patience) = 0;
  virtual void broadcast(std::span<std::byte> bytes, int root, Seconds patience) = 0;
};

}  // namespace zeus
