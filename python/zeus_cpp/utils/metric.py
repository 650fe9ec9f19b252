"""Cost, and energies from recorded power."""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path


def zeus_cost(energy: float, time: float, eta_knob: float, max_power: float) -> float:
    """Energy and time as one number, in J: `eta_knob`, from 0 to 1, is the weight of energy."""
    return eta_knob * energy + (1 - eta_knob) * max_power * time


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        # Before Python 3.11, fractions are read in three or six digits only.
        whole, _, fraction = text.partition(".")
        return datetime.fromisoformat(whole).timestamp() + float(f"0.{fraction or 0}")


def _read(logfile: str | Path) -> list[tuple[float, float]]:
    """(seconds since the first sample, W) of each line but the last, which may have been cut off."""
    with open(logfile, encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))[:-1]
    samples = [(_seconds(row["Time"]), float(row["Power"]) / 1000.0) for row in rows]
    return [(at - samples[0][0], power) for at, power in samples]


def _between(samples: list[tuple[float, float]], start: float | None, end: float | None) -> list[tuple[float, float]]:
    return [(at, power) for at, power in samples
            if (start is None or at >= start) and (end is None or at <= end)]


def _trapezoids(samples: list[tuple[float, float]]) -> float:
    return sum((after[0] - before[0]) * (before[1] + after[1]) / 2 for before, after in zip(samples, samples[1:]))


def energy(logfile: str | Path, start: float | None = None, end: float | None = None) -> float:
    """J of a recording of power: a CSV file with the columns `Time` and `Power` (mW).

    `start` and `end` are seconds since the first sample, or before the last one if they are negative.
    """
    samples = _read(logfile)
    if not samples:
        return 0.0
    last = samples[-1][0]
    bounds = [None if bound is None else bound + last if bound < 0 else bound for bound in (start, end)]
    return _trapezoids(_between(samples, bounds[0], bounds[1]))


def avg_power(logfile: str | Path, start: float | None = None, end: float | None = None) -> float:
    """Mean W of such a recording; a ValueError if fewer than two samples lie between the bounds."""
    samples = _between(_read(logfile), start, end)
    if len(samples) < 2:
        raise ValueError(f"{logfile} has fewer than two samples between the bounds")
    return _trapezoids(samples) / (samples[-1][0] - samples[0][0])
