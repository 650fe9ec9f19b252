#!/usr/bin/env python3
"""Experiments on how the sensors of a real GPU work, run with our built programs. They set nothing.

  experiments.py [--build DIR] [--virtual SPEC] [--seconds S] [--only N,N]

  1  square waves of 20 to 400 ms: does the energy counter see all of the time, or a part of it
  2  windows of about 0.2 to 5 s: error of naive edges and of edges aligned to the counter's ticks
  3  the driver's ring of power samples: period, depth, agreement with the counter
  4  median and 99th percentile of each call: alone, on a busy GPU, from 8 threads
  6  at idle: the counter against integrated power

`--virtual` runs them on a virtual GPU instead (in sessions of `zeus virtual`); S is the length of one recording. (Experiment
5, how long a new limit takes to show, would set something.) Without a GPU the script says so and succeeds.
"""

import argparse
import bisect
import contextlib
import json
import pathlib
import random
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PERIODS_MS = (20, 33, 50, 70, 100, 110, 150, 200, 300, 400)
WINDOWS_S = (0.2, 0.5, 1.0, 5.0)
LOW_W, HIGH_W = 80, 240
NO_GPU = NO_CUDA = 3  # exit codes of the probe and of the wave


class NoLoad(Exception):
    """The GPU of this machine cannot be loaded: there is no CUDA driver library."""


class Machine:
    """Runs the probe on a GPU under a load: a real one, or a virtual one whose session makes the load."""

    def __init__(self, build: pathlib.Path, virtual: str | None):
        self.probe_program = build / "bench" / "gpu_probe"
        self.wave_program = build / "bench" / "gpu_square_wave"
        self.zeus = build / "bin" / "zeus"
        self.virtual = virtual
        for program in (self.probe_program, self.wave_program, self.zeus):
            if not program.exists():
                sys.exit(f"experiments: {program} is not built; run `make build`, or name the build folder with --build")

    def describe(self) -> dict | None:
        done = self._run(self._around("idle"), "describe")
        if done.returncode == NO_GPU:
            return None
        done.check_returncode()
        self.gpu = json.loads(done.stdout)
        return self.gpu

    def probe(self, load: str, *arguments: str) -> str:
        """What the probe prints under a load: `idle`, `busy`, or a period in milliseconds."""
        with self._real_load(load, arguments):
            done = self._run(self._around(load), *arguments)
        done.check_returncode()
        return done.stdout

    def _run(self, before: list[str], *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([*before, self.probe_program, *arguments], capture_output=True, text=True, check=False)

    def _around(self, load: str) -> list[str]:
        if self.virtual is None:
            return []
        loads = {"idle": [], "busy": ["--load", f"constant:{HIGH_W}W"]}
        return [str(self.zeus), "virtual", self.virtual,
                *loads.get(load, ["--load", f"square:{LOW_W}-{HIGH_W}W,{load}ms"]), "--"]

    @contextlib.contextmanager
    def _real_load(self, load: str, arguments: tuple[str, ...]):
        if self.virtual is not None or load == "idle":
            yield
            return
        period = "0" if load == "busy" else load
        # Longer than any recording; this script ends it.
        wave = subprocess.Popen([self.wave_program, self.gpu["pci"], period, "600"], stderr=subprocess.PIPE, text=True)
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = wave.wait(timeout=3.0)  # the time the GPU takes to reach its plateau
                raise NoLoad("there is no libcuda.so.1" if code == NO_CUDA else wave.stderr.read().strip())
            yield
        finally:
            wave.terminate()
            wave.wait()


class Timeline:
    def __init__(self, text: str):
        self.lines: dict[str, list[tuple[float, float]]] = {"e": [], "p": [], "a": [], "s": []}
        for line in text.splitlines():
            kind, at, value = line.split(",")
            self.lines[kind].append((float(at), float(value)))
        self.ticks = self.lines["e"]

    def counter_power(self) -> float | None:
        """Between the first and the last tick, both of which are exact."""
        # The recording began at the first line, somewhere between two ticks.
        if len(self.ticks) < 3:
            return None
        (t0, e0), (t1, e1) = self.ticks[1], self.ticks[-1]
        return (e1 - e0) / (t1 - t0)

    def mean_power(self, kind: str) -> float | None:
        """The time-weighted mean of a kind of power, over the time between the counter's ticks if there are any."""
        points = sorted(set(self.lines[kind]))
        if self.ticks[1:]:
            points = [p for p in points if self.ticks[1][0] <= p[0] <= self.ticks[-1][0]]
        if len(points) < 2:
            return None
        area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(points, points[1:]))
        return area / (points[-1][0] - points[0][0])

    def naive(self, at: float) -> float:
        return self.ticks[bisect.bisect_right(self.ticks, (at, float("inf"))) - 1][1]

    def aligned(self, at: float) -> float:
        after = bisect.bisect_right(self.ticks, (at, float("inf")))
        (t0, e0), (t1, e1) = self.ticks[after - 1], self.ticks[after]
        return e0 + (e1 - e0) * (at - t0) / (t1 - t0)


