"""How a power limit is chosen: measurements, and the rules that choose among them."""

from __future__ import annotations

import abc
from typing import Any

from zeus_cpp.optimizer._record import Record, number, required


def _watts(value: Any) -> int | float:
    """Whole numbers stay whole: files have 250, not 250.0."""
    watts = number(above=0)(value)
    return int(watts) if watts == int(watts) else watts


class PowerLimitMeasurement(Record):
    """The profiled steps under one limit: watts of each GPU, joules of all of them, seconds."""

    power_limit: int = required(_watts)
    energy: float = required(number(above=0))
    time: float = required(number(above=0))


class OptimumSelector(abc.ABC):
    """The rule that chooses a limit. Users may write their own: `select` gets one measurement or more, must return the watts of
    one of them, and should return the same for the same measurements."""

    @abc.abstractmethod
    def select(self, measurements: list[PowerLimitMeasurement]) -> int:
        """The limit to use, in watts."""


class Energy(OptimumSelector):
    """The least energy."""

    def select(self, measurements: list[PowerLimitMeasurement]) -> int:
        return min(measurements, key=lambda each: each.energy).power_limit


class Time(OptimumSelector):
    """The least time. That may be a lower limit than the highest: many steps do not get faster with more power."""

    def select(self, measurements: list[PowerLimitMeasurement]) -> int:
        return min(measurements, key=lambda each: each.time).power_limit


class ZeusCost(OptimumSelector):
    """The least eta_knob x energy + (1 - eta_knob) x highest limit x world_size x time."""

    def __init__(self, eta_knob: float, world_size: int = 1) -> None:
        if not 0 <= eta_knob <= 1:
            raise ValueError(f"eta_knob must be from 0 (only time) to 1 (only energy), not {eta_knob}")
        if world_size < 1:
            raise ValueError(f"world_size must be at least 1, not {world_size}")
        self.eta_knob = eta_knob
        self.world_size = world_size

    def select(self, measurements: list[PowerLimitMeasurement]) -> int:
        max_power = max(each.power_limit for each in measurements) * self.world_size
        eta = self.eta_knob
        return min(measurements, key=lambda each: eta * each.energy + (1 - eta) * max_power * each.time).power_limit


class MaxSlowdownConstraint(OptimumSelector):
    """The lowest limit that takes at most `factor` times as long as the highest, according to the measurements."""

    def __init__(self, factor: float) -> None:
        if not factor >= 1.0:
            raise ValueError(f"factor must be at least 1 (no slowdown at all), not {factor}")
        self.factor = factor

    def select(self, measurements: list[PowerLimitMeasurement]) -> int:
        longest = self.factor * max(measurements, key=lambda each: each.power_limit).time
        return min(each.power_limit for each in measurements if each.time <= longest)


class ConfidentSlowdownConstraint(MaxSlowdownConstraint):
    """The least energy among the limits that take at most `factor` times as long, with this confidence.

    While training, a limit counts as fast enough only if its measurements say so with that confidence; `select` alone knows no
    uncertainty.
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
    """The selector for the C++ session; a user's own as a function that the session calls with what so many steps take."""
    if type(selector) is Energy:
        return ("energy",)
    if type(selector) is Time:
        return ("time",)
    if type(selector) is ConfidentSlowdownConstraint:
        return ("slowdown", float(selector.factor), float(selector.confidence))

    chosen_before: dict[tuple[tuple[float, float, float], ...], int] = {}

    def choose(points: list[tuple[float, float, float]]) -> int:
        """The session asks again for the report and the profile; the user's code, which may print or count, runs once."""
        if tuple(points) not in chosen_before:
            chosen_before[tuple(points)] = nearest_to_chosen(points)
        return chosen_before[tuple(points)]

    def nearest_to_chosen(points: list[tuple[float, float, float]]) -> int:
        measurements = [PowerLimitMeasurement(power_limit=w, energy=j * steps, time=s * steps) for w, j, s in points]
        chosen = selector.select(measurements)
        distances = [abs(each.power_limit - chosen) for each in measurements]
        nearest = min(range(len(points)), key=lambda index: distances[index])
        if distances[nearest] >= 1:
            measured = [each.power_limit for each in measurements]
            raise ValueError(f"{type(selector).__name__} chose {chosen} W, which is not one of {measured}")
        return nearest

    return choose
