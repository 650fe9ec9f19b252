"""Other projects' programs on virtual GPUs: the vendors' own Python packages and nvitop, from the registry.

  foreign_clients_test.py PROGRAM BUILD_FOLDER
"""

import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment  # noqa: E402

SPEC = ["2xV100,1xH100", "--load", "square:80-300W,200ms"]
program = ""
build = pathlib.Path()

# Runs with nvidia-ml-py, and prints its readings as JSON.
LOOK = """
import json, os, subprocess, sys, time
import pynvml as n
n.nvmlInit()
def look(index):
    h = n.nvmlDeviceGetHandleByIndex(index)
    peaks = [(n.nvmlDeviceGetPowerUsage(h), n.nvmlDeviceGetClockInfo(h, n.NVML_CLOCK_SM), time.sleep(0.02)) for _ in range(30)]
    return {"name": n.nvmlDeviceGetName(h), "limit": n.nvmlDeviceGetEnforcedPowerLimit(h),
            "constraints": n.nvmlDeviceGetPowerManagementLimitConstraints(h),
            "most": max(p for p, _, _ in peaks), "least": min(p for p, _, _ in peaks),
            "lowest_clock": min(c for _, c, _ in peaks), "highest_clock": max(c for _, c, _ in peaks),
            "processes": [p.pid for p in n.nvmlDeviceGetComputeRunningProcesses(h)]}
if len(sys.argv) > 1:
    print(json.dumps(look(0)))
else:
    before = [look(i) for i in range(n.nvmlDeviceGetCount())]
    n.nvmlDeviceSetPowerManagementLimit(n.nvmlDeviceGetHandleByIndex(0), 150000)
    time.sleep(0.3)
    other = subprocess.run([sys.executable, __file__, "0"], capture_output=True, text=True, check=True).stdout
    print(json.dumps({"before": before, "after": look(0), "other": json.loads(other), "pid": os.getpid()}))
"""

# Fields of an H100 read by number, with nvidia-ml-py: types and fields are the package's own.
LOOK_AT_FIELDS = """
import json, time
import pynvml as n
n.nvmlInit()
time.sleep(0.5)
h = n.nvmlDeviceGetHandleByIndex(2)
def value(field):
    v = n.nvmlDeviceGetFieldValues(h, [field])[0]
    n._nvmlCheckReturn(v.nvmlReturn)
    return {n.NVML_VALUE_TYPE_UNSIGNED_INT: v.value.uiVal, n.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: v.value.ullVal}[v.valueType]
energy = lambda: value(n.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION)
print(json.dumps({"energy": [energy(), n.nvmlDeviceGetTotalEnergyConsumption(h), energy()],
                  "power": value(n.NVML_FI_DEV_POWER_INSTANT), "most": value(n.NVML_FI_DEV_POWER_MAX_LIMIT),
                  "average": value(n.NVML_FI_DEV_POWER_AVERAGE)}))
"""

# Runs under AMD's own package.
LOOK_AT_AMD = """
import json, os, time
import amdsmi as a
a.amdsmi_init()
gpu = a.amdsmi_get_processor_handles()[0]
cap, before = a.amdsmi_get_power_cap_info(gpu), a.amdsmi_get_energy_count(gpu)
a.amdsmi_set_power_cap(gpu, 0, 150_000_000)
time.sleep(0.3)
after = a.amdsmi_get_energy_count(gpu)
print(json.dumps({"cap": cap, "now": a.amdsmi_get_power_cap_info(gpu)["power_cap"], "power": a.amdsmi_get_power_info(gpu),
                  "joules": (after["energy_accumulator"] - before["energy_accumulator"]) * after["counter_resolution"] * 1e-6,
                  "clock": a.amdsmi_get_clock_info(gpu, a.AmdSmiClkType.GFX),
                  "memory": a.amdsmi_get_clock_info(gpu, a.AmdSmiClkType.MEM),
                  "name": a.amdsmi_get_gpu_asic_info(gpu)["market_name"], "busy":
                  a.amdsmi_get_gpu_activity(gpu)["gfx_activity"],
                  "processes": [p["pid"] for p in a.amdsmi_get_gpu_process_list(gpu)], "pid": os.getpid()}))
"""


