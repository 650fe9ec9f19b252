"""ZeusMonitor on two virtual V100s that draw 180 W each."""

import asyncio
import contextlib
import copy
import csv
import dataclasses
import json
import math
import multiprocessing
import pathlib
import pickle
import pickletools
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock
import warnings

from zeus.device.gpu import ZeusGPULostError
from zeus.exception import ZeusBaseError
from zeus.monitor import Measurement, ZeusMonitor
from zeus.monitor import energy as energy_module
from zeus.utils import framework

WATTS = 180.0


def monitor(**options) -> ZeusMonitor:
    """None of these tests has a framework to wait for."""
    made = ZeusMonitor(**options)
    begin, end = made.begin_window, made.end_window
    made.begin_window = lambda key, sync_execution=False, restart=False: begin(key, sync_execution, restart)
    made.end_window = lambda key, sync_execution=False, cancel=False: end(key, sync_execution, cancel)
    return made


def expect_energy_of(test: unittest.TestCase, detail, seconds: float):
    """The true energy is within four times the half-width, which includes the delays of a busy machine; the interval itself
    covers 95 of 100, which tests on virtual clocks check (src/measure)."""
    test.assertAlmostEqual(detail.value, WATTS * seconds, delta=4 * detail.uncertainty + 0.05)


