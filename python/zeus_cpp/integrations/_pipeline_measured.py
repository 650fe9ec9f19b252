"""Iterations of a pipeline as they were measured, for `zeus pipeline --measured`."""

from __future__ import annotations

import math
import statistics
import time
from typing import Any

from zeus_cpp.integrations._pipeline_stage import wait_for
from zeus_cpp.monitor import ZeusMonitor
from zeus_cpp.monitor.measurement import Measurement

Row = tuple[int, str, float, float, float, float, float]  # as _native.PipelineProfiler has them
Event = tuple[str, int, int, float, float]  # instruction, stage, micro-batch, seconds at its begin and end

# Half-widths of 95 % intervals, in standard errors, of the mean of so many values; of more, at most that of ten.
_STUDENT = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31}


class Measured:
    """Times and energies of iterations, in two runs: before the plan and under it."""

    _KEY = "zeus.pipelining.measured"

    def __init__(self, device_id: int, monitor: ZeusMonitor | None) -> None:
        self.results: list[dict[str, Any]] = []
        self.steps: list[list[Event]] = []
        self.running = False
        self._device_id = device_id
        self._monitor = monitor
        self._since = 0.0
        self._seconds: list[float] = []
        self._windows: list[Measurement] = []

    @property
    def runs(self) -> int:
        return len(self.results)

    def begin(self) -> None:
        """Or goes on, after an interruption."""
        if not self.running:
            self.running = True
            wait_for(self._device_id)
            self._since = time.monotonic()
            if self._monitor is not None:  # without one, no plan is made of the results
                self._monitor.begin_window(self._KEY, sync_execution=False)

    def interrupt(self) -> None:
        """Leaves out what runs until it begins again."""
        if self.running:
            wait_for(self._device_id)
            self.running = False
            if self._monitor is not None:
                self._windows.append(self._monitor.end_window(self._KEY, sync_execution=False))

    def add(self, events: list[Event]) -> None:
        now = time.monotonic()
        self.steps.append(events)
        self._seconds.append(now - self._since)
        self._since = now

    def end(self) -> None:
        self.interrupt()
        windows = [self._monitor.settle(each) for each in self._windows] if self._monitor is not None else []
        counted = math.hypot(*(each.details.total.uncertainty or 0.0 for each in windows if each.details is not None))
        self.results.append({"steps": self.steps, "seconds": self._seconds, "energy": sum(each.total_energy for each in windows),
                             "uncertainty": counted})
        self.steps, self._seconds, self._windows = [], [], []


def measured_iteration(results: list[dict[str, Any]], plan: dict[str, Any], shares: list[dict[str, Any]], *,
                       followed: bool) -> dict[str, Any]:
    """What `zeus pipeline --measured` reads, of what each rank measured."""
    seconds = results[0]["seconds"]
    count = len(seconds)
    mean = statistics.fmean(seconds)
    wide = _STUDENT.get(count, 2.26) * statistics.stdev(seconds) / math.sqrt(count) if count > 1 else mean
    energy = sum(one["energy"] for one in results) / count
    counted = math.hypot(*(one["uncertainty"] for one in results)) / count
    middle = sorted(range(count), key=seconds.__getitem__)[count // 2]
    start = min(one["steps"][middle][0][3] for one in results)
    computations = []
    for rank, (one, share) in enumerate(zip(results, shares)):
        for place, (instruction, stage, microbatch, begin, end) in enumerate(one["steps"][middle]):
            clock = plan["frequencies"][rank][place][1] if followed else 0.0
            computations.append({"rank": rank, "stage": stage, "microbatch": microbatch, "instruction": instruction,
                                 "start_s": begin - start, "duration_s": max(end - begin, 0.0), "frequency_mhz": clock,
                                 "power_w": _power(share["rows"], stage, instruction, clock)})
    prefix = "" if followed else "fastest_"
    return {"version": 1, "ranks": len(results), "iterations": count, "time_s": mean, "time_uncertainty_s": wide,
            "energy_j": energy, "energy_uncertainty_j": math.hypot(counted, energy * wide / mean),
            "claimed_time_s": plan[f"{prefix}time_s"], "claimed_energy_j": plan[f"{prefix}energy_j"],
            "computations": computations}


def _power(rows: list[Row], stage: int, instruction: str, clock: float) -> float:
    """Watts of the instruction as measured at this clock; at the highest one if none was set."""
    known = [row for row in rows if row[0] == stage and row[1] == instruction]
    row = min(known, key=lambda one: abs(one[2] - clock)) if clock else max(known, key=lambda one: one[2])
    return row[5] / row[3]