class ForeignClients(unittest.TestCase):
    def run_virtual(self, *command, spec=tuple(SPEC)) -> str:
        done = subprocess.run([program, "virtual", *spec, "--", *map(str, command)], capture_output=True, text=True,
                              check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_nvidias_package_sees_and_drives_the_gpus(self):
        python = python_environment.interpreter(build, "clients")
        script = build / "python" / "look_at_gpus.py"
        script.write_text(LOOK, encoding="utf-8")
        seen = json.loads(self.run_virtual(python, script))
        names = [gpu["name"] for gpu in seen["before"]]
        self.assertEqual(["V100" in name for name in names], [True, True, False])
        self.assertIn("H100", names[2])
        for gpu in seen["before"]:
            self.assertEqual(gpu["processes"], [seen["pid"]])
        free = seen["before"][0]
        self.assertEqual(free["limit"], 250_000)
        self.assertEqual(free["least"], 80_000)
        self.assertAlmostEqual(free["most"], 250_000, delta=500)
        for capped in (seen["after"], seen["other"]):
            self.assertEqual(capped["limit"], 150_000)
            self.assertEqual(capped["least"], 80_000)
            self.assertAlmostEqual(capped["most"], 150_000, delta=500)
            self.assertLess(capped["lowest_clock"], free["lowest_clock"])
            self.assertEqual(capped["highest_clock"], free["highest_clock"])

    def test_nvidias_package_reads_fields_by_number_and_type(self):
        python = python_environment.interpreter(build, "clients")
        seen = json.loads(self.run_virtual(python, "-c", LOOK_AT_FIELDS, spec=("2xV100,1xH100", "--load", "constant:200W")))
        self.assertEqual(seen["energy"], sorted(seen["energy"]), "the call is between the two readings of the field")
        self.assertGreater(seen["energy"][0], 10_000)
        self.assertEqual(seen["most"], 700_000)
        self.assertAlmostEqual(seen["power"], 200_000, delta=500)
        self.assertLessEqual(seen["average"], 200_500)

    def test_amds_package_sees_and_drives_the_gpus(self):
        python = python_environment.interpreter(build, "clients")
        seen = json.loads(self.run_virtual(python, "-c", LOOK_AT_AMD, spec=("1xV100,1xA100@amd", "--load", "constant:200W")))
        self.assertEqual(seen["name"], "Virtual GPU (A100)")
        self.assertEqual([seen["cap"][f"{which}_power_cap"] for which in ("min", "default", "max")],
                         [100_000_000, 400_000_000, 400_000_000])
        self.assertEqual(seen["now"], 150_000_000)
        self.assertEqual(seen["power"]["current_socket_power"], 150)
        self.assertGreater(seen["joules"], 20)
        self.assertEqual([seen["clock"]["min_clk"], seen["clock"]["max_clk"], seen["memory"]["max_clk"]], [210, 1410, 1215])
        self.assertEqual(seen["busy"], 100)
        self.assertEqual(seen["processes"], [seen["pid"]])

    def test_without_a_session_there_is_no_driver(self):
        python = python_environment.interpreter(build, "clients")
        code = "import pynvml as n\ntry:\n  n.nvmlInit()\nexcept n.NVMLError as e: print(e.value == n.NVML_ERROR_DRIVER_NOT_LOADED)"
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True,
                              env={"LD_LIBRARY_PATH": str(build / "lib" / "zeus" / "virtual")})
        self.assertEqual(done.stdout, "True\n")

    def test_nvitop_shows_gpus_power_limits_and_processes(self):
        python = python_environment.interpreter(build, "clients")
        shown = self.run_virtual(python, "-m", "nvitop", "--once", "--ascii")
        self.assertEqual(shown.count("V100-PCIE-32GB"), 2, shown)
        self.assertIn("H100 80GB HBM3", shown)
        self.assertEqual(shown.count("W / 250W"), 2, shown)
        self.assertEqual(shown.count("W / 700W"), 1, shown)
        _, _, processes = shown.partition("Processes:")
        listed = [line.split()[1] for line in processes.splitlines() if line.startswith("|   ") and "MiB" in line]
        self.assertEqual(listed, ["0", "1", "2"], shown)


if __name__ == "__main__":
    program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
