#include "demo/heavy_work.hpp"

#include "physics/workload.hpp"

#include <algorithm>
#include <cmath>

namespace zeus::demo {

namespace {

constexpr std::string_view workload_name = "cifar100";
constexpr double images_of_the_workload = 50'000.0;
constexpr double times_the_images = 40.0;
constexpr int images_for_one = 4;

}  // namespace

EpochWork epoch_work(const physics::GpuModel& model, int batch_size) {
  const physics::Workload& workload = physics::workload(workload_name);
  const int theirs = batch_size * images_for_one;
  const double steps = std::max(1.0, std::round(images_of_the_workload * times_the_images / theirs));
  return {.demand = workload.demand(model, theirs),
          .steps = static_cast<std::uint64_t>(steps),
          .step = workload.profile(model, theirs).epoch * times_the_images / steps};
}

std::vector<int> batch_sizes(const physics::GpuModel& model, int smallest, int largest) {
  std::vector<int> sizes;
  for (const int theirs : physics::workload(workload_name).batch_sizes(model)) {
    const int ours = theirs / images_for_one;
    if (theirs % images_for_one == 0 && ours >= smallest && ours <= largest) {
      sizes.push_back(ours);
    }
  }
  return sizes;
}

}  // namespace zeus::demo
