"""zeus.optimizer.power_limit on virtual GPUs: what it sets, when, and what it does when things go wrong.

  power_limit_test.py BUILD_FOLDER
"""

import contextlib
import csv
import ctypes
import gc
import inspect
import json
import logging
import math
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

from zeus.device import get_gpus
from zeus.device.exception import ZeusBaseGPUError
from zeus.device.gpu import ZeusGPUInvalidArgError
from zeus.monitor import Measurement, ZeusMonitor
from zeus.optimizer.power_limit import (
    ConfidentSlowdownConstraint,
    Done,
    Energy,
    GlobalPowerLimitOptimizer,
    MaxSlowdownConstraint,
    OptimumSelector,
    PowerLimitMeasurement,
    Profiling,
    Ready,
    Time,
    Warmup,
    ZeusCost,
)

from zeus.utils.testing import ReplayZeusMonitor

build = pathlib.Path()
STEP = 0.026  # four of which can be measured


def limits() -> list:
    """Of both GPUs in watts, read through NVML itself."""
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    nvml.nvmlInit_v2()
    found = []
    for index in range(2):
        handle, limit = ctypes.c_void_p(), ctypes.c_uint()
        nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
        nvml.nvmlDeviceGetPowerManagementLimit(handle, ctypes.byref(limit))
        found.append(limit.value / 1000)
    return found


def set_limit(index: int, milliwatts: int) -> None:
    """As an operator would, before any of our code runs."""
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    handle = ctypes.c_void_p()
    nvml.nvmlInit_v2()
    nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
    assert nvml.nvmlDeviceSetPowerManagementLimit(handle, milliwatts) == 0