def watts(value: float | None) -> str:
    return "-" if value is None else f"{value:8.2f}"


def percent(value: float | None, reference: float) -> str:
    return "       -" if value is None else f"{100 * (value / reference - 1):+7.2f}%"


def square_waves(machine: Machine, seconds: float) -> None:
    print(f"\n1  square waves, busy half of the time; {seconds:g} s each")
    high = Timeline(machine.probe("busy", "timeline", str(seconds))).counter_power()
    low = LOW_W if machine.virtual else Timeline(machine.probe("idle", "timeline", str(seconds))).counter_power()
    if high is None or low is None:
        print("   settles nothing: this GPU has no energy counter")
        return
    expected = (high + low) / 2
    print(f"   plateaus {low:.2f} W and {high:.2f} W, so {expected:.2f} W are to be expected")
    print(f"   {'period':>8}{'counter':>10}{'instant':>10}{'samples':>10}")
    errors = []
    for period in PERIODS_MS:
        line = Timeline(machine.probe(str(period), "timeline", str(seconds)))
        counter = line.counter_power()
        errors.append(counter / expected - 1)
        print(f"   {period:>5} ms {percent(counter, expected):>10}{percent(line.mean_power('p'), expected):>10}"
              f"{percent(line.mean_power('s'), expected):>10}")
    # Between bursts a GPU may draw more than when it idles for long: that moves all periods alike.
    spread = max(errors) - min(errors)
    print(f"   from period to period the counter differs by at most {100 * spread:.1f} points: it "
          + ("integrates all of the time" if spread < 0.05 else "sees a part of the time, and aliases"))


def windows(machine: Machine, seconds: float) -> None:
    length = 4 * seconds
    print(f"\n2  windows under a steady load, against {length:g} s of it")
    line = Timeline(machine.probe("busy", "timeline", str(length)))
    reference = line.counter_power()
    if reference is None:
        print("   settles nothing: this GPU has no energy counter")
        return
    gaps = [b[0] - a[0] for a, b in zip(line.ticks[1:], line.ticks[2:])]
    print(f"   the counter moves every {1000 * statistics.median(gaps):.1f} ms; the GPU draws {reference:.2f} W")
    print(f"   {'window':>8}{'naive, median':>16}{'95 %':>9}{'aligned, median':>18}{'95 %':>9}")
    draw = random.Random(1)
    first, last = line.ticks[1][0], line.ticks[-1][0]
    for about in WINDOWS_S:
        if about > (last - first) / 2:
            print(f"   {about:>6} s: the recording is too short")
            continue
        errors = {"naive": [], "aligned": []}
        for _ in range(500):
            # Not a whole number of ticks, as no work lasts exactly that long.
            window = about * draw.uniform(0.8, 1.2)
            start = draw.uniform(first, last - window - 1e-3)
            for name, value in (("naive", line.naive), ("aligned", line.aligned)):
                energy = value(start + window) - value(start)
                errors[name].append(abs(energy / (reference * window) - 1) * 100)
        row = [statistics.quantiles(errors[name], n=20) for name in ("naive", "aligned")]
        print(f"   {about:>6} s {row[0][9]:>14.2f} %{row[0][18]:>7.2f} %{row[1][9]:>16.3f} %{row[1][18]:>7.3f} %")