class Energies(unittest.TestCase):
    def expect_energy(self, measurement: Measurement, gpus=(0, 1)):
        self.assertEqual(tuple(measurement.gpu_energy), gpus)
        for gpu, energy in measurement.gpu_energy.items():
            detail = measurement.details.gpu[gpu]
            self.assertEqual(detail.value, energy)
            expect_energy_of(self, detail, measurement.time)

    def test_nested_and_overlapping_windows_each_have_their_own_energy(self):
        m = monitor()
        m.begin_window("all")
        m.begin_window("first")
        time.sleep(0.1)
        m.begin_window("second")
        time.sleep(0.1)
        first = m.end_window("first")
        time.sleep(0.1)
        second, whole = m.end_window("second"), m.end_window("all")
        for measurement, least in ((first, 0.2), (second, 0.2), (whole, 0.3)):
            self.expect_energy(m.settle(measurement))
            self.assertGreaterEqual(measurement.time, least)
        self.assertEqual(whole.total_energy, sum(whole.gpu_energy.values()))

    def test_only_the_gpus_asked_for_are_measured(self):
        m = monitor(gpu_indices=[1])
        m.begin_window("one")
        time.sleep(0.1)
        self.expect_energy(m.settle(m.end_window("one")), (1,))
        self.assertEqual(m.gpu_indices, [1])
        none = monitor(gpu_indices=[], cpu_indices=[])
        none.begin_window("nothing")
        nothing = none.end_window("nothing")
        self.assertEqual((nothing.gpu_energy, nothing.cpu_energy, nothing.total_energy), ({}, None, 0))
        with self.assertRaisesRegex(ValueError, "there is no GPU 7.*choose from 0 to 1"):
            ZeusMonitor(gpu_indices=[7])

    def test_a_window_too_short_for_a_counter_is_approximated_where_that_is_asked_for(self):
        approximate = monitor(approx_instant_energy=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(20):
                approximate.begin_window("tiny")
                tiny = approximate.end_window("tiny")
                for energy in tiny.gpu_energy.values():
                    self.assertAlmostEqual(energy, WATTS * tiny.time, delta=2.0)

    def test_a_lost_gpu_is_not_approximated_and_the_others_are(self):
        m = monitor(approx_instant_energy=True)

        def power(index: int) -> int:
            if index == 0:
                raise ZeusGPULostError("it has fallen off the bus")
            return 180_000

        m.begin_window("tiny")
        with unittest.mock.patch.object(energy_module, "measurement_of", return_value=Measurement(0.001, {0: math.nan, 1: 0.0})), \
                unittest.mock.patch.object(m.gpus, "get_instant_power_usage", power), \
                warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tiny = m.end_window("tiny")
        self.assertTrue(math.isnan(tiny.gpu_energy[0]))
        self.assertEqual(tiny.gpu_energy[1], 180.0 * 0.001)
        self.assertEqual(["GPU 0 " in str(each.message) and "is unknown" in str(each.message) for each in caught], [True])

    def test_settling_waits_for_the_counters(self):
        m = monitor()
        m.begin_window("short")
        time.sleep(0.05)
        at_once = m.end_window("short")
        settled = m.settle(at_once)
        self.assertTrue(settled.details.settled)
        self.assertEqual(settled.time, at_once.time)
        self.expect_energy(settled)

    def test_an_open_window_has_an_estimate_so_far_and_goes_on(self):
        m = monitor()
        m.begin_window("epoch")
        looks = []
        for _ in range(3):
            time.sleep(0.1)
            looks.append(m.so_far("epoch"))
        whole = m.end_window("epoch")
        for look, least in zip(looks, (0.1, 0.2, 0.3)):
            self.expect_energy(look)
            settled = m.settle(look)
            self.expect_energy(settled)
            self.assertEqual((settled.details.settled, settled.time), (True, look.time))
            self.assertGreaterEqual(look.time, least)
            self.assertEqual(look.details.start, whole.details.start)
        self.assertGreaterEqual(whole.time, looks[-1].time)
        self.expect_energy(m.settle(whole))
        with self.assertRaisesRegex(ValueError, "'epoch' does not exist"):
            m.so_far("epoch")

    def test_a_look_at_an_open_window_neither_logs_nor_warns_nor_waits_for_the_framework(self):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("error")
            log = pathlib.Path(folder) / "log.csv"
            m = ZeusMonitor(log_file=log, sync_execution_with="no such framework")
            m.begin_window("epoch", sync_execution=False)
            at_once = m.so_far("epoch")
            self.assertTrue(all(not math.isnan(energy) or at_once.details.gpu[gpu].reason
                                for gpu, energy in at_once.gpu_energy.items()))
            self.assertEqual(len(log.read_text().splitlines()), 1)
            self.assertEqual(list(m.measurement_states), ["epoch"])
            m.reset_windows()

    def test_an_energy_is_printed_with_its_interval(self):
        m = monitor()
        m.begin_window("x")
        detail = dataclasses.replace(m.end_window("x").details.total, value=63.04, uncertainty=0.41)
        self.assertEqual(f"{detail}", "63.04 ± 0.41 J")
        self.assertEqual(str(dataclasses.replace(detail, value=534001.2, uncertainty=1.3)), "534,001.2 ± 1.3 J")
        unknown = dataclasses.replace(detail, value=None, uncertainty=None, reason="the GPU is lost")
        self.assertEqual(str(unknown), "unknown (the GPU is lost)")

    def test_a_measurement_is_a_plain_value(self):
        m = monitor()
        m.begin_window("plain")
        time.sleep(0.05)
        measurement = m.end_window("plain")
        same = Measurement(measurement.time, dict(measurement.gpu_energy), measurement.cpu_energy)
        self.assertEqual(measurement, same)
        self.assertIsNone(same.details)
        self.assertEqual(repr(measurement), repr(same))
        self.assertEqual(list(dataclasses.asdict(measurement)),
                         ["time", "gpu_energy", "cpu_energy", "dram_energy", "soc_energy"])
        for twin in (pickle.loads(pickle.dumps(measurement)), copy.deepcopy(measurement)):
            self.assertEqual(twin, measurement)
            self.assertEqual(twin.details, measurement.details)
            self.assertEqual(m.settle(twin), twin)


class Misuse(unittest.TestCase):
    def test_names_are_taken_while_they_are_open(self):
        m = monitor()
        m.begin_window("one")
        self.assertEqual(list(m.measurement_states), ["one"])
        self.assertAlmostEqual(m.measurement_states["one"].time, time.time(), delta=5)
        with self.assertRaisesRegex(ValueError, "already exists"):
            m.begin_window("one")
        with self.assertRaisesRegex(ValueError, "does not exist"):
            m.end_window("another")
        restarted = time.monotonic()
        m.begin_window("one", restart=True)
        self.assertGreaterEqual(m.end_window("one").details.start, restarted)
        m.begin_window("new", restart=True)
        m.reset_windows()
        self.assertEqual(m.measurement_states, {})
        with self.assertRaisesRegex(ValueError, "does not exist"):
            m.end_window("new")

    def test_cancelling_measures_and_logs_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "deep" / "log.csv"
            m = monitor(log_file=log)
            m.begin_window("cancelled")
            measurement = m.end_window("cancelled", cancel=True)
            self.assertEqual((measurement.time, measurement.gpu_energy), (0.0, {0: 0.0, 1: 0.0}))
            self.assertEqual(log.read_text(), "start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy\n")

    def test_an_unwritable_log_is_an_os_error_that_says_so(self):
        for path in ("/proc/nowhere/log.csv", tempfile.gettempdir(), "null\0character"):
            with self.subTest(path=path), self.assertRaisesRegex(OSError, "cannot write the log"):
                ZeusMonitor(log_file=path)

    def test_a_gpu_that_is_not_there_is_an_index_error(self):
        for index in (9, -1):
            with self.subTest(index=index), self.assertRaisesRegex(IndexError, f"there is no GPU {index}; choose from 0 to 1"):
                ZeusMonitor(gpu_indices=[index])

    def test_an_unwritable_log_says_so(self):
        with self.assertRaisesRegex(ZeusBaseError, "cannot write the log /proc/nowhere/log.csv"):
            ZeusMonitor(log_file="/proc/nowhere/log.csv")


class OrdinaryCode(unittest.TestCase):
    """Other things that scripts do with windows and measurements."""

    def test_a_window_of_no_time_is_zero_and_not_unknown(self):
        code = ("import json, warnings\nwarnings.simplefilter('ignore')\nfrom zeus.monitor import ZeusMonitor\n"
                "m = ZeusMonitor()\nm.begin_window('w', sync_execution=False)\nw = m.end_window('w', sync_execution=False)\n"
                "print(json.dumps([w.time, w.total_energy, [each.uncertainty for each in w.details.gpu.values()]]))")
        for _ in range(5):  # the first window of a process, before any reading
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            seconds, total, half_widths = json.loads(done.stdout)
            for half_width in half_widths:
                self.assertLessEqual(abs(total / 2 - WATTS * seconds), max(4 * half_width, 1e-9))

    def test_a_log_is_a_path_that_may_be_flushed_and_closed_like_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "log.csv"
            m = monitor(log_file=path)
            m.begin_window("a")
            m.end_window("a")
            m.log_file.flush()
            self.assertEqual(len(path.read_text().splitlines()), 2)
            m.log_file.close()
            self.assertEqual(m.log_file, str(path))

    def test_the_gpus_of_a_monitor_are_fixed_and_counted_from_zero(self):
        m = monitor()
        with self.assertRaisesRegex(AttributeError, r"make another one, ZeusMonitor\(gpu_indices=\[1\]\)"):
            m.gpu_indices = [1]
        with self.assertRaisesRegex(IndexError, "there is no GPU -1.*choose from 0 to 1"):
            ZeusMonitor(gpu_indices=[-1])

    def test_a_name_may_be_anything_that_a_dictionary_takes(self):
        with tempfile.TemporaryDirectory() as folder:
            log = f"{folder}/new/log.csv"
            m = monitor(log_file=log)
            names = [3, "3", (1, 2), None, 1.5, "", "two\nlines"]
            for name in names:
                m.begin_window(name)
            self.assertEqual(list(m.measurement_states), names)
            for name in names:
                self.assertGreater(m.end_window(name).time, 0)
            with open(log, newline="") as lines:
                logged = [row["window_name"] for row in csv.DictReader(lines)]
        self.assertEqual(logged, ["3", "3'", "(1, 2)", "None", "1.5", "", "two\nlines"])
        with self.assertRaises(TypeError):
            m.begin_window(["a list"])

    def test_a_measurement_is_its_variables(self):
        m = monitor()
        m.begin_window("a")
        time.sleep(0.1)
        measurement = m.end_window("a")
        plain = {"time": measurement.time, "gpu_energy": measurement.gpu_energy, "cpu_energy": measurement.cpu_energy,
                 "dram_energy": measurement.dram_energy, "soc_energy": None}
        self.assertEqual(vars(measurement), plain)
        self.assertIsNotNone(measurement.details)
        self.assertEqual(vars(measurement), plain, "details are not among them")
        self.assertEqual(json.loads(json.dumps(vars(measurement)))["time"], measurement.time)

    def test_pickles_hold_nothing_that_the_existing_package_lacks(self):
        m = monitor()
        m.begin_window("a")
        time.sleep(0.1)
        measurement = m.end_window("a")
        named = {argument for opcode, argument, _ in pickletools.genops(pickle.dumps(measurement, protocol=2))
                 if opcode.name == "GLOBAL"}
        self.assertEqual(named - {"copyreg __newobj__"}, {"zeus.monitor.energy Measurement"})
        # The existing package's pickle: the class and its fields.
        theirs = pickle.loads(pickle.dumps(Measurement(1.0, {0: 2.0})))
        theirs.__setstate__({"time": 3.0, "gpu_energy": {0: 4.0}, "cpu_energy": None, "dram_energy": None, "soc_energy": None})
        self.assertEqual(theirs, Measurement(3.0, {0: 4.0}))
        self.assertIsNone(theirs.details)

    def test_energies_are_in_the_order_of_the_gpus_asked_for(self):
        m = monitor(gpu_indices=[1, 0])
        m.begin_window("a")
        time.sleep(0.1)
        measurement = m.end_window("a")
        self.assertEqual(list(measurement.gpu_energy), [1, 0])
        self.assertEqual(list(m.settle(measurement).gpu_energy), [1, 0])

    def test_a_window_that_is_taken_out_of_the_states_is_dropped(self):
        m = monitor()
        for name in ("a", "b", "c", "d"):
            m.begin_window(name)
        states = m.measurement_states
        self.assertTrue(math.isnan(states["a"].gpu_energy[0]), "not known, and there")
        self.assertTrue(math.isnan(states["a"].total_energy))
        states.pop("a")
        del states["b"]
        self.assertEqual(states.popitem()[0], "d")
        self.assertEqual(states.pop("z", None), None)
        self.assertEqual(list(m.measurement_states), ["c"])
        states.clear()
        for name in ("a", "b", "c", "d"):
            with self.assertRaisesRegex(ValueError, "does not exist"):
                m.end_window(name)
            m.begin_window(name)
        self.assertEqual(list(states), ["a", "b", "c", "d"])
        states["put in by hand"] = states["a"]
        states.clear()
        self.assertEqual(states, {})


class Log(unittest.TestCase):
    def test_each_window_is_a_line_that_existing_readers_understand(self):
        with tempfile.TemporaryDirectory() as folder:
            plain, complete = pathlib.Path(folder) / "log.csv", pathlib.Path(folder) / "complete.csv"
            m = monitor(log_file=plain, complete_log_file=complete)
            before = time.time()
            measured = []
            for name in ("inner", "a, \"quoted\" one"):
                m.begin_window(name)
                time.sleep(0.03)
                measured.append((name, m.end_window(name)))
            with open(plain, newline="") as lines:
                rows = list(csv.DictReader(lines))
            self.assertEqual([row["window_name"] for row in rows], [name for name, _ in measured])
            for row, (_, measurement) in zip(rows, measured):
                self.assertAlmostEqual(float(row["start_time"]), before, delta=5)
                self.assertEqual(float(row["elapsed_time"]), measurement.time)
                self.assertEqual([float(row[f"gpu{gpu}_energy"]) for gpu in (0, 1)], list(measurement.gpu_energy.values()))
            with open(complete, newline="") as lines:
                self.assertEqual(next(csv.DictReader(lines))["gpu0_method"], "counter")


    def test_begins_and_ends_are_logged(self):
        with tempfile.TemporaryDirectory() as folder, self.assertLogs("zeus.monitor.energy", "DEBUG") as told:
            m = monitor(gpu_indices=[1], log_file=f"{folder}/log.csv")
            m.begin_window("a")
            m.begin_window("a", restart=True)
            m.end_window("a")
            m.begin_window("b")
            m.end_window("b", cancel=True)
            m.begin_window("c")
            m.reset_windows()
        self.assertEqual([(record.levelname, record.getMessage()) for record in told.records], [
            ("INFO", "measuring GPUs [1] and CPU packages []"), ("INFO", f"each window becomes a line of {folder}/log.csv"),
            ("DEBUG", "window 'a' began"), ("INFO", "window 'a' is restarted"), ("DEBUG", "window 'a' began"),
            ("DEBUG", "window 'a' ended"), ("DEBUG", "window 'b' began"), ("DEBUG", "window 'b' was cancelled"),
            ("DEBUG", "window 'c' began"), ("INFO", "dropping the open windows ['c']")])


class Blocks(unittest.TestCase):
    def test_a_block_is_a_window(self):
        m = monitor()
        with m.window("block", sync_execution=False) as block:
            self.assertEqual(list(m.measurement_states), ["block"])
            time.sleep(0.05)
        self.assertGreaterEqual(block.measurement.time, 0.05)
        with self.assertRaises(ZeroDivisionError):
            with m.window("raises", sync_execution=False) as raises:
                1 / 0
        self.assertIsNone(raises.measurement)
        self.assertEqual(m.measurement_states, {})

    def test_a_block_that_drops_its_window_raises_its_own_error(self):
        m = monitor()
        with self.assertRaisesRegex(KeyError, "its own"):
            with m.window("dropped", sync_execution=False):
                m.reset_windows()
                raise KeyError("its own")

    def test_each_call_of_a_decorated_function_is_a_window(self):
        m = monitor()
        seen = []

        @m.window("step", sync_execution=False, on_measurement=seen.append)
        def step(seconds: float) -> float:
            time.sleep(seconds)
            return seconds

        self.assertEqual([step(0.01), step(0.03)], [0.01, 0.03])
        self.assertEqual(step.__name__, "step")
        self.assertEqual([measurement.time >= least for measurement, least in zip(seen, (0.01, 0.03))], [True, True])

    def test_a_decorated_coroutine_is_measured_to_its_end(self):
        m = monitor()
        seen = []

        @m.window("task", sync_execution=False, on_measurement=seen.append)
        async def task() -> str:
            await asyncio.sleep(0.05)
            return "done"

        self.assertEqual(asyncio.run(task()), "done")
        self.assertGreaterEqual(seen[0].time, 0.05)


class FakeTorch(types.ModuleType):
    """The parts of PyTorch that waiting windows use; each wait calls `work`."""

    def __init__(self, gpus: int, work=lambda: None):
        super().__init__("torch")
        self.waited = []

        def synchronize(index):
            self.waited.append(index)
            work()

        self.cuda = types.SimpleNamespace(is_initialized=lambda: gpus > 0, is_available=lambda: gpus > 0,
                                          device_count=lambda: gpus, synchronize=synchronize)
        self._C = types.SimpleNamespace(_cuda_hasPrimaryContext=lambda index: index != 2)


@contextlib.contextmanager
def torch_is(module):
    former = sys.modules.get("torch")
    sys.modules["torch"] = module
    framework._WARNED.clear()
    try:
        yield module
    finally:
        del sys.modules["torch"]
        if former is not None:
            sys.modules["torch"] = former


class Synchronization(unittest.TestCase):
    def test_each_edge_waits_for_each_gpu_in_use(self):
        m = ZeusMonitor()
        with torch_is(FakeTorch(gpus=4)) as torch:
            m.begin_window("waits")
            self.assertEqual(torch.waited, [0, 1])
            m.end_window("waits")
            self.assertEqual(torch.waited, [0, 1, 0, 1])
            m.begin_window("does not", sync_execution=False)
            m.end_window("does not", sync_execution=False)
            m.begin_window("cancelled")
            m.end_window("cancelled", cancel=True)
            self.assertEqual(len(torch.waited), 8)
            framework.sync_execution([2, 3, 9])
            self.assertEqual(torch.waited[8:], [3])

    def test_jax_is_waited_for_on_its_gpus_and_on_the_cpu(self):
        waited = []

        class Submitted:
            def __init__(self, where):
                self.where = where

            def __add__(self, _):
                return self

            def block_until_ready(self):
                waited.append(self.where)

        def local_devices(backend):
            if backend == "gpu" and not gpus:
                raise RuntimeError("no such backend")
            return [types.SimpleNamespace(local_hardware_id=index, name=f"gpu{index}") for index in gpus] if backend == "gpu" else \
                [types.SimpleNamespace(name="cpu")]

        jax = types.SimpleNamespace(local_devices=local_devices, device_put=lambda value, device: Submitted(device.name))
        framework._WARNED.clear()
        for gpus, expected in (([0, 1, 2], ["gpu0", "gpu1", "cpu"]), ([], ["cpu"])):
            waited.clear()
            with unittest.mock.patch.dict(sys.modules, jax=jax), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                framework.sync_execution([0, 1], "jax")
            self.assertEqual((waited, len(caught)), (expected, 0 if gpus else 1))

    def test_what_ran_before_the_edge_is_left_out(self):
        m = ZeusMonitor(gpu_indices=[0])
        ended = []
        with torch_is(FakeTorch(gpus=2, work=lambda: ended.append(time.monotonic()))):
            m.begin_window("after")
            measured = m.end_window("after", sync_execution=False)
        self.assertGreaterEqual(measured.details.start, ended[-1])

    def test_other_threads_run_while_one_waits(self):
        m = ZeusMonitor(gpu_indices=[0])
        begun, over = threading.Event(), threading.Event()
        in_time = []

        def work():
            begun.set()
            in_time.append(over.wait(60))

        with torch_is(FakeTorch(gpus=1, work=work)):
            waiting = threading.Thread(target=m.begin_window, args=("slow",))
            waiting.start()
            self.assertTrue(begun.wait(60))
            m.begin_window("fast", sync_execution=False)
            m.end_window("fast", sync_execution=False)
            over.set()
            waiting.join()
            m.reset_windows()
        self.assertEqual(in_time, [True])

    def test_a_failing_wait_is_raised_and_opens_nothing(self):
        m = ZeusMonitor()
        with torch_is(FakeTorch(gpus=2)) as torch:
            torch.cuda.synchronize = lambda index: 1 / 0
            with self.assertRaises(ZeroDivisionError):
                m.begin_window("never")
        self.assertEqual(m.measurement_states, {})
        m.begin_window("never", sync_execution=False)

    def test_a_window_whose_last_wait_fails_or_is_interrupted_is_dropped(self):
        m = ZeusMonitor()
        for error in (RuntimeError("CUDA error"), KeyboardInterrupt()):
            for cancel in (False, True):
                with self.subTest(error=error, cancel=cancel), torch_is(FakeTorch(gpus=2)) as torch:
                    m.begin_window("step")
                    torch.cuda.synchronize = unittest.mock.Mock(side_effect=error)
                    with self.assertRaises(type(error)):
                        m.end_window("step", cancel=cancel)
                    self.assertEqual(m.measurement_states, {})
                    with self.assertRaisesRegex(ValueError, "does not exist"):
                        m.end_window("step", sync_execution=False)

    def test_without_a_gpu_there_is_one_warning_and_no_error(self):
        m = ZeusMonitor()
        with torch_is(FakeTorch(gpus=0)), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                m.begin_window("cpu")
                time.sleep(0.05)
                m.end_window("cpu")
        self.assertEqual(["torch has no GPU" in str(each.message) for each in caught], [True])

    def test_an_unknown_framework_is_refused(self):
        with self.assertRaisesRegex(RuntimeError, "No framework is available"):
            ZeusMonitor(sync_execution_with="caffe").begin_window("x")


def in_child(m: ZeusMonitor, queue) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lost = m.end_window("open at the fork")
    m.begin_window("of the child")
    time.sleep(0.1)
    own = m.settle(m.end_window("of the child"))
    queue.put((lost, [str(each.message) for each in caught], own))


class Processes(unittest.TestCase):
    def test_a_window_open_at_a_fork_is_unknown_in_the_child_and_new_ones_work(self):
        m = monitor()
        m.begin_window("open at the fork")
        forking = multiprocessing.get_context("fork")
        queue = forking.Queue()
        child = forking.Process(target=in_child, args=(m, queue))
        child.start()
        lost, said, own = queue.get(timeout=60)
        child.join()
        self.assertEqual([math.isnan(energy) for energy in lost.gpu_energy.values()], [True, True])
        self.assertTrue(math.isnan(lost.total_energy))
        self.assertIn("forked", lost.details.gpu[0].reason)
        self.assertEqual(["is unknown: the process was forked" in text for text in said], [True, True])
        expect_energy_of(self, own.details.gpu[0], own.time)
        parents = m.end_window("open at the fork")
        self.assertFalse(math.isnan(parents.total_energy))

    def test_threads_that_measure_at_the_end_of_a_script_leave_its_exit_code_alone(self):
        """Python ends without daemon threads: what asks for its lock afterwards is in our code."""
        script = ("import threading, time\n"
                  "from zeus.monitor import ZeusMonitor\n"
                  "monitor = ZeusMonitor(gpu_indices=[0])\n"
                  "def measure(name, wait):\n"
                  "    while True:\n"
                  "        monitor.begin_window(name, sync_execution=wait)\n"
                  "        monitor.end_window(name, sync_execution=wait)\n"
                  "for name, wait in (('a', False), ('b', False), ('c', True), ('d', True)):\n"
                  "    threading.Thread(target=measure, args=(name, wait), daemon=True).start()\n"
                  "time.sleep(0.2)\n")
        for _ in range(2):
            done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_many_threads_measure_at_once(self):
        m = monitor()
        failures = []

        def work(number: int):
            try:
                for step in range(200):
                    m.begin_window(f"{number}.{step}")
                    m.end_window(f"{number}.{step}", cancel=step % 2 == 0)
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some windows are too short for an energy
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(m.measurement_states, {})


if __name__ == "__main__":
    unittest.main()
