"""What can be imported, and what an import costs and loads. No GPU is needed."""

import importlib
import json
import subprocess
import sys
import unittest

import zeus
import zeus_cpp._native

# What scripts import today, module by module.
NAMES = {
    "zeus": ["__version__"],
    "zeus.monitor": ["ZeusMonitor", "Measurement", "PowerMonitor", "TemperatureMonitor"],
    "zeus.monitor.energy": ["ZeusMonitor", "Measurement", "MeasurementState"],
    "zeus.monitor.power": ["PowerMonitor", "PowerDomain", "PowerSample", "infer_counter_update_period"],
    "zeus.monitor.temperature": ["TemperatureMonitor", "TemperatureSample"],
    "zeus.monitor.carbon": ["CarbonEmissionMonitor", "CarbonEmissionMeasurement", "CarbonIntensityProvider", "ElectrictyMapsClient",
                            "ZeusCarbonIntensityHTTPError", "ZeusCarbonIntensityNotFoundError", "Op"],
    "zeus.monitor.price": ["EnergyCostMonitor", "EnergyCostMeasurement", "ElectricityPriceProvider", "OpenEIClient",
                           "ZeusElectricityPriceHTTPError", "ZeusElectricityPriceNotFoundError", "Op", "get_time_info"],
    "zeus.monitor.power_streaming": ["PowerStreamingClient", "PowerReadings", "CpuPowerReading"],
    "zeus.monitor.__main__": ["energy", "power"],
    "zeus.device": ["get_gpus", "get_cpus", "get_soc"],
    "zeus.device.common": ["has_sys_admin", "deprecated_alias", "DeprecatedAliasABCMeta"],
    "zeus.device.exception": ["ZeusBaseGPUError", "ZeusBaseCPUError", "ZeusBaseSoCError", "ZeusdError"],
    "zeus.device.gpu": ["get_gpus", "GPU", "GPUs", "EmptyGPUs", "NVIDIAGPUs", "AMDGPUs", "nvml_is_available",
                        "amdsmi_is_available"],
    "zeus.device.gpu.common": ["GPU", "GPUs", "EmptyGPUs", *(f"ZeusGPU{name}Error" for name in (
        "Init", "InvalidArg", "NotSupported", "NoPermission", "AlreadyInitialized", "NotFound", "InsufficientSize",
        "InsufficientPower", "DriverNotLoaded", "Timeout", "IRQ", "LibraryNotFound", "FunctionNotFound",
        "CorruptedInfoROM", "Lost", "ResetRequired", "OperatingSystem", "LibRMVersionMismatch", "Memory", "Unknown",
        "Heterogeneous"))],
    "zeus.device.gpu.nvidia": ["NVIDIAGPU", "ZeusdNVIDIAGPU", "NVIDIAGPUs"],
    "zeus.device.gpu.amd": ["AMDGPU", "ZeusdAMDGPU", "AMDGPUs"],
    "zeus.device.cpu": ["get_cpus", "get_current_cpu_index", "CPUs", "ZeusCPUInitError", "RAPLCPUs", "EMICPUs", "rapl_is_available",
                        "emi_is_available"],
    "zeus.device.cpu.common": ["CPU", "CPUs", "EmptyCPUs", "CpuDramMeasurement", "ZeusCPUInitError",
                               "ZeusCPUNoPermissionError", "ZeusCPUNotFoundError"],
    "zeus.device.cpu.rapl": ["RAPLCPU", "RAPLCPUs", "RAPLFile", "RaplWraparoundTracker", "ZeusRAPLNotSupportedError", "ZeusRAPLFileInitError",
                             "ZeusRAPLPermissionError", "get_current_rapl_zone_id", "RAPL_DIR", "CONTAINER_RAPL_DIR"],
    "zeus.device.cpu.emi": ["EMICPU", "EMICPUs", "EMIFile", "ZeusEMINotSupportedError", "ZeusEMIInitError",
                            "get_current_emi_cpu_index"],
    "zeus.device.soc": ["get_soc", "SoC", "ZeusSoCInitError", "AppleSilicon", "Jetson", "ZeusAppleInitError",
                        "ZeusJetsonInitError", "apple_silicon_is_available", "jetson_is_available"],
    "zeus.optimizer.power_limit": ["GlobalPowerLimitOptimizer", "HFGlobalPowerLimitOptimizer", "OptimumSelector", "Energy",
                                   "Time", "ZeusCost", "MaxSlowdownConstraint", "Ready", "Warmup", "Profiling", "Done",
                                   "PowerLimitMeasurement"],
    "zeus.optimizer.batch_size": ["BatchSizeOptimizer", "JobSpec"],
    "zeus.optimizer.batch_size.client": ["BatchSizeOptimizer"],
    "zeus.optimizer.batch_size.common": [
        "REGISTER_JOB_URL", "DELETE_JOB_URL", "GET_NEXT_BATCH_SIZE_URL", "REPORT_RESULT_URL", "REPORT_END_URL", "JobParams",
        "JobSpec", "GpuConfig", "JobSpecFromClient", "CreatedJob", "TrialId", "TrainingResult", "ReportResponse"],
    "zeus.optimizer.batch_size.exceptions": [f"ZeusBSO{name}Error".replace("RuntimeError", "RuntimError") for name in (
        "Runtime", "TrainFail", "Config", "OperationOrder", "BadOperation")],
    "zeus.optimizer.pipeline_frequency": ["PipelineFrequencyOptimizer"],
    "zeus.optimizer.pipeline_frequency.common": [
        "GET_SERVER_INFO_URL", "REGISTER_JOB_URL", "REGISTER_RANK_URL", "GET_FREQUENCY_SCHEDULE_URL",
        "REPORT_PROFILING_RESULT_URL", "JobInfo", "RankInfo", "FrequencySchedule", "ProfilingResult", "OfflineProfilingResult",
        "InstructionProfilingResult", "save_prof", "save_sched", "save_ranks", "load_prof", "load_sched", "load_ranks"],
    "zeus.optimizer.pipeline_frequency.frequency_controller": ["FrequencyController"],
    "zeus.metric": ["Metric", "EnergyHistogram", "EnergyCumulativeCounter", "PowerGauge", "MonitoringProcessState",
                    "energy_monitoring_loop", "power_monitoring_loop"],
    "zeus.callback": ["Callback", "CallbackSet"],
    "zeus.profile": ["measure", "profile_parameters", "profile_measurement_duration", "profile_cooldown_duration",
                     "TrialResult", "SweepResult", "SweepReport"],
    "zeus.show_env": ["show_env"],
    "zeus.exception": ["ZeusBaseError"],
    "zeus.utils.env": ["get_env"],
    "zeus.utils.framework": ["sync_execution", "all_reduce", "is_distributed", "get_rank", "get_world_size",
                             "torch_is_available", "jax_is_available", "cupy_is_available", "MODULE_CACHE"],
    "zeus.utils.lr_scaler": ["SquareRootScaler", "LinearScaler"],
    "zeus.utils.metric": ["zeus_cost", "energy", "avg_power"],
    "zeus.utils.testing": ["ReplayZeusMonitor"],
    "zeus.utils.zeusd": ["ZeusdConfig", "ZeusdClient", "require_capabilities", "GpuInfo", "CpuInfo", "GpuPowerSnapshot",
                         "CpuDramPower", "CpuPowerSnapshot", "CpuEnergyResult", "ZeusdConnectionError", "ZeusdAuthError",
                         "ZeusdCapabilityError"],
    "zeus.utils.lat_lon": ["get_ip_lat_long"],
    "zeus.utils.logging": ["FileAndConsole"],
    "zeus.utils.async_utils": ["create_task"],
    "zeus.utils.multiprocessing": ["warn_if_global_in_subprocess"],
}

