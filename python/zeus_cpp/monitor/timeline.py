"""Readings that a thread of the native library takes at a steady pace, on the users' clock."""

from __future__ import annotations

import bisect
import time
from typing import Iterable, NamedTuple

from zeus_cpp import _native


class Run(NamedTuple):
    """The same value, seen from `first` to `last` (seconds since 1970)."""

    first: float
    last: float
    value: float


class Timeline:
    """One quantity of some GPUs.

    Readings are timed on the monotonic clock and shown as seconds since 1970, with the offset between the two clocks when the
    timeline began. So a later step of the wall clock changes neither their order nor the time between them.
    """

    def __init__(self, quantity: str, gpus: Iterable[int], period: float, most_runs: int | None) -> None:
        self._since_1970 = time.time() - time.monotonic()
        self._period = period
        self._watch = _native.ReadingsWatch(quantity, list(gpus), period, most_runs)

    def stop(self) -> None:
        """Stops reading; what was read stays."""
        self._watch.stop()

    def trouble(self, gpu: int) -> str:
        """Why the last reading failed; empty if it did not."""
        return self._watch.trouble(gpu)

    def runs(self, gpu: int, since: float | None = None) -> list[Run]:
        """All runs, or those that reach to `since`, and perhaps one that ends just before; oldest first."""
        # Seconds since 1970 have a resolution of a quarter of a microsecond only.
        from_clock = 0.0 if since is None else since - self._since_1970 - 1e-6
        shift = self._since_1970
        return [Run(first + shift, last + shift, value) for first, last, value in self._watch.runs(gpu, from_clock)]

    def points(self, gpu: int, start: float | None, end: float | None) -> list[tuple[float, float]]:
        """(time, value) of each run's two ends within the bounds; the value follows straight lines between them."""
        points = []
        for run in self.runs(gpu, start):
            for at in (run.first, run.last) if run.last > run.first else (run.first,):
                if (start is None or at >= start) and (end is None or at <= end):
                    points.append((at, run.value))
        return points

    def value_at(self, gpu: int, at: float | None) -> float | None:
        """The value at that time, or nearest to it (the earlier of two equally near); without a time, the last."""
        runs = self.runs(gpu)
        if not runs:
            return None
        if at is None:
            return runs[-1].value
        after = bisect.bisect_left([run.last for run in runs], at)
        if after == len(runs):
            return runs[-1].value
        if after == 0 or runs[after].first <= at:
            return runs[after].value
        before = runs[after - 1]
        return before.value if at - before.last <= runs[after].first - at else runs[after].value

    def integral(self, gpu: int, start: float, end: float) -> tuple[float, float]:
        """(value times seconds, seconds of the interval that were not watched).

        A value holds while it is seen; between two values it is taken to change evenly. At either end of the watched time, the
        nearest value holds for two more periods.
        """
        runs = self.runs(gpu)
        if not runs or end <= start:
            return 0.0, max(0.0, end - start)
        watched_from = max(start, runs[0].first - 2 * self._period)
        watched_to = min(end, runs[-1].last + 2 * self._period)
        if watched_to <= watched_from:
            return 0.0, end - start
        edges = [(watched_from, runs[0].value)] if watched_from < runs[0].first else []
        for run in runs:
            edges += [(run.first, run.value), (run.last, run.value)]
        if watched_to > runs[-1].last:
            edges.append((watched_to, runs[-1].value))
        total = sum(_area(left, right, watched_from, watched_to) for left, right in zip(edges, edges[1:]))
        return total, (end - start) - (watched_to - watched_from)


def _area(left: tuple[float, float], right: tuple[float, float], start: float, end: float) -> float:
    """The area under the straight line from `left` to `right`, within the bounds."""
    (from_time, from_value), (to_time, to_value) = left, right
    begin, finish = max(from_time, start), min(to_time, end)
    if finish <= begin:
        return 0.0
    slope = (to_value - from_value) / (to_time - from_time)
    middle = from_value + slope * ((begin + finish) / 2 - from_time)
    return middle * (finish - begin)
