"""zeus.device on two virtual V100s and an A100, each of which draws 120 W."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # before the devices are looked for

from zeus.device import get_cpus, get_gpus, get_soc
from zeus.device import gpu as gpu_module
from zeus.device.cpu import (
    CPUs,
    CpuDramMeasurement,
    EmptyCPUs,
    ZeusCPUInitError,
    ZeusCPUNoPermissionError,
    get_current_cpu_index,
)
from zeus.device.cpu.common import CPU
from zeus.device.cpu.emi import EMICPU, EMICPUs, EMIFile, ZeusEMINotSupportedError, get_current_emi_cpu_index
from zeus.device.cpu.rapl import RAPLFile, ZeusRAPLFileInitError
from zeus.device.exception import ZeusBaseGPUError
from zeus.device.gpu import EmptyGPUs, NativeGPU, ZeusGPUHeterogeneousError, ZeusGPUInvalidArgError, ZeusGPUNotFoundError
from zeus.device.gpu import ZeusGPUNotSupportedError
from zeus.device.gpu.common import GPU
from zeus.device.gpu.nvidia import NVIDIAGPU
from zeus.device.soc import EmptySoC, ZeusSoCInitError, apple_silicon_is_available, jetson_is_available
from zeus.exception import ZeusBaseError, ZeusConflictError, ZeusInvalidArgumentError


def in_another_process(code: str, **options) -> subprocess.CompletedProcess:
    prelude = "import os, signal, sys, time\nfrom zeus.device import get_gpus\ng = get_gpus()\n"
    return subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, timeout=60, check=False,
                          **options)


class Readings(unittest.TestCase):
    def test_gpus_tell_what_they_are_and_do(self):
        gpus = get_gpus()
        self.assertEqual(len(gpus), 3)
        self.assertIs(get_gpus(), gpus)
        self.assertIsInstance(gpus.gpus[0], NVIDIAGPU)
        self.assertIn("V100", gpus.get_name(0))
        self.assertIn("A100", gpus.get_name(2))
        self.assertEqual(gpus.get_power_management_limit_constraints(0), (100_000, 250_000))
        self.assertEqual(gpus.get_power_management_limit(0), 250_000)
        self.assertAlmostEqual(gpus.get_instant_power_usage(0), 120_000, delta=1_500)
        self.assertTrue(20 < gpus.get_gpu_temperature(0) < 100)
        clocks = gpus.get_supported_graphics_clocks(0)
        self.assertEqual(clocks, sorted(clocks, reverse=True))
        self.assertEqual(clocks, gpus.get_supported_graphics_clocks(0, max(gpus.get_supported_memory_clocks(0))))
        self.assertTrue(gpus.supports_get_total_energy_consumption(0))
        self.assertIn(gpus.get_persistence_mode(0), (True, False))

    def test_the_energy_counter_counts(self):
        gpus = get_gpus()
        moments = [time.monotonic()]
        before = gpus.get_total_energy_consumption(0)
        moments.append(time.monotonic())
        time.sleep(0.1)
        moments.append(time.monotonic())
        energy = (gpus.get_total_energy_consumption(0) - before) / 1000
        moments.append(time.monotonic())
        # Each reading was taken between the times around it, and the counter moves every 20 ms.
        self.assertGreaterEqual(energy, 120 * (moments[2] - moments[1] - 0.021))
        self.assertLessEqual(energy, 120 * (moments[3] - moments[0] + 0.021))

    def test_an_index_out_of_range_is_reported(self):
        for index in (-1, 3):
            with self.assertRaisesRegex(ZeusGPUNotFoundError, "there are 3"):
                get_gpus().get_name(index)

    def test_gpus_of_different_models_are_refused_where_they_must_be_equal(self):
        get_gpus()
        with self.assertRaisesRegex(ZeusGPUHeterogeneousError, "V100.*A100"):
            get_gpus(ensure_homogeneous=True)

    def test_what_a_gpu_has_not_is_not_supported(self):
        with self.assertRaises(ZeusGPUNotSupportedError):
            get_gpus().get_average_memory_power_usage(0)
        with self.assertRaises(ZeusGPUNotSupportedError):
            get_gpus().set_memory_locked_clocks(0, 877, 877)
        get_gpus().gpus[0].put_back()

    def test_a_memory_clock_that_a_gpu_does_not_have_is_not_found(self):
        with self.assertRaisesRegex(ZeusGPUNotFoundError, "memory clock 1 MHz: .*memory does not run at this clock"):
            get_gpus().get_supported_graphics_clocks(0, 1)

    def test_former_names_warn_once_and_lead_to_overrides(self):
        class Named(NVIDIAGPU):
            def get_name(self):
                return "mine"

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual([Named(0).getName() for _ in range(2)], ["mine", "mine"])
            self.assertEqual(get_gpus().getPowerManagementLimitConstraints(0), (100_000, 250_000))
            self.assertEqual(get_gpus().getPowerManagementLimitConstraints(1), (100_000, 250_000))
        named = [str(each.message) for each in caught if issubclass(each.category, DeprecationWarning)]
        self.assertEqual(sum("getPowerManagementLimitConstraints" in text for text in named), 1, named)

    def test_one_who_derives_a_gpu_has_to_give_all_of_it(self):
        with self.assertRaises(TypeError):
            GPU(0)

    def test_a_forked_child_reads_through_devices_of_its_own(self):
        get_gpus().get_total_energy_consumption(0)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(writer, str(get_gpus().get_instant_power_usage(0)).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        os.close(writer)
        self.assertAlmostEqual(int(os.read(reader, 100)), 120_000, delta=1_500)
        os.close(reader)


class Settings(unittest.TestCase):
    """Each leaves the GPUs as it found them, and checks that."""

    def setUp(self):
        warnings.simplefilter("ignore")

    def tearDown(self):
        self.assertEqual(get_gpus().get_power_management_limit(1), 250_000)

    def test_a_limit_holds_for_everybody_until_the_process_ends(self):
        script = ("g.set_power_management_limit(1, 150_000)\n"
                  "print(g.get_power_management_limit(1), flush=True)\nsys.stdin.read()\n")
        holder = subprocess.Popen([sys.executable, "-c", "import sys\nfrom zeus.device import get_gpus\ng = get_gpus()\n"
                                   + script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(int(holder.stdout.readline()), 150_000)
        self.assertEqual(get_gpus().get_power_management_limit(1), 150_000)
        with self.assertRaisesRegex(ZeusBaseGPUError, f"process {holder.pid}") as refused:
            get_gpus().set_power_management_limit(1, 200_000)
        self.assertIsInstance(refused.exception, ZeusConflictError)
        self.assertFalse(get_gpus().gpus[1].is_set)
        holder.communicate("")

    def test_a_process_that_is_killed_leaves_nothing_behind(self):
        done = in_another_process("g.set_power_management_limit(1, 150_000)\ng.set_gpu_locked_clocks(1, 500, 600)\n"
                                  "g.set_persistence_mode(1, not g.get_persistence_mode(1))\n"
                                  "os.kill(os.getpid(), signal.SIGKILL)\n")
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        until = time.monotonic() + 60
        while get_gpus().get_power_management_limit(1) != 250_000 and time.monotonic() < until:
            time.sleep(0.02)

    def test_what_a_forked_child_sets_ends_with_it_and_what_its_parent_set_comes_back(self):
        done = in_another_process(
            "import sys\ng.set_power_management_limit(1, 150_000)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "  g.set_power_management_limit(1, 200_000)\n"
            "  print(g.get_power_management_limit(1))\n"
            "  sys.exit(7)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), g.get_power_management_limit(1))\n")
        self.assertEqual(done.stdout, "200000\n7 150000\n", done.stderr)

    def test_a_forked_child_can_set_once_its_parent_has_ended(self):
        done = in_another_process(
            "import sys, time\ng.set_power_management_limit(1, 150_000)\n"
            "if os.fork(): os._exit(0)\n"
            "while g.get_power_management_limit(1) != 250_000: time.sleep(0.01)\n"
            "assert not g.gpus[1].is_set\n"
            "g.set_power_management_limit(1, 200_000)\nprint(g.get_power_management_limit(1))\n")
        self.assertEqual(done.stdout, "200000\n", done.stderr)

    def test_what_a_process_has_set_does_not_outlive_exec(self):
        after = ("from zeus.device import get_gpus; gpu = get_gpus().gpus[1]; gpu.set_power_management_limit(200_000); "
                 "print(gpu.get_power_management_limit()); gpu.put_back(); print(gpu.get_power_management_limit())")
        done = in_another_process("import sys\ng.set_power_management_limit(1, 150_000)\n"
                                  f"os.execv(sys.executable, [sys.executable, '-c', {after!r}])\n")
        self.assertEqual(done.stdout, "200000\n250000\n", done.stderr)

    def test_setters_of_many_threads_lose_nothing(self):
        gpu = NVIDIAGPU(1)
        threads = [threading.Thread(target=gpu.set_power_management_limit, args=(150_000 + 5_000 * number,))
                   for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLess(gpu.get_power_management_limit(), 190_000)
        gpu.put_back()
        self.assertEqual(gpu.get_power_management_limit(), 250_000)

    def test_resetting_brings_the_default_and_the_end_what_was_found(self):
        with get_gpus().gpus[1].lease() as operators:
            operators.set_power_limit(220)
            operators.restore()
        done = in_another_process("g.set_power_management_limit(1, 150_000)\ng.reset_power_management_limit(1)\n"
                                  "print(g.get_power_management_limit(1))\n")
        self.assertEqual(done.stdout, "250000\n", done.stderr)

    def test_what_a_process_has_set_can_be_put_back_before_its_end(self):
        gpu = get_gpus().gpus[1]
        gpu.set_power_management_limit(150_000)
        self.assertTrue(gpu.is_set)
        gpu.put_back()
        self.assertEqual((gpu.is_set, gpu.get_power_management_limit()), (False, 250_000))
        gpu.lease().release()  # of a process that no longer exists
        gpu.put_back()

    def test_a_lease_ends_with_its_block(self):
        gpu = get_gpus().gpus[1]
        with gpu.lease() as lease:
            self.assertEqual(lease.set_power_limit(180), 180.0)
            lease.lock_clocks(500, 700)
            lease.renew()
            self.assertEqual(gpu.get_power_management_limit(), 180_000)
            with gpu.lease() as another:
                another.set_power_limit(160)
                self.assertRegex(lease.overruled, "GPU 1 .* was set to power limit 160 W from elsewhere in this process")
            self.assertEqual(gpu.get_power_management_limit(), 180_000)
            lease.restore()
            self.assertEqual(lease.overruled, "")
            self.assertEqual(gpu.get_power_management_limit(), 250_000)
            lease.set_power_limit(180)
        lease.release()
        with self.assertRaises(ZeusGPUInvalidArgError):
            lease.set_power_limit(170)

    def test_a_lease_that_is_not_renewed_expires(self):
        gpu = get_gpus().gpus[1]
        lease = gpu.lease(term=6)  # a busy machine has to set within it
        lease.set_power_limit(180)
        until = time.monotonic() + 60
        while gpu.get_power_management_limit() != 250_000 and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(gpu.get_power_management_limit(), 250_000)
        lease.release()

    def test_a_limit_out_of_range_is_refused(self):
        done = in_another_process("from zeus.device.gpu import ZeusGPUInvalidArgError\n"
                                  "try:\n  g.set_power_management_limit(1, 999_000)\n"
                                  "except ZeusGPUInvalidArgError as error:\n  print('range' in str(error))\n")
        self.assertEqual(done.stdout, "True\n", done.stderr)

    def test_without_the_guardian_nothing_is_set(self):
        done = in_another_process("try:\n  g.set_power_management_limit(1, 150_000)\nexcept Exception as error:\n"
                                  "  print(error, g.get_power_management_limit(1))\n",
                                  env={**os.environ, "ZEUS_GUARDIAN": "/nonexistent"})
        self.assertIn("guardian", done.stdout, done.stderr)
        self.assertIn("250000", done.stdout)


class Absence(unittest.TestCase):
    def test_empty_stands_for_none(self):
        for empty, call in ((EmptyGPUs(), lambda gpus: gpus.get_average_power_usage(0)),
                            (EmptyGPUs(), lambda gpus: gpus.getName(0)),
                            (EmptyCPUs(), lambda cpus: cpus.get_total_energy_consumption(0)),
                            (EmptySoC(), lambda soc: soc.get_total_energy_consumption())):
            with warnings.catch_warnings(), self.assertRaisesRegex(ValueError, "No .* available"):
                warnings.simplefilter("ignore")
                call(empty)
        self.assertEqual((len(EmptyGPUs()), EmptyGPUs().gpus, len(EmptyCPUs())), (0, [], 0))

    def test_no_soc_is_ordinary(self):
        with self.assertRaises(ZeusSoCInitError):
            get_soc()
        self.assertEqual((apple_silicon_is_available(), jetson_is_available()), (False, False))

    def test_without_gpus_the_reason_is_reported_and_monitors_measure_nothing(self):
        hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
        code = ("from zeus.monitor import ZeusMonitor, PowerMonitor\nfrom zeus.device import get_gpus\n"
                "from zeus.device.gpu import ZeusGPUInitError\nm = ZeusMonitor()\nm.begin_window('x')\n"
                "print(m.end_window('x').gpu_energy, len(m.gpus))\n"
                "for make in (get_gpus, PowerMonitor):\n  try: make()\n  except ZeusGPUInitError as error: print(error)\n"
                "try: ZeusMonitor([0])\nexcept ValueError as error: print(error)\n")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=hidden, check=False)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "{} 0", done.stderr)
        self.assertEqual(done.stderr.count("there is no GPU to measure"), 1, done.stderr)
        self.assertEqual(["no GPU can be used here" in line for line in lines[1:3]], [True, True], lines)
        self.assertIn("there is no GPU 0", lines[3])

    def test_a_gpu_that_is_asked_for_and_is_not_there_is_an_error_and_never_an_empty_sum(self):
        code = ("from zeus.monitor import ZeusMonitor\nfrom zeus.device import get_gpus\n"
                "from zeus.device.gpu import ZeusGPUInvalidArgError\n"
                "for make in (ZeusMonitor, get_gpus):\n  try: make()\n  except ZeusGPUInvalidArgError as error: print(error)\n")
        for visible, seen in (("9", True), ("GPU-none", True), ("", False), ("-1", False)):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                                  env={**os.environ, "CUDA_VISIBLE_DEVICES": visible})
            said = f'CUDA_VISIBLE_DEVICES has the entry "{visible}", which names no GPU'
            self.assertEqual(done.stdout.count(said), 2 if seen else 0, done.stdout + done.stderr)

    def test_what_is_wrong_with_the_visible_gpus_is_shown(self):
        done = subprocess.run([sys.executable, "-m", "zeus.show_env"], capture_output=True, text=True, check=False,
                              env={**os.environ, "CUDA_VISIBLE_DEVICES": "9"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('Error initializing GPUs: CUDA_VISIBLE_DEVICES has the entry "9", which names no GPU', done.stdout)

    def test_one_line_says_that_settings_end_with_the_script_whatever_its_logging(self):
        begin = ("from zeus.device import get_gpus\ngpus = get_gpus()\n"
                 "limit = gpus.get_power_management_limit(0)\ngpus.set_power_management_limit(0, limit - 50_000)\n"
                 "gpus.set_gpu_locked_clocks(1, 500, 900)\n")
        for rest, left in (("", "GPU 0 .*: power limit; GPU 1 .*: graphics clocks"),
                           ("gpus.set_power_management_limit(0, limit)\n", "GPU 1 .*: graphics clocks"),
                           ("gpus.set_power_management_limit(0, limit)\ngpus.reset_gpu_locked_clocks(1)\n", None)):
            with self.subTest(rest):
                done = subprocess.run([sys.executable, "-W", "ignore", "-c", begin + rest], capture_output=True, text=True,
                                      check=True)
                said = [line for line in done.stderr.splitlines() if "end with it" in line]
                self.assertEqual(len(said), 0 if left is None else 1, done.stderr)
                if left is not None:
                    self.assertRegex(said[0], rf"^zeus: the settings of this script end with it .*\({left}\)")

    def test_visibility_is_cudas(self):
        first = get_gpus().gpus[0].uuid
        code = "from zeus.device import get_gpus\nprint([gpu.driver_index for gpu in get_gpus().gpus])"
        for visible, seen in (("2,0", "[2, 0]"), (f"{first},", "[0]"), ("1,-1,0", "[1]")):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                                  env={**os.environ, "CUDA_VISIBLE_DEVICES": visible})
            self.assertEqual(done.stdout.strip(), seen, (visible, done.stderr))

    def test_the_order_is_cudas(self):
        code = "from zeus.device import get_gpus\nprint(get_gpus().get_name(0))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                              env={**os.environ, "CUDA_DEVICE_ORDER": "FASTEST_FIRST"})
        self.assertIn("A100", done.stdout)


class Cpu(unittest.TestCase):
    def test_a_process_runs_on_some_package(self):
        packages = {int(path.read_text()) for path in
                    pathlib.Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology/physical_package_id")}
        if len(packages) != 1:
            self.skipTest("the package may change at any time")
        self.assertEqual((get_current_cpu_index(), get_current_cpu_index(os.getpid())), (min(packages),) * 2)

    def test_measurements_subtract_and_divide(self):
        self.assertEqual(CpuDramMeasurement(5, 3) - CpuDramMeasurement(2, 1), CpuDramMeasurement(3, 2))
        self.assertEqual(CpuDramMeasurement(5) - CpuDramMeasurement(2, 1), CpuDramMeasurement(3, -1))
        self.assertEqual(CpuDramMeasurement(5, 3) / 2, CpuDramMeasurement(2.5, 1.5))
        with self.assertRaises(ZeroDivisionError):
            CpuDramMeasurement(1) / 0
        with self.assertRaises(TypeError):
            CpuDramMeasurement(1) / "2"

    def test_packages_count_or_say_why_not(self):
        try:
            cpus = get_cpus()
        except (ZeusCPUInitError, ZeusCPUNoPermissionError) as error:
            self.assertTrue(error.message)
            return
        before = cpus.get_total_energy_consumption(0)
        time.sleep(0.2)
        self.assertGreater((cpus.get_total_energy_consumption(0) - before).cpu_mj, 0)

    def test_a_zones_counter_continues_when_it_wraps(self):
        with tempfile.TemporaryDirectory() as folder:
            zone = pathlib.Path(folder)
            for name, content in (("name", "dram\n"), ("max_energy_range_uj", "262143328850\n"), ("energy_uj", "262143000000\n")):
                (zone / name).write_text(content)
            file = RAPLFile(zone)
            self.assertEqual(file.energy_uj_path, zone / "energy_uj")
            began = file.read()
            (zone / "energy_uj").write_text("5671150\n")
            self.assertAlmostEqual(file.read() - began, 6000.0, places=3)
            self.assertEqual(file.name, "dram")
            (zone / "max_energy_range_uj").unlink()
            with self.assertRaises(ZeusRAPLFileInitError):
                RAPLFile(zone)

    def test_what_windows_counts_is_refused_by_name(self):
        for make in (EMICPUs, lambda: EMIFile("path"), lambda: EMICPU(0, None, 0, None), get_current_emi_cpu_index):
            with self.assertRaises(ZeusEMINotSupportedError):
                make()

    def test_one_may_be_derived(self):
        class Mine(CPU):
            def get_total_energy_consumption(self):
                return CpuDramMeasurement(1.0)

            def supports_get_dram_energy_consumption(self):
                return False

        class All(CPUs):
            def __init__(self):
                pass

            cpus = [Mine(0)]

        with self.assertWarns(DeprecationWarning):
            self.assertEqual(All().getTotalEnergyConsumption(0), CpuDramMeasurement(1.0))


class Exceptions(unittest.TestCase):
    def test_all_are_of_one_family_and_carry_their_message(self):
        found = [value for value in vars(gpu_module).values() if isinstance(value, type) and issubclass(value, Exception)]
        self.assertGreaterEqual(len(found), 21)
        for kind in found:
            self.assertTrue(issubclass(kind, ZeusBaseError))
            self.assertEqual((kind("what").message, str(kind("what"))), ("what", "what"))
        self.assertTrue(issubclass(ZeusInvalidArgumentError, ValueError))

    def test_native_gpus_are_what_users_get(self):
        self.assertTrue(all(isinstance(gpu, NativeGPU) for gpu in get_gpus().gpus))


if __name__ == "__main__":
    unittest.main()
