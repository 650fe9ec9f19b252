"""What to choose a power limit for: measurements, and the rules that choose among them."""

from __future__ import annotations

import abc
from typing import Any

from zeus_cpp.optimizer._record import Record, number, required


def _watts(value: Any) -> int | float:
    """Whole where they are: files say 250 and not 250.0."""
    watts = number(above=0)(value)
    return int(watts) if watts == int(watts) else watts


class PowerLimitMeasurement(Record):
    """What the profiled steps took under one limit: watts of each GPU, joules of all of them, seconds."""

    power_limit: int = required(_watts)
    energy: float = required(number(above=0))
    time: float = required(number(above=0))


class OptimumSelector(abc.ABC):
    """What to choose a limit for. Users may write their own: `select` is asked about one measurement or more, has to answer
    with the watts of one of them, and should answer the same whenever it is asked the same."""

    @abc.abstractmethod
    def select(self, measurements: list[PowerLimitMeasurement]) -> int:
        """The limit to use, in watts."""


class Energy(OptimumSelector):
    """The least energy."""

    def select(self, measurements: list[PowerLimitMeasurement]) -> int:
        return min(measurements, key=lambda each: each.energy).power_limit


class Time(OptimumSelector):
    """The least time. That may still be a lower limit than the highest: many steps are no faster for more power."""

    def select(self, measurements: list[PowerLimitMeasurement]) -> int:
        return min(measurements, key=lambda each: each.time).power_limit


class ZeusCost(OptimumSelector):
    """The least eta_knob x energy + (1 - eta_knob) x highest limit x world_size x time."""

    def __init__(self, eta_knob: float, world_size: int = 1) -> None:
        if not 0 <= eta_knob <= 1:
            raise ValueError(f"eta_knob must be from 0 (time alone) to 1 (energy alone), not {eta_knob}")
        if world_size < 1:
            raise ValueError(f"world_size must be at least 1, not {world_size}")
        self.eta_knob = eta_knob
        self.world_size = world_size

    def select(self, measurements: list[PowerLimitMeasurement]) -> int:
        max_power = max(each.power_limit for each in measurements) * self.world_size
        eta = self.eta_knob
        return min(measurements, key=lambda each: eta * each.energy + (1 - eta) * max_power * each.time).power_limit


class MaxSlowdownConstraint(OptimumSelector):
    """The lowest limit that takes at most `factor` times as long as the highest, by what was measured."""

    def __init__(self, factor: float) -> None:
        if not factor >= 1.0:
            raise ValueError(f"factor must be at least 1 (no slowdown at all), not {factor}")
        self.factor = factor

    def select(self, measurements: list[PowerLimitMeasurement]) -> int:
        longest = self.factor * max(measurements, key=lambda each: each.power_limit).time
        return min(each.power_limit for each in measurements if each.time <= longest)


class ConfidentSlowdownConstraint(MaxSlowdownConstraint):
    """The least energy among the limits that take at most `factor` times as long, with this confidence.

    While training, a limit counts as fast enough only when its measurements say so; `select` by itself knows of no doubt.
    """

    def __init__(self, factor: float, confidence: float = 0.95) -> None:
        super().__init__(factor)
        if not 0 < confidence < 1:
            raise ValueError(f"confidence must be between 0 and 1, not {confidence}")
        self.confidence = confidence

    def select(self, measurements: list[PowerLimitMeasurement]) -> int:
        longest = self.factor * max(measurements, key=lambda each: each.power_limit).time
        return min((each for each in measurements if each.time <= longest), key=lambda each: each.energy).power_limit


def goal_of(selector: OptimumSelector, steps: int) -> Any:
    """The selector as the C++ session knows it; a user's own as a function that the session calls, of what so many steps
    take."""
    if type(selector) is Energy:
        return ("energy",)
    if type(selector) is Time:
        return ("time",)
    if type(selector) is ConfidentSlowdownConstraint:
        return ("slowdown", float(selector.factor), float(selector.confidence))

    def choose(points: list[tuple[float, float, float]]) -> int:
        measurements = [PowerLimitMeasurement(power_limit=w, energy=j * steps, time=s * steps) for w, j, s in points]
        chosen = selector.select(measurements)
        distances = [abs(each.power_limit - chosen) for each in measurements]
        nearest = min(range(len(points)), key=lambda index: distances[index])
        if distances[nearest] >= 1:
            measured = [each.power_limit for each in measurements]
            raise ValueError(f"{type(selector).__name__} chose {chosen} W, which is none of {measured}")
        return nearest

    return choose
