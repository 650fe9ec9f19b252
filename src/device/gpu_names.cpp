#include "device/gpu_names.hpp"

#include "base/printable.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace zeus::device {

namespace {

constexpr std::size_t most_listed = 4;

// "there are 0 (NVIDIA A100-SXM4-40GB, GPU-8e1d7a52-...) and 1 (...)", with as many as fit on a line.
std::string what_there_is(const Inventory& inventory) {
  const std::vector<DiscoveredGpu> visible = inventory.visible();
  if (visible.empty()) {
    return "no GPU can be seen here; `zeus doctor` says why";
  }
  std::vector<std::string> listed;
  for (const DiscoveredGpu& one : visible) {
    if (listed.size() < most_listed) {
      listed.push_back(fmt::format("{} ({}, {})", *one.number, one.gpu->identity().name, one.gpu->identity().uuid));
    }
  }
  return fmt::format("there {} {}{}", visible.size() == 1 ? "is" : "are", fmt::join(listed, ", "),
                     visible.size() > listed.size() ? fmt::format(" and {} more", visible.size() - listed.size()) : "");
}

bool is_a_number(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

const DiscoveredGpu* find_gpu(const Inventory& inventory, std::string_view name) {
  const auto found = std::ranges::find_if(inventory.gpus, [name](const DiscoveredGpu& one) {
    return (one.number && name == std::to_string(*one.number)) || name == one.gpu->identity().uuid;
  });
  return found != inventory.gpus.end() ? &*found : nullptr;
}

std::vector<int> numbers_of(const Inventory& inventory, std::span<const std::string> names) {
  std::vector<int> numbers;
  for (const std::string& name : names) {
    const DiscoveredGpu* const gpu = find_gpu(inventory, name);
    if (gpu == nullptr) {
      throw Error{is_a_number(name) ? ErrorKind::not_found : ErrorKind::invalid_argument,
                  "there is no GPU " + in_quotes(name), what_there_is(inventory)};
    }
    if (!gpu->number) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("{} is hidden from programs by the visibility variables", to_text(*gpu)),
                  what_there_is(inventory)};
    }
    if (std::ranges::find(numbers, *gpu->number) != numbers.end()) {
      throw Error{ErrorKind::invalid_argument, fmt::format("{} is named twice", to_text(*gpu)), "name it once"};
    }
    numbers.push_back(*gpu->number);
  }
  return numbers;
}

}  // namespace zeus::device
