// Data-parallel training with MPI, one GPU for each rank, tuned together: every rank sets the same limit, and rank 0
// prints the total. It does not train a network but waits in steps of 10 ms, so that it runs anywhere:
//
//   zeus virtual 4xV100 --load constant:200W -- mpirun -n 4 mpi_train [EPOCHS] [dies]
//
// With `dies`, the last rank exits silently during profiling.

#include "mpi_collective.hpp"

#include <zeus/train.hpp>

#include <mpi.h>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void print(int rank, const zeus::Training& training, const std::vector<double>& limits) {
  const zeus::TrainingResult result = training.result();
  std::string line = "rank " + std::to_string(rank) + " limits";
  for (const double limit : limits) {
    line += ' ' + std::to_string(limit);
  }
  line += "; optimum " + std::to_string(result.optimum ? result.optimum->limit.value() : 0.0);
  if (result.energy) {
    line += "; energy " + std::to_string(result.energy->value.value()) + " +- " +
            std::to_string(result.energy->uncertainty.value()) + " J on " + std::to_string(result.gpus) + " GPUs";
  }
  std::puts((line + "; " + (result.unoptimized.empty() ? "optimized" : result.unoptimized)).c_str());
}

void train(int epochs, bool dies) {
  const auto all = std::make_shared<MpiCollective>();
  std::vector<double> limits;
  zeus::TrainingOptions options;
  options.gpus = std::vector<int>{all->rank()};
  options.collective = all;
  options.collective_patience = zeus::Seconds{5};
  options.goal = zeus::LeastEnergy{};
  options.stopping.max_epochs = static_cast<std::uint64_t>(epochs);
  options.profiling.drift_tolerance = 0;  // these steps are even on an idle machine
  options.listener = [&limits](const zeus::TrainingEvent& event) {
    if (const auto* const applied = std::get_if<zeus::SettingApplied>(&event)) {
      limits.push_back(applied->setting.limit.value());
    }
  };
  // Called just before each measured window begins or ends. There is nothing to wait for here; the first and the last
  // call say of which time the energy is.
  double from = 0;
  double to = 0;
  options.synchronize = [&from, &to] {
    to = now();
    from = from > 0 ? from : to;
  };
  zeus::Training training{options};
  while (training.next_epoch()) {
    for (int batch = 0; batch < 100; ++batch) {
      if (dies && all->rank() == all->size() - 1 && batch == 30) {
        ::_exit(0);
      }
      training.begin_step();
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    training.end_steps();
  }
  training.finish();
  print(all->rank(), training, limits);
  std::printf("rank %d from %.9f to %.9f\n", all->rank(), from, to);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    train(argc > 1 ? std::atoi(argv[1]) : 5, argc > 2 && std::string{argv[2]} == "dies");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mpi_train: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