def sample_ring(machine: Machine, seconds: float) -> None:
    print("\n3  the driver's ring of power samples")
    ring = sorted(Timeline(machine.probe("busy", "ring")).lines["s"])
    if len(ring) < 3:
        print(f"   holds {len(ring)} samples at once")
    else:
        gaps = [b[0] - a[0] for a, b in zip(ring, ring[1:])]
        print(f"   holds {len(ring)} samples over {ring[-1][0] - ring[0][0]:.2f} s: one every "
              f"{1000 * statistics.median(gaps):.1f} ms")
    line = Timeline(machine.probe("100", "timeline", str(seconds)))
    times = sorted({at for at, _ in line.lines["s"]})
    if len(times) < 3 or line.counter_power() is None:
        print("   settles nothing more: samples or counter are missing")
        return
    gaps = [b - a for a, b in zip(times, times[1:])]
    print(f"   read once a second, it gave {len(times)} samples in {seconds:g} s, one every "
          f"{1000 * statistics.median(gaps):.1f} ms; longest gap {1000 * max(gaps):.0f} ms")
    print(f"   their mean is {percent(line.mean_power('s'), line.counter_power()).strip()} from the counter")


def latency(machine: Machine, _seconds: float) -> None:
    print("\n4  microseconds a call: median, 99th percentile")
    conditions = [("alone", "idle", 1), ("busy GPU", "busy", 1), ("8 threads", "idle", 8)]
    rows: dict[str, list[str]] = {}
    for _, load, threads in conditions:
        for line in machine.probe(load, "latency", str(threads), "2000").splitlines():
            name, middle, tail = line.rsplit(",", 2)
            rows.setdefault(name, []).append(f"{float(middle):9.2f}{float(tail):9.2f}")
    print(f"   {'':<28}" + "".join(f"{title:>20}" for title, _, _ in conditions))
    for name, cells in rows.items():
        print(f"   {name:<28}" + "".join(f"{cell:>20}" for cell in cells))


def idle(machine: Machine, seconds: float) -> None:
    length = 3 * seconds
    print(f"\n6  at idle, {length:g} s: watts, and how far from the counter")
    line = Timeline(machine.probe("idle", "timeline", str(length)))
    counter = line.counter_power()
    print(f"   counter          {watts(counter)}")
    for kind, name in (("p", "instant power"), ("a", "average power"), ("s", "driver's samples")):
        mean = line.mean_power(kind)
        print(f"   {name:<17}{watts(mean)}{percent(mean, counter) if counter else ''}")


EXPERIMENTS = {1: square_waves, 2: windows, 3: sample_ring, 4: latency, 6: idle}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--virtual", metavar="SPEC")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--only", type=lambda text: [int(part) for part in text.split(",")], default=list(EXPERIMENTS))
    options = parser.parse_args()
    machine = Machine(options.build.resolve(), options.virtual)
    gpu = machine.describe()
    if gpu is None:
        print("experiments: there is no NVIDIA GPU here, so nothing was measured")
        return 0
    kind = "virtual GPU" if options.virtual else "GPU"
    print(f"{kind}: {gpu['name']}, driver {gpu['driver']}, limit {gpu['limit_w']:g} W")
    for number in options.only:
        try:
            EXPERIMENTS[number](machine, options.seconds)
        except NoLoad as reason:
            print(f"   not run: the GPU cannot be loaded here ({reason})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
