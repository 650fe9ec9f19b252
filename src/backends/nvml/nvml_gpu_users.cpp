// What shares a GPU: processes, and the slices of MIG.
#include "backends/nvml/ask.hpp"
#include "backends/nvml/nvml_gpu.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace zeus::backends::nvml {

using device::GpuProcess;
using device::MigInstance;

namespace {

constexpr int patience = 5;  // how often the list may grow between asking for its length and asking for it

GpuProcess process_of(const abi::ProcessInfoV1& entry, GpuProcess::Kind kind) {
  GpuProcess process;
  process.pid = entry.pid;
  process.kind = kind;
  if (entry.used_memory != abi::no_memory_told) {
    process.memory_bytes = entry.used_memory;
  }
  return process;
}

GpuProcess process_of(const abi::ProcessInfo& entry, GpuProcess::Kind kind) {
  GpuProcess process = process_of(abi::ProcessInfoV1{entry.pid, entry.used_memory}, kind);
  if (entry.gpu_instance != abi::no_instance) {
    process.gpu_instance = entry.gpu_instance;
  }
  if (entry.compute_instance != abi::no_instance) {
    process.compute_instance = entry.compute_instance;
  }
  return process;
}

template <typename Entry>
device::Outcome list_processes(abi::Code (*function)(abi::Device*, unsigned*, Entry*), abi::Device* handle,
                               GpuProcess::Kind kind, std::vector<GpuProcess>& result) {
  abi::Code code = abi::Code::insufficient_size;
  std::vector<Entry> entries;
  for (int attempt = 0; attempt < patience && code == abi::Code::insufficient_size; ++attempt) {
    unsigned count = static_cast<unsigned>(entries.size());
    code = function(handle, &count, entries.empty() ? nullptr : entries.data());
    if (code == abi::Code::insufficient_size) {
      entries.resize(std::max<std::size_t>(count, entries.size()) + 4);
    } else if (code == abi::Code::success) {
      entries.resize(std::min<std::size_t>(count, entries.size()));
    }
  }
  if (code != abi::Code::success) {
    return Api::failure_of(code);
  }
  std::ranges::transform(entries, std::back_inserter(result),
                         [kind](const Entry& entry) { return process_of(entry, kind); });
  return device::done;
}

}  // namespace

Reading<std::vector<GpuProcess>> NvmlGpu::processes() const {
  const Functions& table = nvml();
  std::vector<GpuProcess> result;
  const auto list = [&](auto* function, auto* old_function, GpuProcess::Kind kind) -> device::Outcome {
    if (function != nullptr) {
      return list_processes(function, handle_, kind, result);
    }
    return old_function != nullptr ? list_processes(old_function, handle_, kind, result)
                                   : device::Outcome{call_missing};
  };
  if (const auto outcome = list(table.compute_processes, table.old_compute_processes, GpuProcess::Kind::compute);
      !outcome) {
    return outcome.failure();
  }
  // Computing matters here; if a driver does not list graphics processes, no computing process is missed.
  static_cast<void>(list(table.graphics_processes, table.old_graphics_processes, GpuProcess::Kind::graphics));
  return result;
}

Reading<device::MigState> NvmlGpu::mig() const {
  const Functions& table = nvml();
  if (table.mig_mode == nullptr) {
    return call_missing;
  }
  unsigned current = 0;
  unsigned pending = 0;
  if (const abi::Code code = table.mig_mode(handle_, &current, &pending); code != abi::Code::success) {
    return Api::failure_of(code);
  }
  device::MigState state;
  state.enabled = current != 0;
  if (!state.enabled || table.mig_by_index == nullptr) {
    return state;
  }
  const unsigned capacity = library_->ask<unsigned>(table.mig_capacity, handle_).optional().value_or(0);
  for (unsigned index = 0; index < capacity; ++index) {
    // The slices' numbers have gaps.
    if (const Reading<abi::Device*> slice = library_->ask<abi::Device*>(table.mig_by_index, handle_, index)) {
      MigInstance instance;
      instance.uuid = ask_text(table.uuid, *slice);
      instance.name = ask_text(table.name, *slice);
      instance.gpu_instance = library_->ask<unsigned>(table.gpu_instance, *slice).optional().value_or(0);
      instance.compute_instance = library_->ask<unsigned>(table.compute_instance, *slice).optional().value_or(0);
      state.instances.push_back(std::move(instance));
    }
  }
  return state;
}

}  // namespace zeus::backends::nvml