@contextlib.contextmanager
def standard_error():
    """Yields a function that returns what the process, including its native library, has written there so far."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        former = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield lambda: file.seek(0) or file.read()
        finally:
            os.dup2(former, 2)
            os.close(former)


def measured(*points) -> list:
    return [PowerLimitMeasurement(power_limit=w, energy=j, time=s) for w, j, s in points]


class Selectors(unittest.TestCase):
    POINTS = ((300, 1000, 10.0), (250, 900, 10.0), (200, 750, 10.8), (150, 700, 12.0), (100, 800, 16.0))

    def test_each_chooses_by_its_rule(self):
        points = measured(*self.POINTS)
        self.assertEqual(Energy().select(points), 150)
        self.assertEqual(Time().select(points), 300)
        self.assertEqual(MaxSlowdownConstraint(1.1).select(points), 200)
        self.assertEqual(MaxSlowdownConstraint(1.0).select(points), 250)
        # The lowest of the three fast enough limits; and the one of them with the least energy.
        dear_at_the_end = measured((300, 1000, 10.0), (200, 750, 10.8), (100, 800, 16.0))
        self.assertEqual(MaxSlowdownConstraint(2.0).select(dear_at_the_end), 100)
        self.assertEqual(ConfidentSlowdownConstraint(2.0).select(dear_at_the_end), 200)
        self.assertEqual(ZeusCost(1.0).select(points), 150)
        self.assertEqual(ZeusCost(0.0).select(points), 300)
        self.assertEqual(ZeusCost(0.5).select(points), 250)
        self.assertEqual(ZeusCost(0.8).select(points), 200)
        self.assertEqual(ZeusCost(0.8, world_size=8).select(points), 250)

    def test_what_makes_no_sense_is_refused(self):
        for make in (lambda: ZeusCost(-0.1), lambda: ZeusCost(1.1), lambda: ZeusCost(math.nan), lambda: ZeusCost(0.5, 0),
                     lambda: MaxSlowdownConstraint(0.9), lambda: MaxSlowdownConstraint(math.nan),
                     lambda: ConfidentSlowdownConstraint(0.9), lambda: ConfidentSlowdownConstraint(1.1, confidence=1.0)):
            with self.assertRaises(ValueError):
                make()

    def test_a_measurement_is_of_something(self):
        for values in ((0, 1, 1), (1, 0, 1), (1, 1, -1), (1, math.nan, 1)):
            with self.assertRaises(ValueError):
                measured(values)
        self.assertIsInstance(measured((250.0, 1, 1))[0].power_limit, int)


class Lowest(OptimumSelector):
    """Known in advance, whatever a busy machine does to the measured times."""

    def select(self, measurements):
        return min(each.power_limit for each in measurements)


class OnVirtualGpus(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(self.folder.cleanup)
        self.found = limits()
        self.addCleanup(lambda: self.assertEqual(limits(), self.found, "the limit found was not put back"))
        self.monitor = ZeusMonitor(gpu_indices=[0, 1])

    def optimizer(self, *selector, **more) -> GlobalPowerLimitOptimizer:
        options = dict(warmup_steps=2, profile_steps=4)
        made = GlobalPowerLimitOptimizer(self.monitor, *selector, **{**options, **more})
        self.addCleanup(made.close)
        return made

    def epoch(self, optimizer, steps: int) -> list:
        """States and limits of each step."""
        seen = []
        optimizer.on_epoch_begin()
        for _ in range(steps):
            optimizer.on_step_begin()
            seen.append((optimizer.state.copy(), limits()[0]))
            time.sleep(STEP)
            optimizer.on_step_end()
        optimizer.on_epoch_end()
        return seen

    def test_every_limit_has_its_steps_and_then_the_choice_is_kept(self):
        optimizer = self.optimizer(pl_step=50)
        self.assertEqual(optimizer.power_limits, [250_000, 200_000, 150_000, 100_000])
        self.assertEqual(optimizer.state, Ready(next_power_limit=250_000, steps=2))
        seen = self.epoch(optimizer, 30)
        self.assertEqual(seen[0], (Ready(next_power_limit=250_000, steps=1), 250))
        self.assertEqual(seen[1], (Warmup(current_power_limit=250_000, steps=2), 250))
        self.assertEqual(seen[3], (Profiling(current_power_limit=250_000, steps=4), 250))
        self.assertEqual(seen[7], (Warmup(current_power_limit=200_000, steps=2), 200))
        self.assertIsInstance(optimizer.state, Done)
        chosen = optimizer.state.optimal_power_limit
        self.assertEqual(seen[25:], [(Done(optimal_power_limit=chosen), chosen / 1000)] * 5)
        self.assertEqual([each.power_limit for each in optimizer.measurements], [250, 200, 150, 100])
        self.assertEqual(optimizer.current_power_limit, chosen)
        self.assertEqual(limits(), [chosen / 1000] * 2)
        for each in optimizer.measurements:
            self.assertGreater(each.time, 4 * STEP)
            # Both GPUs draw 180 W, or the limit if that is lower.
            self.assertAlmostEqual(each.energy / each.time, 2 * min(180, each.power_limit), delta=60)

    def test_slices_are_windows_of_the_monitor_that_was_given_and_stand_in_its_log(self):
        log = pathlib.Path(self.folder.name) / "log.csv"
        self.monitor = ZeusMonitor(gpu_indices=[0, 1], log_file=log)
        optimizer = self.optimizer(pl_step=75)
        self.epoch(optimizer, 25)
        with open(log, encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        self.assertEqual([row["window_name"] for row in rows],
                         [f"__GlobalPowerLimitOptimizer_{limit}" for limit in (250, 175, 100)])
        for row, each in zip(rows, optimizer.measurements):
            self.assertEqual(float(row["elapsed_time"]), each.time)
            self.assertAlmostEqual(float(row["gpu0_energy"]) + float(row["gpu1_energy"]), each.energy, places=9)

    def test_a_replayed_monitor_decides_by_what_it_replays(self):
        log = pathlib.Path(self.folder.name) / "log.csv"
        taken = {250: (10.0, 900.0, 1000.0), 175: (11.0, 700.0, 650.5), 100: (30.0, 1200.0, 1100.0)}
        log.write_text("start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy\n" + "".join(
            f"0,__GlobalPowerLimitOptimizer_{w},{s},{a},{b}\n" for w, (s, a, b) in taken.items()))
        self.monitor = ReplayZeusMonitor(gpu_indices=[0, 1], log_file=log, ignore_sync_execution=True)
        optimizer = self.optimizer(Energy(), pl_step=75)
        optimizer.on_epoch_begin()
        for _ in range(25):
            optimizer.on_step_begin()
        self.assertEqual([(each.power_limit, each.time, each.energy) for each in optimizer.measurements],
                         [(w, s, a + b) for w, (s, a, b) in taken.items()])
        self.assertEqual(optimizer.state, Done(optimal_power_limit=175_000))

    def test_what_a_users_monitor_does_to_a_window_is_done(self):
        class Doubting(ZeusMonitor):
            begun: list = []

            def begin_window(self, key, sync_execution=True, restart=False):
                self.begun.append(key)
                super().begin_window(key, sync_execution, restart)

            def end_window(self, key, sync_execution=True, cancel=False):
                measured = super().end_window(key, sync_execution, cancel)
                return Measurement(measured.time, {gpu: 1000.0 * (key[-3:] == "175") + 7 for gpu in measured.gpu_energy})

        self.monitor = Doubting(gpu_indices=[0, 1])
        optimizer = self.optimizer(Energy(), pl_step=75)
        self.epoch(optimizer, 25)
        self.assertEqual([each.energy for each in optimizer.measurements], [14, 2014, 14])
        self.assertEqual(len(Doubting.begun), 3)

    def test_what_a_users_monitor_raises_reaches_the_user(self):
        log = pathlib.Path(self.folder.name) / "log.csv"
        log.write_text("start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy\n0,another,1,2,3\n")
        self.monitor = ReplayZeusMonitor(gpu_indices=[0, 1], log_file=log, ignore_sync_execution=True)
        optimizer = self.optimizer(Energy(), pl_step=75)
        with self.assertRaisesRegex(RuntimeError, "has 'another' next"):
            for _ in range(25):
                optimizer.on_step_begin()

    def test_slices_too_short_to_be_measured_take_more_steps_and_say_so(self):
        optimizer = self.optimizer(Lowest(), pl_step=150, profile_steps=2)
        with standard_error() as said:
            for _ in range(120):
                optimizer.on_step_begin()
                time.sleep(0.005)
                optimizer.on_step_end()
            self.assertEqual(said().count("for more steps than it was given, as less than 0.1 s cannot be measured"), 1)
        # A slice of two steps that a busy machine held up may be long enough.
        self.assertLess(min(each.time for each in optimizer.measurements), 0.1, "as two steps take")
        for each in optimizer.measurements:
            self.assertAlmostEqual(each.energy / each.time, 2 * min(180, each.power_limit), delta=60)
        self.assertEqual(optimizer.state, Done(optimal_power_limit=100_000))

    def test_a_limit_that_an_epochs_end_interrupts_is_tried_again(self):
        optimizer = self.optimizer(pl_step=50)
        self.epoch(optimizer, 10)
        self.assertEqual(optimizer.state, Ready(next_power_limit=200_000, steps=1))
        self.assertEqual(limits(), self.found)
        seen = self.epoch(optimizer, 10)
        self.assertEqual(seen[0], (Warmup(current_power_limit=200_000, steps=2), 200))
        for _ in range(2):
            self.epoch(optimizer, 10)
        self.assertEqual([each.power_limit for each in optimizer.measurements], [250, 200, 150, 100])

    def test_tried_and_chosen_limits_are_logged(self):
        with self.assertLogs("zeus.optimizer.power_limit", "INFO") as told:
            optimizer = self.optimizer(pl_step=75)
            self.epoch(optimizer, 25)
            optimizer.close()
        said = [record.getMessage() for record in told.records]
        self.assertRegex(said[0], r"^power limits of \[250.0, 175.0, 100.0\] W are profiled after \d+ steps$")
        for limit in (250, 175, 100):
            self.assertIn(f"the power limit is set to {limit} W for profiling", said)
            self.assertEqual(sum(line.startswith(f"at {limit} W the steps took ") for line in said), 1, said)
        chosen = optimizer.state.optimal_power_limit // 1000
        self.assertIn(f"the optimal power limit is {chosen} W", said)
        self.assertIn(f"the power limit is set to the optimal one, {chosen} W", said)

    def test_without_epochs_steps_are_enough(self):
        optimizer = self.optimizer(pl_step=75)
        for _ in range(30):
            optimizer.on_step_begin()
            time.sleep(STEP)
        self.assertIsInstance(optimizer.state, Done)

    def test_a_selector_of_the_users_runs_once_after_profiling(self):
        calls = []

        class Own(OptimumSelector):
            def select(self, measurements):
                calls.append([each.power_limit for each in measurements])
                return measurements[0].power_limit

        optimizer = self.optimizer(Own(), pl_step=75)
        self.epoch(optimizer, 25)
        self.assertEqual(len(calls), 1)
        self.assertEqual(calls[0], [each.power_limit for each in optimizer.measurements])
        optimizer.close()
        self.assertEqual(len(calls), 1)

    def test_selectors_choose_among_what_was_measured(self):
        for selector in (Energy(), Time(), ZeusCost(0.3), MaxSlowdownConstraint(factor=1.5),
                         ConfidentSlowdownConstraint(factor=1.5)):
            with self.subTest(type(selector).__name__):
                optimizer = self.optimizer(selector, pl_step=75)
                self.epoch(optimizer, 25)
                points = {each.power_limit: each for each in optimizer.measurements}
                self.assertEqual(sorted(points), [100, 175, 250])
                chosen = optimizer.state.optimal_power_limit // 1000
                if isinstance(selector, ConfidentSlowdownConstraint):
                    self.assertIn(chosen, points)  # which one rests on how a busy machine scatters the slices
                else:
                    self.assertEqual(chosen, selector.select(optimizer.measurements))
                optimizer.close()

    def test_the_default_is_half_energy_and_half_time_of_all_gpus(self):
        optimizer = self.optimizer(pl_step=75)
        self.assertEqual((optimizer.optimum_selector.eta_knob, optimizer.optimum_selector.world_size), (0.5, 2))
        self.epoch(optimizer, 25)
        self.assertEqual(optimizer.state.optimal_power_limit, 1000 * optimizer.optimum_selector.select(optimizer.measurements))

    def test_users_choose_by_their_own_rule(self):
        class Second(OptimumSelector):
            asked = []

            def select(self, measurements):
                self.asked.append([each.power_limit for each in measurements])
                return sorted(measurements, key=lambda each: each.power_limit)[1].power_limit

        optimizer = self.optimizer(Second(), pl_step=75)
        self.epoch(optimizer, 25)
        self.assertEqual(optimizer.state, Done(optimal_power_limit=175_000))
        self.assertEqual(Second.asked[-1], [250, 175, 100])

    def test_a_users_rule_that_fails_ends_the_optimizing_and_not_the_training(self):
        class Broken(OptimumSelector):
            def select(self, measurements):
                raise KeyError("a mistake")

        optimizer = self.optimizer(Broken(), pl_step=75)
        self.epoch(optimizer, 40)
        self.assertIn("a mistake", optimizer.unoptimized)
        self.assertEqual(limits(), self.found)

    def test_profiles_are_written_as_the_interface_has_them_and_used(self):
        path = pathlib.Path(self.folder.name) / "made" / "profile.json"
        optimizer = self.optimizer(Lowest(), pl_step=75, profile_path=path)
        self.epoch(optimizer, 25)
        values = json.loads(path.read_text())
        self.assertEqual(list(values), ["measurements"])
        self.assertEqual([set(each) for each in values["measurements"]], [{"power_limit", "energy", "time"}] * 3)
        self.assertEqual([each["power_limit"] for each in values["measurements"]], [250, 175, 100])
        self.assertTrue(path.read_text().startswith('{\n    "measurements": ['))
        self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o600, 0o600)
        optimizer.close()
        self.assertEqual(limits(), self.found)
        again = self.optimizer(Time(), pl_step=75, profile_path=path)
        fastest = min(values["measurements"], key=lambda each: each["time"])["power_limit"]
        self.assertEqual(again.state, Done(optimal_power_limit=fastest * 1000))
        self.assertEqual(limits(), [fastest] * 2)
        self.assertEqual([each.power_limit for each in again.measurements], [250, 175, 100])
        seen = self.epoch(again, 5)
        self.assertEqual({limit for _, limit in seen}, {fastest})

    def test_an_operators_limit_is_what_is_put_back(self):
        set_limit(0, 220_000)
        self.addCleanup(lambda: set_limit(0, 250_000))
        optimizer = self.optimizer(Lowest(), pl_step=75)
        self.epoch(optimizer, 25)
        self.assertEqual(limits(), [100, 100])
        optimizer.on_train_end()
        self.assertEqual(limits(), [220, 250])

    def test_a_training_that_ends_before_the_choice_says_so(self):
        optimizer = self.optimizer(Lowest(), pl_step=75)
        self.epoch(optimizer, 9)
        with self.assertLogs("zeus.optimizer.power_limit", "WARNING") as said:
            optimizer.on_train_end()
        self.assertRegex(said.output[0], "ended before a power limit was chosen: [01] of 3 were measured")
        self.assertEqual(limits(), self.found)

    def test_training_may_begin_again_after_its_end(self):
        optimizer = self.optimizer(Lowest(), pl_step=75)
        self.epoch(optimizer, 25)
        optimizer.on_train_end()
        self.assertEqual(limits(), self.found)
        optimizer.on_train_begin()
        seen = self.epoch(optimizer, 3)
        self.assertEqual({limit for _, limit in seen}, {100.0})

    def test_observing_sets_limits_in_slices_only_and_says_what_would_have_been(self):
        optimizer = self.optimizer(Lowest(), pl_step=75, observe=True)
        self.epoch(optimizer, 60)
        self.epoch(optimizer, 20)
        self.assertEqual(limits(), self.found)
        self.assertEqual(optimizer.state, Done(optimal_power_limit=100_000))
        prediction = optimizer.result()["prediction"]
        self.assertEqual(prediction["setting"]["limit_w"], 100)
        self.assertGreater(prediction["energy_j"]["value"], 0)

    def test_profiling_may_be_adaptive(self):
        optimizer = self.optimizer(Lowest(), adaptive=True)
        for _ in range(8):
            self.epoch(optimizer, 60)
            if isinstance(optimizer.state, Done):
                break
        self.assertIsInstance(optimizer.state, Done)

    def test_limits_in_watts_that_are_not_whole_are_not_cut(self):
        self.assertEqual(PowerLimitMeasurement(power_limit=310.5, energy=1, time=1).power_limit, 310.5)

    # -- Senseless input, and failures.

    def test_steps_that_make_no_sense_are_refused(self):
        for wrong in (dict(wait_steps=-1), dict(warmup_steps=-1), dict(profile_steps=0), dict(pl_step=0), dict(pl_step=-25)):
            with self.subTest(wrong), self.assertRaises(ValueError):
                self.optimizer(**wrong)

    def test_no_warm_up_is_fine(self):
        optimizer = self.optimizer(Lowest(), wait_steps=0, warmup_steps=0, profile_steps=3, pl_step=75)
        seen = self.epoch(optimizer, 15)
        self.assertEqual(seen[0], (Profiling(current_power_limit=250_000, steps=3), 250))
        self.assertEqual(optimizer.state, Done(optimal_power_limit=100_000))

    def test_a_monitor_without_gpus_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no GPUs"):
            GlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=[]))

    def test_an_unusable_profile_is_reported_and_made_again(self):
        path = pathlib.Path(self.folder.name) / "profile.json"
        for content in ("", "{", "[]", '{"measurements": []}', '{"measurements": [{"power_limit": -1, "energy": 1, "time": 1}]}',
                        '{"measurements": [1]}', '{"measurements": [{"power_limit": 250}]}', "\x00\xff"):
            path.write_text(content, encoding="latin-1")
            with self.subTest(content), self.assertLogs("zeus.optimizer.power_limit", "WARNING") as said:
                self.optimizer(pl_step=75, profile_path=path).close()
            self.assertIn(str(path), said.output[0])

    def test_an_unwritable_profile_is_reported_and_training_continues(self):
        path = pathlib.Path(self.folder.name) / "file" / "profile.json"
        path.parent.write_text("in the way")
        optimizer = self.optimizer(Lowest(), pl_step=75, profile_path=path)
        with self.assertLogs("zeus.optimizer.power_limit", "WARNING") as said:
            self.epoch(optimizer, 25)
        self.assertIn("could not be written", said.output[0])
        self.assertEqual(limits(), [100, 100])

    def test_a_limit_that_cannot_be_measured_is_left_out_and_no_profile_is_written(self):
        begin = ZeusMonitor.begin_window

        def failing(monitor, key, **options):
            if key.endswith("_250"):
                raise RuntimeError("CUDA error")
            begin(monitor, key, **options)

        path = pathlib.Path(self.folder.name) / "profile.json"
        with mock.patch.object(ZeusMonitor, "begin_window", failing), \
                self.assertLogs("zeus.optimizer.power_limit", "WARNING") as said:
            optimizer = self.optimizer(Lowest(), pl_step=75, profile_path=path)
            self.epoch(optimizer, 40)
        self.assertEqual([each.power_limit for each in optimizer.measurements], [175, 100])
        self.assertEqual(optimizer.state, Done(optimal_power_limit=100_000))
        self.assertIn("RuntimeError: CUDA error", said.output[0])
        self.assertRegex(said.output[1], r"leaves out what could not be measured in three tries \(250 W\).*profile is not written")
        self.assertFalse(path.exists())

    def test_what_is_to_end_the_program_while_gpus_are_waited_for_is_raised_and_costs_one_slice(self):
        waits = 0

        def synchronize(index):
            nonlocal waits
            waits += 1
            if waits == ends_at:
                raise error

        cuda = types.SimpleNamespace(is_initialized=lambda: True, device_count=lambda: 2, synchronize=synchronize)
        with mock.patch.dict(sys.modules, torch=types.SimpleNamespace(cuda=cuda, _C=types.SimpleNamespace())):
            for ends_at, error in ((1, SystemExit(7)), (3, KeyboardInterrupt()), (5, SystemExit(7)), (7, KeyboardInterrupt())):
                with self.subTest(ends_at=ends_at):
                    optimizer = self.optimizer(Lowest(), wait_steps=0, warmup_steps=0, pl_step=150)
                    waits = 0
                    with self.assertRaises(type(error)) as raised:
                        self.epoch(optimizer, 12)
                    self.assertIs(raised.exception, error)
                    optimizer.on_epoch_end()
                    for _ in range(3):
                        if not isinstance(optimizer.state, Done):
                            self.epoch(optimizer, 12)
                    self.assertEqual((optimizer.unoptimized, [each.power_limit for each in optimizer.measurements]), ("", [250, 100]))
                    optimizer.close()

    def test_what_is_to_end_the_program_at_the_end_is_raised(self):
        def synchronize(index):
            raise KeyboardInterrupt

        cuda = types.SimpleNamespace(is_initialized=lambda: True, device_count=lambda: 2, synchronize=synchronize)
        optimizer = self.optimizer(Lowest(), pl_step=150)
        optimizer.on_epoch_begin()
        for _ in range(5):
            optimizer.on_step_begin()
        with mock.patch.dict(sys.modules, torch=types.SimpleNamespace(cuda=cuda, _C=types.SimpleNamespace())):
            with self.assertRaises(KeyboardInterrupt):
                optimizer.close()
        optimizer.close()

    def test_an_epoch_shorter_than_a_slice_is_trained_all_the_same(self):
        optimizer = self.optimizer(Lowest(), pl_step=75, warmup_steps=10, profile_steps=40)
        for _ in range(12):
            self.epoch(optimizer, 8)
        self.assertIsInstance(optimizer.state, Done)

    def test_epochs_without_steps_are_fine(self):
        optimizer = self.optimizer(Lowest(), pl_step=75)
        for _ in range(3):
            self.epoch(optimizer, 0)
        for _ in range(2):
            self.epoch(optimizer, 25)
        self.assertEqual(optimizer.state, Done(optimal_power_limit=100_000))

    def test_without_torch_the_data_loader_says_what_it_needs(self):
        with self.assertRaisesRegex(ImportError, "pip install torch"):
            from zeus import ZeusDataLoader  # noqa: F401

    def test_gpus_whose_ranges_differ_are_refused(self):
        done = self.run_virtual("1xV100,1xA100", "GlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=[0, 1]))")
        self.assertIn("ValueError: the GPUs' ranges of power limits differ", done.stderr)

    def test_amds_gpus_are_optimized_too(self):
        done = self.run_virtual("1xV100@amd", LOOP)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("limit 100.0", done.stdout)

    def test_without_permission_training_goes_on_unoptimized(self):
        faults = pathlib.Path(self.folder.name) / "faults"
        faults.write_text("permission\n")
        done = self.run_virtual("1xV100", LOOP, "--faults", str(faults))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"^WARNING:zeus.optimizer.power_limit:the training goes on without being optimized: .*\n$")
        self.assertIn("state next_power_limit=250000", done.stdout)

    def test_trouble_is_on_stderr_if_logging_is_not_set_up(self):
        faults = pathlib.Path(self.folder.name) / "faults"
        faults.write_text("permission\n")
        done = self.run_virtual("1xV100", "logging.getLogger().handlers.clear()\n" + LOOP, "--faults", str(faults))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"^zeus: warning: the training goes on without being optimized: .*\n$")

    # -- Several that set the same GPUs, in one process.

    ALL = [250, 175, 100]

    def done(self, optimizer, steps: int = 30) -> list:
        self.epoch(optimizer, steps)
        self.assertEqual((optimizer.unoptimized, optimizer.state), ("", Done(optimal_power_limit=100_000)))
        return [each.power_limit for each in optimizer.measurements]

    def test_an_optimizer_made_twice_with_the_first_alive(self):
        first = self.optimizer(Lowest(), pl_step=75)
        self.assertEqual(self.done(first), self.ALL)
        second = self.optimizer(Lowest(), pl_step=75)
        self.assertEqual(self.done(second), self.ALL)
        second.close()
        self.assertEqual(limits(), [100, 100], "the first one's choice")
        first.close()
        self.assertEqual(limits(), self.found)

    def test_a_notebooks_cell_that_is_run_again(self):
        # Without cleanups, which keep it alive: the name is rebound when the second one is created.
        for _ in range(3):
            optimizer = GlobalPowerLimitOptimizer(self.monitor, Lowest(), warmup_steps=2, profile_steps=4, pl_step=75)
            self.assertEqual(self.done(optimizer), self.ALL)
            self.assertEqual(limits(), [100, 100])
        optimizer.close()

    def test_an_optimizer_made_again_after_the_first_was_collected(self):
        for _ in range(2):
            optimizer = GlobalPowerLimitOptimizer(self.monitor, Lowest(), warmup_steps=2, profile_steps=4, pl_step=75)
            self.assertEqual(self.done(optimizer), self.ALL)
            del optimizer
            gc.collect()
            self.assertEqual(limits(), self.found)

    def test_folds_each_with_an_optimizer(self):
        folds = [self.optimizer(Lowest(), pl_step=75) for _ in range(3)]
        for fold in folds:
            self.assertEqual(self.done(fold), self.ALL)

    def test_optimizers_whose_epochs_take_turns_all_get_done(self):
        first, second = self.optimizer(Lowest(), pl_step=75), self.optimizer(Lowest(), pl_step=75)
        for _ in range(5):
            self.epoch(first, 8)
            self.epoch(second, 8)
        for each in first, second:
            self.assertEqual(([m.power_limit for m in each.measurements], each.state),
                             (self.ALL, Done(optimal_power_limit=100_000)))

    def setting(self, gpu: int = 0):
        one = get_gpus().gpus[gpu]
        self.addCleanup(one.put_back)
        return one

    def test_settings_before_it_stand_in_nobodys_way_and_come_back(self):
        gpu = self.setting()
        gpu.set_persistence_mode(not gpu.get_persistence_mode())
        gpu.set_power_management_limit(200_000)
        gpu.reset_gpu_locked_clocks()
        optimizer = self.optimizer(Lowest(), pl_step=75)
        self.assertEqual(self.done(optimizer), self.ALL)
        self.assertEqual(limits(), [100, 100])
        optimizer.close()
        self.assertEqual(limits(), [200, 250])
        gpu.put_back()
        self.assertEqual(limits(), self.found)

    def test_a_setting_after_it_holds(self):
        gpu = self.setting()
        optimizer = self.optimizer(Lowest(), pl_step=75)
        self.done(optimizer)
        gpu.set_power_management_limit(150_000)
        self.assertEqual(limits(), [150, 100])
        optimizer.close()
        self.assertEqual(limits(), [150, 250])

    def test_what_it_has_chosen_may_be_set_for_good(self):
        gpu = self.setting()
        optimizer = self.optimizer(Lowest(), pl_step=75)
        self.done(optimizer)
        gpu.set_power_management_limit(100_000)
        optimizer.close()
        self.assertEqual(limits(), [100, 250])

    def test_a_refused_setting_before_it_is_forgotten(self):
        gpu = self.setting()
        with self.assertRaises(ZeusGPUInvalidArgError):
            gpu.set_power_management_limit(999_000)
        self.assertFalse(gpu.is_set, "it would keep other processes from setting")
        self.assertEqual(self.done(self.optimizer(Lowest(), pl_step=75)), self.ALL)

    def test_a_setting_while_it_measures_loses_the_slice_and_says_so(self):
        gpu = self.setting(1)
        optimizer = self.optimizer(Lowest(), pl_step=75)
        optimizer.on_epoch_begin()
        with self.assertLogs("zeus.optimizer.power_limit", "WARNING") as said:
            for step in range(40):
                optimizer.on_step_begin()
                if step == 4:
                    self.assertIsInstance(optimizer.state, Profiling)
                    gpu.set_power_management_limit(120_000)
                time.sleep(STEP)
                optimizer.on_step_end()
        optimizer.on_epoch_end()
        self.assertRegex(said.output[0], r"at 250 W could not be measured.*GPU 1 .* was set to power limit 120 W from elsewhere")
        self.assertEqual([each.power_limit for each in optimizer.measurements], self.ALL)
        self.assertEqual(limits(), [100, 100])
        optimizer.close()
        self.assertEqual(limits(), [250, 120])

    def test_a_launchers_child_optimizes_and_gives_back_what_the_launcher_has_set(self):
        gpu = self.setting()
        gpu.set_power_management_limit(200_000)
        child = subprocess.run([sys.executable, "-c", PREAMBLE + LOOP], capture_output=True, text=True, timeout=60, check=True)
        self.assertIn("limit 100.0", child.stdout)
        self.assertEqual(limits(), [200, 250])

    def test_a_launcher_sets_nothing_while_its_child_does_and_may_leave_it_the_gpu(self):
        script = ("from zeus.device import get_gpus\n"
                  "get_gpus().set_power_management_limit(0, 150_000)\n"
                  "print('set', flush=True)\ninput()\n")
        gpu = self.setting()
        gpu.set_power_management_limit(200_000)
        for putting_back in (False, True):
            child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.assertEqual(child.stdout.readline(), "set\n")
            self.assertEqual(limits(), [150, 250])
            with self.assertRaisesRegex(ZeusBaseGPUError, rf"is set by process {child.pid} .*which this process has started"):
                gpu.set_power_management_limit(180_000)
            if putting_back:
                gpu.put_back()
                self.assertEqual(limits(), [150, 250], "the child keeps its own setting")
            child.communicate("\n")
            self.assertEqual(limits(), [250 if putting_back else 200, 250])

    def test_a_gpu_that_falls_off_the_bus_is_no_reason_to_stop_training(self):
        lost = LOOP.split("print(")[0].replace("    time.sleep", "    if step == 12: lose_gpu(0)\n    time.sleep")
        done = self.run_virtual("1xV100", lost + "print('state', plo.state)")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("state", done.stdout)

    def test_a_process_that_is_killed_leaves_nothing_behind(self):
        script = "import os, signal\n" + LOOP + "\nos.kill(os.getpid(), signal.SIGKILL)\n"
        child = subprocess.run([sys.executable, "-c", PREAMBLE + script], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(child.returncode, -signal.SIGKILL, child.stderr)
        self.assertIn("limit 100.0", child.stdout)
        deadline = time.monotonic() + 60
        while limits() != self.found and time.monotonic() < deadline:
            time.sleep(0.05)

    def test_a_process_that_just_ends_leaves_nothing_behind(self):
        child = subprocess.run([sys.executable, "-c", PREAMBLE + LOOP], capture_output=True, text=True, timeout=60, check=True)
        self.assertIn("limit 100.0", child.stdout)

    def test_forked_workers_set_and_restore_nothing(self):
        optimizer = self.optimizer(Lowest(), pl_step=75)
        self.epoch(optimizer, 25)
        child = os.fork()
        if child == 0:
            optimizer.on_step_begin()
            optimizer.close()
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(limits(), [100, 100])

    def run_virtual(self, spec: str, script: str, *options: str) -> subprocess.CompletedProcess:
        """In a separate session, so that it does not affect the GPUs here."""
        command = [build / "bin" / "zeus", "virtual", spec, "--load", "constant:180W", *options, "--"]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("ZEUS_VIRTUAL")}
        environment["ZEUS_STATE_DIR"] = os.path.join(self.folder.name, "state")
        return subprocess.run([*command, sys.executable, "-c", PREAMBLE + script], capture_output=True, text=True,
                              timeout=120, check=False, env=environment)


class TheHuggingFaceCallback(unittest.TestCase):
    def test_without_transformers_it_says_so(self):
        from zeus.optimizer.power_limit import HFGlobalPowerLimitOptimizer

        with self.assertRaisesRegex(ImportError, "transformers"):
            HFGlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=[0]))

    def test_it_is_made_as_the_optimizer_is(self):
        from zeus.optimizer.power_limit import HFGlobalPowerLimitOptimizer

        self.assertEqual(inspect.signature(HFGlobalPowerLimitOptimizer.__init__), inspect.signature(GlobalPowerLimitOptimizer.__init__))


PREAMBLE = """
import logging, sys, time
logging.basicConfig(level=logging.WARNING)
from zeus.device import get_gpus
from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import GlobalPowerLimitOptimizer, OptimumSelector

class Lowest(OptimumSelector):
    def select(self, measurements):
        return min(each.power_limit for each in measurements)

def lose_gpu(gpu):
    import ctypes
    assert ctypes.CDLL("libnvidia-ml.so.1").zeus_virtual_add_fault(f"lost gpu={gpu}".encode()) == 0
"""

LOOP = """
plo = GlobalPowerLimitOptimizer(ZeusMonitor(), Lowest(), warmup_steps=2, profile_steps=4, pl_step=75)
plo.on_epoch_begin()
for step in range(40):
    plo.on_step_begin()
    time.sleep(0.026)
    plo.on_step_end()
print("state", plo.state)
print("limit", get_gpus().get_power_management_limit(0) / 1000, flush=True)
"""

if __name__ == "__main__":
    # Records of virtual GPUs are private to this test.
    os.environ["ZEUS_STATE_DIR"] = tempfile.mkdtemp()
    build = pathlib.Path(os.path.abspath(sys.argv.pop(1)))
    logging.getLogger("zeus").setLevel(logging.WARNING)
    unittest.main()
