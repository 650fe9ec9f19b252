// What the model of a V100 says of the load work:1,1,0.85: for each power limit that is given, a line with the limit,
// the power and the speed.
//
//   sweep_model_settings 100 150 200 250

#include "physics/controls.hpp"
#include "physics/gpu_model.hpp"
#include "physics/load.hpp"
#include "physics/operating_point.hpp"

#include <zeus/units.hpp>

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  namespace physics = zeus::physics;
  const physics::GpuModel& model = physics::preset("V100");
  const physics::Demand demand = physics::Demand::of_work(1.0, 1.0, 0.85);
  for (int i = 1; i < argc; ++i) {
    physics::Controls controls = physics::Controls::defaults(model);
    controls.requested_limit = zeus::Watts{std::strtod(argv[i], nullptr)};
    const physics::OperatingPoint point = physics::settle(model, controls, demand, model.power.reference);
    std::cout << argv[i] << ' ' << point.power.value() << ' ' << point.speed << '\n';
  }
  return 0;
}
