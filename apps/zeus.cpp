// The `zeus` program: chooses the real clock, the real environment and the back-ends, and lists the commands.

#include "backends/amdsmi/amdsmi_backend.hpp"
#include "backends/nvml/nvml_backend.hpp"
#include "backends/rapl/rapl_backend.hpp"
#include "backends/virtual/virtual_backend.hpp"
#include "backends/zeusd/zeusd_backend.hpp"
#include "backends/zeusd/zeusd_lessor.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "base/standard_streams.hpp"
#include "cli/completions_command.hpp"
#include "cli/demo_command.hpp"
#include "cli/devices_command.hpp"
#include "cli/doctor_command.hpp"
#include "cli/init_command.hpp"
#include "cli/jobs_command.hpp"
#include "cli/llm_arena_command.hpp"
#include "cli/llm_bench_command.hpp"
#include "cli/llm_board_command.hpp"
#include "cli/llm_command.hpp"
#include "cli/llm_compare_command.hpp"
#include "cli/llm_tune_command.hpp"
#include "cli/measure_command.hpp"
#include "cli/monitor_command.hpp"
#include "cli/pipeline_command.hpp"
#include "cli/program.hpp"
#include "cli/restore_command.hpp"
#include "cli/run_command.hpp"
#include "cli/serve_command.hpp"
#include "cli/simulate_cluster_command.hpp"
#include "cli/simulate_command.hpp"
#include "cli/simulate_job_command.hpp"
#include "cli/simulate_paper_command.hpp"
#include "cli/sweep_command.hpp"
#include "cli/token_command.hpp"
#include "cli/virtual_command.hpp"
#include "cli/watch_command.hpp"

#include <zeus/version.hpp>

#include <iostream>
#include <memory>
#include <span>

namespace {

zeus::demo::StageGpu make_virtual_gpu(zeus::Clock& clock, const zeus::physics::GpuModel& model) {
  const auto backend = std::make_shared<zeus::backends::virtual_gpu::VirtualBackend>(clock, std::span{&model, 1});
  return {.device = backend->discover().gpus.front(),
          .load = [backend](const zeus::physics::Load& load) { backend->gpu(0).set_load(load); },
          .operating_point = [backend] { return backend->gpu(0).operating_point(); }};
}

}  // namespace

int main(int argc, char** argv) {
  zeus::occupy_standard_streams();
  zeus::SystemClock clock;
  const zeus::Environment environment = zeus::Environment::of_process();
  zeus::backends::nvml::NvmlBackend nvml{clock};
  zeus::backends::amdsmi::AmdsmiBackend amdsmi{clock};
  zeus::backends::rapl::RaplBackend rapl{zeus::FileTree{}, clock};
  zeus::cli::Context context{std::cout, std::cerr, clock, environment, {&nvml, &amdsmi, &rapl}, zeus::FileTree{}};
  const auto daemon = zeus::backends::zeusd::link_to_daemon(environment, zeus::FileTree{}, clock);
  zeus::backends::zeusd::ZeusdBackend zeusd{daemon};
  if (daemon) {
    context.backends.push_back(&zeusd);
    context.lessor = std::make_shared<zeus::backends::zeusd::ZeusdLessor>(daemon);
  }
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  zeus::cli::Commands simulations;
  simulations.push_back(std::make_unique<zeus::cli::SimulateJobCommand>());
  simulations.push_back(std::make_unique<zeus::cli::SimulateClusterCommand>());
  simulations.push_back(std::make_unique<zeus::cli::SimulatePaperCommand>());
  zeus::cli::Commands of_models;
  of_models.push_back(std::make_unique<zeus::cli::LlmBenchCommand>());
  of_models.push_back(std::make_unique<zeus::cli::LlmBoardCommand>());
  of_models.push_back(std::make_unique<zeus::cli::LlmCompareCommand>());
  of_models.push_back(std::make_unique<zeus::cli::LlmTuneCommand>());
  of_models.push_back(std::make_unique<zeus::cli::LlmArenaCommand>());
  zeus::cli::Commands commands;
  commands.push_back(std::make_unique<zeus::cli::DevicesCommand>());
  commands.push_back(std::make_unique<zeus::cli::DoctorCommand>());
  commands.push_back(std::make_unique<zeus::cli::MeasureCommand>());
  commands.push_back(std::make_unique<zeus::cli::MonitorCommand>());
  commands.push_back(std::make_unique<zeus::cli::WatchCommand>());
  commands.push_back(std::make_unique<zeus::cli::VirtualCommand>());
  commands.push_back(std::make_unique<zeus::cli::RestoreCommand>());
  commands.push_back(std::make_unique<zeus::cli::RunCommand>());
  commands.push_back(std::make_unique<zeus::cli::InitCommand>());
  commands.push_back(std::make_unique<zeus::cli::SimulateCommand>(std::move(simulations)));
  commands.push_back(std::make_unique<zeus::cli::JobsCommand>());
  commands.push_back(std::make_unique<zeus::cli::SweepCommand>());
  commands.push_back(std::make_unique<zeus::cli::ServeCommand>());
  commands.push_back(std::make_unique<zeus::cli::TokenCommand>());
  commands.push_back(std::make_unique<zeus::cli::PipelineCommand>());
  commands.push_back(std::make_unique<zeus::cli::LlmCommand>(std::move(of_models)));
  commands.push_back(std::make_unique<zeus::cli::DemoCommand>(make_virtual_gpu));
  commands.push_back(std::make_unique<zeus::cli::CompletionsCommand>(commands));
  return zeus::cli::run_program(zeus::version(), commands, arguments, context);
}