# Prints the memory that importing took, and the top-level modules that it loaded.
COST = """
import json, sys
def resident():
    with open('/proc/self/statm') as statm:
        return int(statm.read().split()[1]) * 4096
before, memory = set(sys.modules), resident()
import zeus.monitor
print(json.dumps([resident() - memory, sorted({name.partition('.')[0] for name in set(sys.modules) - before})]))
"""


def run(code: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60, **options)


class Imports(unittest.TestCase):
    def test_every_name_that_scripts_use_is_there(self):
        for module, names in NAMES.items():
            with self.subTest(module):
                found = importlib.import_module(module)
                self.assertEqual([name for name in names if not hasattr(found, name)], [])

    def test_a_module_that_is_missing_says_what_to_use_meanwhile(self):
        for module, instead in (("_legacy", "zeus simulate"), ("optimizer.batch_size.server", "zeus serve"),
                                ("optimizer.pipeline_frequency.server", "zeus serve --listen 127.0.0.1:7787 --pipeline-plan")):
            with self.subTest(module), self.assertRaisesRegex(ModuleNotFoundError, rf"zeus\.{module} is not part of zeus-cpp: .*{instead}"):
                importlib.import_module(f"zeus.{module}")
        with self.assertRaisesRegex(ModuleNotFoundError, "No module named 'zeus.nothing'"):
            importlib.import_module("zeus.nothing")

    def test_nothing_but_the_standard_library_comes_along(self):
        done = run(COST)
        _, modules = json.loads(done.stdout)
        foreign = [name for name in modules if name not in sys.stdlib_module_names and name not in ("zeus", "zeus_cpp")]
        self.assertEqual(foreign, [])

    def test_importing_is_cheap(self):
        """bench/python_bench.py measures the time; the loaded modules decide it."""
        memory, _ = json.loads(run(COST).stdout)
        self.assertLess(memory, 25e6)
        code = "import sys, zeus.monitor\nprint(sorted({m.__name__ for n, m in sys.modules.items() if n.startswith('zeus')}))"
        self.assertEqual(run(code).stdout.strip(), str(["zeus", "zeus_cpp", *(f"zeus_cpp.{name}" for name in (
            "_front", "_installation", "_lazy", "_logger", "_native", "_version", "exception", "monitor", "monitor.energy",
            "monitor.measurement", "utils", "utils.framework"))]))

    def test_importing_the_package_alone_loads_nothing_native(self):
        done = run("import sys, zeus\nprint(sorted(n for n in sys.modules if n.startswith('zeus')))")
        self.assertEqual(done.stdout.strip(), str(["zeus", "zeus_cpp", *(f"zeus_cpp.{name}" for name in (
            "_front", "_installation", "_lazy", "_version"))]), done.stderr)

    def test_the_version_is_that_of_the_interface_and_ours_stands_beside_it(self):
        self.assertGreaterEqual(tuple(map(int, zeus.__version__.split("."))), (0, 13, 1))
        self.assertEqual(zeus.__cpp_version__, zeus_cpp._native.version())
        self.assertEqual(zeus.__cpp_version__, zeus_cpp.__version__)

    def test_an_unknown_name_is_an_ordinary_attribute_error(self):
        with self.assertRaises(AttributeError):
            zeus.no_such_name
        self.assertIn("ZeusDataLoader", dir(zeus))

    def test_the_library_is_silent_unless_logging_is_set_up(self):
        done = run("import logging\nfrom zeus.monitor import power\npower.logger.warning('said')")
        self.assertEqual((done.stdout, done.stderr), ("", ""))


class ShowEnv(unittest.TestCase):
    def test_each_section_is_there(self):
        done = subprocess.run([sys.executable, "-m", "zeus.show_env"], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        titles = [line[3:] for line in done.stdout.splitlines() if line.startswith("## ")]
        self.assertEqual(titles, ["Package availability and versions", "Device availability", "CPU availability",
                                  "SoC availability", "What does not work here", "Zeusd daemon"])
        self.assertIn(f"Zeus: {zeus.__version__} (zeus-cpp {zeus.__cpp_version__}, libzeus", done.stdout)
        self.assertEqual(done.stdout.count("\nDetected:\n  "), 6)


if __name__ == "__main__":
    unittest.main()
