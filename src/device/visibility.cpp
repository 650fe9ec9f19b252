#include "device/visibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

namespace zeus::device {

namespace {

using Order = std::vector<std::size_t>;  // positions among the candidates, in the program's order

constexpr const char* hides_all = "which hides all GPUs from programs";
constexpr const char* how_to_name = "name GPUs by the index or the whole UUID that `zeus devices` shows";

bool begins_with_ignoring_case(std::string_view text, std::string_view beginning) {
  return text.size() >= beginning.size() &&
         std::ranges::equal(text.substr(0, beginning.size()), beginning, [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
         });
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> entries;
  while (true) {
    const std::size_t comma = text.find(',');
    entries.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) {
      return entries;
    }
    text.remove_prefix(comma + 1);
  }
}

// The number that an entry begins with, as C's strtol reads it: skips white space, takes a sign, ignores what follows.
std::optional<std::size_t> leading_index(std::string_view entry) {
  while (!entry.empty() && std::isspace(static_cast<unsigned char>(entry.front())) != 0) {
    entry.remove_prefix(1);
  }
  if (entry.starts_with('+')) {
    entry.remove_prefix(1);
  }
  std::size_t index = 0;
  const auto [rest, failure] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
  return failure == std::errc{} ? std::optional{index} : std::nullopt;
}

// One variable, applied to the GPUs that the variable before it left.
class Selection {
 public:
  Selection(std::span<const VisibilityCandidate> candidates, const Order& order, std::string_view variable,
            std::string_view value, Visibility& result)
      : candidates_{candidates}, order_{order}, variable_{variable}, value_{value}, result_{result} {}

  // CUDA's way: the beginning of the value decides whether it is a list of indices, of GPUs or of slices.
  void read_as_cuda() {
    if (!value_.starts_with("GPU-") && !value_.starts_with("MIG-")) {
      read([this](std::string_view entry) { return by_index(entry); });
    } else if (value_.starts_with("GPU-")) {
      read([this](std::string_view entry) { return by_uuid(entry); });
    } else {
      read([this](std::string_view entry) { return by_slice(entry); });
    }
    if (repeated_) {
      report(fmt::format("names {} twice, {}", *repeated_, hides_all), "name each GPU once");
      result_.gpus.clear();
    }
  }

  // ROCm's way: indices and UUIDs may be mixed, and a repetition counts once.
  void read_as_rocm() {
    read([this](std::string_view entry) { return entry.starts_with("GPU-") ? by_uuid(entry) : by_index(entry); });
    if (repeated_) {
      report(fmt::format("names {} twice, which counts once", *repeated_), "name each GPU once");
    }
  }

 private:
  template <typename Find>
  void read(Find find) {
    result_.gpus.clear();
    if (value_.empty()) {
      report(fmt::format("is empty, {}", hides_all), fmt::format("unset {} to see them", variable_));
      return;
    }
    for (const std::string_view entry : split(value_)) {
      const std::optional<VisibleGpu> found = find(entry);
      if (!found) {
        report(fmt::format("has the entry \"{}\", which names {}: only the {} before it are visible to programs", entry,
                           ambiguous_ ? "more than one GPU" : "no GPU", result_.gpus.size()),
               how_to_name);
        return;
      }
      if (std::ranges::find(result_.gpus, *found) == result_.gpus.end()) {
        result_.gpus.push_back(*found);
      } else if (!repeated_) {
        repeated_ = entry;
      }
    }
  }

  [[nodiscard]] std::optional<VisibleGpu> by_index(std::string_view entry) const {
    const std::optional<std::size_t> index = leading_index(entry);
    return index && *index < order_.size() ? std::optional{VisibleGpu{order_[*index], {}}} : std::nullopt;
  }

  std::optional<VisibleGpu> by_uuid(std::string_view entry) {
    std::optional<VisibleGpu> found;
    if (entry.starts_with("GPU-")) {
      for (const std::size_t position : order_) {
        if (begins_with_ignoring_case(candidates_[position].identity.uuid, entry)) {
          keep_only_one(found, VisibleGpu{position, {}});
        }
      }
    }
    return ambiguous_ ? std::nullopt : found;
  }

  std::optional<VisibleGpu> by_slice(std::string_view entry) {
    std::optional<VisibleGpu> found;
    if (entry.starts_with("MIG-")) {
      for (const std::size_t position : order_) {
        const VisibilityCandidate& candidate = candidates_[position];
        for (const MigInstance& slice : candidate.mig.instances) {
          const std::string old_name =
              fmt::format("MIG-{}/{}/{}", candidate.identity.uuid, slice.gpu_instance, slice.compute_instance);
          if (begins_with_ignoring_case(slice.uuid, entry) || begins_with_ignoring_case(old_name, entry)) {
            keep_only_one(found, VisibleGpu{position, slice.uuid});
          }
        }
      }
    }
    return ambiguous_ ? std::nullopt : found;
  }

  void keep_only_one(std::optional<VisibleGpu>& found, VisibleGpu match) {
    ambiguous_ = ambiguous_ || found.has_value();
    found = std::move(match);
  }

  void report(std::string what, std::string fix) {
    result_.problems.push_back({std::string{variable_}, std::move(what), std::move(fix)});
  }

