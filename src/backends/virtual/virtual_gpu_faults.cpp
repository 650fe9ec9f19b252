// The members of a virtual GPU that hardware does not have: its load, its true values, and its faults.
#include "backends/virtual/virtual_gpu.hpp"
#include "physics/sensors.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <utility>

namespace zeus::backends::virtual_gpu {

void VirtualGpu::set_load(const physics::Load& load) {
  const Call call = begin_call();
  gpu().set_load(call.now, load);
}

void VirtualGpu::follow_table(std::vector<physics::TablePoint> table, bool repeats) {
  if (!std::ranges::is_sorted(table, {}, &physics::TablePoint::after)) {
    throw Error{ErrorKind::invalid_argument, "the times of a load table do not ascend", "sort its points by time"};
  }
  const Call call = begin_call();
  table_ = std::move(table);
  gpu().set_load(call.now, physics::Load::from_table(call.now, repeats));
}

physics::Totals VirtualGpu::truth() const {
  const Call call = begin_call();
  return gpu().totals(call.now);
}

Joules VirtualGpu::true_energy(Instant at) const {
  const Call call = begin_call();
  return gpu().energy(at);
}

physics::OperatingPoint VirtualGpu::operating_point() const {
  const Call call = begin_call();
  return gpu().operating_point(call.now);
}

void VirtualGpu::set_faults(const Faults& faults) {
  const std::lock_guard guard{mutex_};
  faults_ = faults;
  physics::Controls controls = gpu().controls();
  controls.ceiling = faults.ceiling.value_or(model_.limits.max);
  gpu().set_controls(host_->clock.now(), controls);
}

void VirtualGpu::reset_counter() {
  const Call call = begin_call();
  physics::CounterState counter = gpu().counter();
  counter.offset = -gpu().energy(call.now) * model_.sensors.gain;
  gpu().set_counter(counter);
}

void VirtualGpu::wrap_counter_at(Joules limit) {
  const Call call = begin_call();
  physics::CounterState counter = gpu().counter();
  counter.wrap = limit;
  gpu().set_counter(counter);
}

void VirtualGpu::freeze_counter() {
  const Call call = begin_call();
  if (const auto reading = physics::Sensors{gpu()}.counter(call.now)) {
    physics::CounterState counter = gpu().counter();
    counter.frozen = true;
    counter.frozen_at = reading->value;
    gpu().set_counter(counter);
  }
}

void VirtualGpu::turn_counter_back(Joules amount) {
  const Call call = begin_call();
  physics::CounterState counter = gpu().counter();
  counter.offset -= amount;
  gpu().set_counter(counter);
}

void VirtualGpu::heal_counter() {
  const Call call = begin_call();
  gpu().set_counter({});
}

void VirtualGpu::set_processes(std::vector<device::GpuProcess> processes) {
  const std::lock_guard guard{mutex_};
  processes_ = std::move(processes);
}

}  // namespace zeus::backends::virtual_gpu
