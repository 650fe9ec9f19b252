#include "demo/network_try.hpp"
#include "jobs/driver.hpp"
#include "jobs/stored_keeper.hpp"
#include "tests/trial/fronts.hpp"
#include "trial/job_gpus.hpp"

#include <memory>
#include <string>

namespace zeus::test {

void recur_in_demo(Stage& stage) {
  VirtualMachine& machine = stage.machine;
  const Situation& situation = stage.situation;
  const demo::Bench bench{
      .gpu = {.device = machine.process().gpus.front(),
              .load = [&](const physics::Load& load) { machine.gpu().set_load(load); },
              .operating_point = [&] { return machine.gpu().operating_point(); }},
      .model = machine.gpu().model(),
      .clock = machine.clock(),
      .acquire = [&](std::string_view uuid, Seconds term) { return machine.book().acquire(uuid, term); }};
  const PowerLimits limits = machine.gpu().power_limits();
  const records::JobDevice device = trial::job_device({{.model = machine.gpu().identity().name,
                                                        .minimum = limits.minimum.or_throw("the lowest limit"),
                                                        .maximum = limits.maximum.or_throw("the highest limit"),
                                                        .current = limits.current.or_throw("the present limit"),
                                                        .allowed = {}}},
                                                      situation.limits, true);
  const double target = situation.works.front().epochs > 0 ? demo_target : 1.0;
  const auto keeper = jobs::stored_keeper(stage.store.string(), store::Access::create, machine.clock(), FileTree{});
  keeper->define("job", {.batch_sizes = {situation.works.front().batch_size},
                         .default_batch_size = situation.works.front().batch_size,
                         .target = records::JobTarget{.metric = target},
                         .max_epochs = situation.max_epochs,
                         .eta = eta,
                         .beta = situation.beta,
                         .policy = situation.policy,
                         .max_slowdown = {},
                         .device = device});
  demo::NetworkTry training{
      bench, {.seed = 1, .images_per_epoch = 2048, .held_out = 1024, .noise = 0.2, .mislabelled = 0.0}, eta};
  training.trial().set_target(records::JobTarget{.metric = target});
  const Joules energy = machine.true_energy();
  const Instant began = machine.clock().now();
  jobs::Driver driver{keeper->begin("job", device),
                      device,
                      training.trial(),
                      {.stops_at_target = true, .foresees_epochs = true},
                      machine.clock(),
                      [](const jobs::DriverEvent&) {},
                      [](const Error&) { throw; }};
  driver.run();
  stage.trained.push_back({.energy = machine.true_energy() - energy, .time = machine.clock().now() - began});
}

}  // namespace zeus::test