  std::span<const VisibilityCandidate> candidates_;
  const Order& order_;
  std::string_view variable_;
  std::string_view value_;
  Visibility& result_;
  std::optional<std::string_view> repeated_;
  bool ambiguous_ = false;
};

Order of_vendor(std::span<const VisibilityCandidate> candidates, GpuVendor vendor) {
  Order order;
  for (std::size_t position = 0; position < candidates.size(); ++position) {
    if (candidates[position].identity.vendor == vendor) {
      order.push_back(position);
    }
  }
  return order;
}

bool differ_in_model(std::span<const VisibilityCandidate> candidates, const Order& order) {
  return std::ranges::any_of(order, [&](std::size_t position) {
    return candidates[position].identity.name != candidates[order.front()].identity.name;
  });
}

// The order in which CUDA numbers GPUs. "Fastest first" is the vendor's own estimate. Ours agrees if speeds differ
// clearly, or if all GPUs are of one model, which covers nearly every machine.
Order cuda_order(std::span<const VisibilityCandidate> candidates, const Environment& environment, Visibility& result) {
  Order order = of_vendor(candidates, GpuVendor::nvidia);
  std::ranges::sort(order, {}, [&](std::size_t position) { return candidates[position].identity.pci; });
  if (environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID" || !differ_in_model(candidates, order)) {
    return order;
  }
  std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t position) {
    return candidates[position].identity.relative_speed.value_or(0);
  });
  const std::string value = environment.get("CUDA_VISIBLE_DEVICES").value_or("0");
  if (!value.starts_with("GPU-") && !value.starts_with("MIG-")) {
    result.problems.push_back(
        {"CUDA_DEVICE_ORDER",
         "the GPUs here are of several models, and CUDA numbers them fastest first by a rule of its own",
         "set CUDA_DEVICE_ORDER=PCI_BUS_ID, or name GPUs by UUID"});
  }
  return order;
}

Visibility all_of(const Order& order) {
  Visibility all;
  for (const std::size_t position : order) {
    all.gpus.push_back({position, {}});
  }
  return all;
}

// A GPU in MIG mode is used through one of its slices, and a program uses one slice alone: with a slice in the list,
// CUDA shows nothing else.
void apply_mig(std::span<const VisibilityCandidate> candidates, Visibility& result) {
  std::vector<VisibleGpu> whole;
  std::vector<VisibleGpu> sliced;
  for (VisibleGpu& gpu : result.gpus) {
    const VisibilityCandidate& candidate = candidates[gpu.candidate];
    if (gpu.slice) {
      sliced.push_back(std::move(gpu));
    } else if (!candidate.mig.enabled) {
      whole.push_back(std::move(gpu));
    } else if (!candidate.mig.instances.empty()) {
      sliced.push_back({gpu.candidate, candidate.mig.instances.front().uuid});
    } else {
      result.problems.push_back({to_text(candidate.identity),
                                 "MIG is enabled but has no slice, so no program can use the GPU",
                                 "make one with `nvidia-smi mig -cgi`, or disable MIG with `nvidia-smi -mig 0`"});
    }
  }
  if (!sliced.empty() && sliced.size() + whole.size() > 1) {
    result.problems.push_back(
        {"CUDA_VISIBLE_DEVICES",
         fmt::format("CUDA shows a program one MIG slice and nothing else: of {} devices, {} alone",
                     sliced.size() + whole.size(), *sliced.front().slice),
         "give each process the one slice that it should use"});
    sliced.resize(1);
  }
  result.gpus = sliced.empty() ? std::move(whole) : std::move(sliced);
}

Visibility visible_nvidia(std::span<const VisibilityCandidate> candidates, const Environment& environment) {
  Visibility result;
  const Order order = cuda_order(candidates, environment, result);
  result.gpus = all_of(order).gpus;
  if (const std::optional<std::string> value = environment.get("CUDA_VISIBLE_DEVICES"); value && !order.empty()) {
    Selection{candidates, order, "CUDA_VISIBLE_DEVICES", *value, result}.read_as_cuda();
  }
  apply_mig(candidates, result);
  return result;
}

void narrow_amd(std::span<const VisibilityCandidate> candidates, std::string_view variable,
                const Environment& environment, Visibility& result) {
  const std::optional<std::string> value = environment.get(variable);
  if (!value || result.gpus.empty()) {
    return;
  }
  Order order;
  std::ranges::transform(result.gpus, std::back_inserter(order), &VisibleGpu::candidate);
  Selection{candidates, order, variable, *value, result}.read_as_rocm();
}

// The ROCm runtime filters first. HIP numbers the rest by its own variable or, if that is unset, by CUDA's.
Visibility visible_amd(std::span<const VisibilityCandidate> candidates, const Environment& environment) {
  Visibility result = all_of(of_vendor(candidates, GpuVendor::amd));
  narrow_amd(candidates, "ROCR_VISIBLE_DEVICES", environment, result);
  const bool hip = environment.get("HIP_VISIBLE_DEVICES").has_value();
  narrow_amd(candidates, hip ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES", environment, result);
  return result;
}

}  // namespace

Visibility visible_gpus(std::span<const VisibilityCandidate> candidates, GpuVendor vendor,
                        const Environment& environment) {
  return vendor == GpuVendor::nvidia ? visible_nvidia(candidates, environment) : visible_amd(candidates, environment);
}

}  // namespace zeus::device
