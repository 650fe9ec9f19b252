"""PowerMonitor, TemperatureMonitor and the command line, on two virtual H100s whose power steps every 0.4 s."""

import contextlib
import datetime
import io
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
import warnings

from zeus.monitor import PowerMonitor, TemperatureMonitor, ZeusMonitor
from zeus.monitor.power import PowerDomain, infer_counter_update_period
from zeus.monitor.timeline import Run, Timeline

LOW, HIGH, PERIOD = 80.0, 300.0, 0.8


def wait_until(condition) -> None:
    """As long as this machine needs; a minute is too long for any machine."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "nothing came of it within a minute"
        time.sleep(0.01)


class Recorded(Timeline):
    """A timeline of given runs."""

    def __init__(self, *runs: tuple[float, float, float], period: float = 0.1):
        self._period = period
        self._runs = [Run(*run) for run in runs]

    def runs(self, gpu, since=None):
        return [run for run in self._runs if since is None or run.last >= since]


class Integrals(unittest.TestCase):
    def test_a_steady_power_counts_for_as_long_as_it_was_seen(self):
        steady = Recorded((0.0, 20.0, 100.0))
        self.assertEqual(steady.integral(0, 5.0, 15.0), (1000.0, 0.0))

    def test_steps_count_from_edge_to_edge(self):
        steps = Recorded((0.0, 10.0, 100.0), (10.1, 20.1, 300.0))
        energy, unwatched = steps.integral(0, 0.0, 20.1)
        self.assertAlmostEqual(energy, 1000 + 200 * 0.1 + 3000)
        self.assertEqual(unwatched, 0.0)
        self.assertAlmostEqual(steps.integral(0, 9.0, 10.05)[0], 100 + 0.05 * 150)

    def test_unwatched_time_is_left_out_and_reported(self):
        short = Recorded((10.0, 12.0, 50.0))
        energy, unwatched = short.integral(0, 0.0, 20.0)
        self.assertAlmostEqual(energy, 50 * 2.4)
        self.assertAlmostEqual(unwatched, 20 - 2.4)
        self.assertEqual(short.integral(0, 30.0, 40.0), (0.0, 10.0))
        self.assertEqual(Recorded().integral(0, 0.0, 1.0), (0.0, 1.0))
        self.assertEqual(short.integral(0, 11.0, 11.0), (0.0, 0.0))

    def test_the_value_at_a_time_is_the_nearest(self):
        line = Recorded((0.0, 1.0, 5.0), (2.0, 3.0, 7.0))
        values = [(None, 7.0), (-1.0, 5.0), (0.5, 5.0), (1.4, 5.0), (1.5, 5.0), (1.6, 7.0), (2.5, 7.0), (9.0, 7.0)]
        self.assertEqual([(at, line.value_at(0, at)) for at, _ in values], values)
        self.assertIsNone(Recorded().value_at(0, 1.0))

    def test_points_are_the_ends_of_runs_within_the_bounds(self):
        line = Recorded((0.0, 1.0, 5.0), (2.0, 2.0, 7.0))
        self.assertEqual(line.points(0, None, None), [(0.0, 5.0), (1.0, 5.0), (2.0, 7.0)])
        self.assertEqual(line.points(0, 0.5, 1.5), [(1.0, 5.0)])


class Power(unittest.TestCase):
    def test_energy_of_power_is_that_of_the_counter(self):
        windows = ZeusMonitor()
        with PowerMonitor(update_period=0.01, power_domains=["device_instant"]) as monitor:
            wait_until(lambda: len(monitor.get_power() or {}) == 2)
            windows.begin_window("both", sync_execution=False)
            # Whole periods, so that it does not matter how late the sensor shows an edge.
            time.sleep(3 * PERIOD)
            measured = windows.settle(windows.end_window("both", sync_execution=False))
            began = measured.details.start_wall
            energies = monitor.get_energy(began, began + measured.time)
        for gpu, energy in energies.items():
            # The sensor is read every 10 ms. On a busy machine it is read late, so that an edge lies between two distant
            # readings, or a value seems to last for longer than half a period.
            points = monitor.get_power_timeline("device_instant")[gpu]
            unseen = sum(max(0.0, to - at - (PERIOD / 2 if power == next_power else 0.0))
                         for (at, power), (to, next_power) in zip(points, points[1:]))
            self.assertAlmostEqual(energy, measured.gpu_energy[gpu], delta=0.05 * energy + (HIGH - LOW) * unseen)

    def test_the_timeline_shows_the_steps(self):
        began = time.time()
        with PowerMonitor([0], update_period=0.01, power_domains=[PowerDomain.DEVICE_INSTANT]) as monitor:
            def powers_seen() -> list[float]:
                return [power for _, power in monitor.get_power_timeline("device_instant").get(0, [])] or [0.0]

            wait_until(lambda: max(powers_seen()) > HIGH - 2 and min(powers_seen()) < LOW + 2)
        ended = time.time()
        timeline = monitor.get_power_timeline(PowerDomain.DEVICE_INSTANT)
        self.assertEqual(timeline, monitor.get_power_timeline("device_instant"))
        samples = monitor.samples[PowerDomain.DEVICE_INSTANT][0]
        self.assertEqual([(sample.timestamp, sample.gpu_index, sample.power_mw) for sample in samples],
                         [(at, 0, 1000 * power) for at, power in timeline[0]])
        with self.assertRaisesRegex(ValueError, "'device_instnat' is not a power domain; the domains are: device_instant, "):
            monitor.get_power_timeline("device_instnat")
        self.assertEqual(list(timeline), [0])
        times, powers = zip(*timeline[0])
        self.assertEqual(sorted(times), list(times))
        self.assertGreaterEqual(times[0], began)
        self.assertLessEqual(times[-1], ended)
        self.assertAlmostEqual(min(powers), LOW, delta=2)
        self.assertAlmostEqual(max(powers), HIGH, delta=2)
        self.assertEqual(monitor.get_all_power_timelines(gpu_index=0), {"device_instant": timeline})
        self.assertEqual(monitor.get_power_timeline(PowerDomain.DEVICE_INSTANT, gpu_index=1), {})
        middle = times[len(times) // 2]
        clipped = monitor.get_power_timeline(PowerDomain.DEVICE_INSTANT, start_time=middle)[0]
        self.assertEqual(clipped, [point for point in timeline[0] if point[0] >= middle])

    def test_what_was_read_stays_after_the_end_and_no_more_comes(self):
        monitor = PowerMonitor(update_period=0.01)
        wait_until(lambda: all(points for by_gpu in monitor.get_all_power_timelines().values() for points in by_gpu.values()))
        monitor.stop()
        monitor.stop()
        kept = monitor.get_all_power_timelines()
        self.assertTrue(all(points for by_gpu in kept.values() for points in by_gpu.values()))
        time.sleep(0.1)  # ten readings' worth
        self.assertEqual(monitor.get_all_power_timelines(), kept)

    def test_only_so_many_samples_are_kept(self):
        with PowerMonitor([0], update_period=0.005, max_samples_per_gpu=3, power_domains=["device_instant"]) as monitor:
            def points_kept() -> list[tuple[float, float]]:
                return monitor.get_power_timeline(PowerDomain.DEVICE_INSTANT).get(0, [])

            wait_until(points_kept)
            first = points_kept()[0]
            wait_until(lambda: points_kept()[0] != first)
            points = points_kept()
        self.assertLessEqual(len({at for at, _ in points}), 6)

    def test_misuse_is_refused(self):
        for options in ({"gpu_indices": []}, {"power_domains": []}, {"power_domains": ["nonsense"]}, {"update_period": 0},
                        {"power_domains": ["memory_average"]}):
            with self.subTest(options), self.assertRaises(ValueError):
                PowerMonitor(**options)
        with PowerMonitor([0], power_domains=["device_average"]) as monitor:
            with self.assertRaisesRegex(ValueError, "is not being monitored"):
                monitor.get_power()
            with self.assertRaisesRegex(ValueError, "is not being monitored"):
                monitor.get_power_timeline(PowerDomain.DEVICE_INSTANT)
            self.assertEqual(list(monitor.get_power(power_domain=PowerDomain.DEVICE_AVERAGE)), [0])
            with self.assertWarnsRegex(UserWarning, "was not watched for"):
                monitor.get_energy(0, 1000.0)

    def test_the_update_period_is_half_of_the_sensors(self):
        self.assertTrue(0.01 <= infer_counter_update_period([0, 1]) <= 0.1)

    def test_in_a_forked_child_a_monitor_is_empty_and_a_new_one_works(self):
        with PowerMonitor([0], update_period=0.01, power_domains=["device_instant"]) as monitor:
            wait_until(monitor.get_power)
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                old = monitor.get_power()
                monitor.stop()
                with PowerMonitor([0], update_period=0.01, power_domains=["device_instant"]) as own:
                    new = own.get_power()
                os.write(writer, repr((old, new)).encode())
                os._exit(0)
            os.waitpid(child, 0)
            old, new = eval(os.read(reader, 1000).decode())
            os.close(reader)
            os.close(writer)
            self.assertIsNone(old)
            self.assertEqual(list(new), [0])
            self.assertIsNotNone(monitor.get_power())


class Temperature(unittest.TestCase):
    def test_temperatures_are_of_the_gpus(self):
        with TemperatureMonitor(update_period=0.05) as monitor:
            wait_until(lambda: len(monitor.get_temperature() or {}) == 2)
            now = monitor.get_temperature()
            timeline = monitor.get_temperature_timeline(gpu_index=1)
        self.assertEqual(list(now), [0, 1])
        self.assertTrue(all(isinstance(value, int) and 20 < value < 100 for value in now.values()))
        self.assertEqual(list(timeline), [1])
        self.assertEqual(monitor.get_temperature(time=0.0), {gpu: monitor.get_temperature_timeline()[gpu][0][1]
                                                             for gpu in (0, 1)})
        with self.assertRaises(ValueError):
            TemperatureMonitor(gpu_indices=[])


class CommandLine(unittest.TestCase):
    def interrupted(self, *arguments: str, lines: int = 0) -> str:
        """Its output if it is interrupted after this many lines."""
        child = subprocess.Popen([sys.executable, "-m", "zeus.monitor", *arguments], stdout=subprocess.PIPE, text=True)
        if lines:
            out = "".join(child.stdout.readline() for _ in range(lines))
        else:
            # Measuring begins when the measuring thread does.
            threads = pathlib.Path(f"/proc/{child.pid}/task")

            def samples() -> bool:
                with contextlib.suppress(OSError):  # a thread that has just ended
                    return any((thread / "comm").read_text() == "zeus-sampler\n" for thread in threads.iterdir())
                return False

            wait_until(samples)
            time.sleep(0.8)  # a busy machine's main thread has then come to where it waits for the interrupt
            out = ""
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 0)
        return out + rest

    def test_energy(self):
        out = self.interrupted("energy", "--gpu-indices", "1")
        self.assertRegex(out, r"^Total energy \(J\): Measurement\(time=\d\.\d+, gpu_energy=\{1: \d+\.\d+\}, cpu_energy=")

    def test_power(self):
        out = self.interrupted("power", "--update-period", "0.2", "--power-domain", "device_instant", lines=2)
        lines = out.splitlines()
        self.assertRegex(lines[0], r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \{'GPU0': [\d.]+, 'GPU1': [\d.]+\}$")
        self.assertGreaterEqual(len(lines), 4)
        self.assertRegex(lines[-2], r"^Total time \(s\): \d")
        energy = float(re.search(r"'GPU1': ([\d.]+)", lines[-1])[1])
        seconds = float(lines[-2].rpartition(" ")[2])
        first, *_, last = [datetime.datetime.fromisoformat(line[:23]) for line in lines[:-2]]
        # On a busy machine, the power may be unwatched before the first line and after the last, or be LOW at the few moments between.
        self.assertGreater(energy, 0.9 * LOW * (last - first).total_seconds())
        self.assertLess(energy, HIGH * seconds)

    def test_a_command_is_needed(self):
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as refused:
            from zeus.monitor.__main__ import main
            main([])
        self.assertEqual(refused.exception.code, 2)


if __name__ == "__main__":
    warnings.simplefilter("default")
    unittest.main()
