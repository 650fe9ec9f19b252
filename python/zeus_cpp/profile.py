"""Energy per call of a function, measured until it can be trusted.

A warm GPU draws more than a cold one, and its counter moves only every 20 to 100 ms: a call is repeated for seconds, with
pauses to cool between repetitions. The sweeps show how long "seconds" and "pauses" must be.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable

from zeus_cpp._logger import logger_of
from zeus_cpp.utils.framework import all_reduce, get_rank, get_world_size, sync_execution

if TYPE_CHECKING:
    from zeus_cpp.monitor import ZeusMonitor

logger = logger_of(__name__)

_WINDOW = "__zeus_profile_run_trial"
_ONE_TO_TEN = tuple(float(seconds) for seconds in range(1, 11))


@dataclass
class TrialResult:
    """One measurement of many calls, summed over the GPUs of all ranks."""

    energy_per_iter: float  # J
    time_per_iter: float  # s
    total_energy: float
    total_time: float
    iterations: int
    temperature_before: float  # mean of the GPUs, degrees Celsius
    temperature_after: float


@dataclass
class SweepResult:
    """Several trials under the same durations."""

    measurement_duration: float
    cooldown_duration: float
    trials: list[TrialResult]
    energy_mean: float  # per call, J
    energy_std: float
    avg_temperature_before: float
    avg_temperature_after: float
    avg_total_time: float
    avg_total_energy: float
    is_valid: bool  # the trials agree as well as requested

    def __str__(self) -> str:
        return (
            f"measured {self.measurement_duration:g} s, cooled {self.cooldown_duration:g} s: "
            f"{self.energy_mean:.6g} J per call, standard deviation {self.energy_std:.3g} J "
            f"({'VALID' if self.is_valid else 'INVALID'}), {self.avg_temperature_before:.1f} to "
            f"{self.avg_temperature_after:.1f} degrees Celsius"
        )


@dataclass
class SweepReport:
    """Trials over one duration, with the other fixed."""

    sweep_param: tuple[str, list[float]]
    fixed_param: tuple[str, float]
    entries: list[SweepResult]

    def __str__(self) -> str:
        head = f"{self.sweep_param[0]} varied, {self.fixed_param[0]} {self.fixed_param[1]:g} s"
        return "\n".join([head, *(f"  {entry}" for entry in self.entries)])


def _synchronize(monitor: ZeusMonitor) -> None:
    sync_execution(monitor.gpu_indices, monitor.sync_with)


def _temperature(monitor: ZeusMonitor) -> float:
    """The mean of the monitor's GPUs, and of all ranks."""
    own = statistics.fmean(float(monitor.gpus.get_gpu_temperature(gpu)) for gpu in monitor.gpu_indices)
    return all_reduce([own], "sum")[0] / get_world_size()


def _time_one(function: Callable[[], object], monitor: ZeusMonitor, warmup: int, calls: int) -> float:
    """Seconds of one call, by the slowest rank."""
    for _ in range(warmup):
        function()
    _synchronize(monitor)
    began = time.monotonic()
    for _ in range(calls):
        function()
    _synchronize(monitor)
    return float(all_reduce([(time.monotonic() - began) / calls], "max")[0])


def _run_trial(function: Callable[[], object], monitor: ZeusMonitor, calls: int, cooldown: float,
               warmup: int) -> TrialResult:
    time.sleep(cooldown)
    for _ in range(warmup):
        function()
    _synchronize(monitor)
    before = _temperature(monitor)
    monitor.begin_window(_WINDOW, restart=True)  # a function that raised has left it open
    for _ in range(calls):
        function()
    measured = monitor.end_window(_WINDOW)
    after = _temperature(monitor)
    energy = float(all_reduce([float(monitor.settle(measured).total_energy)], "sum")[0])
    seconds = float(all_reduce([measured.time], "max")[0])
    return TrialResult(energy / calls, seconds / calls, energy, seconds, calls, before, after)


def _calls_for(duration: float, seconds_of_one: float) -> int:
    return max(1, math.ceil(duration / seconds_of_one))


def _require_gpus(monitor: ZeusMonitor) -> None:
    if not monitor.gpu_indices:
        raise ValueError("the monitor measures no GPU, so there is nothing to profile")


def measure(
    target_function: Callable[[], object],
    zeus_monitor: ZeusMonitor,
    measurement_duration: float,
    cooldown_duration: float,
    num_warmup_iterations: int = 10,
    num_calibration_iterations: int = 100,
    warmup_settle_duration: float | None = None,
) -> TrialResult:
    """Calls a function for about `measurement_duration` seconds and returns the time and energy of one call.

    Args:
        target_function: The function to measure; it takes no arguments.
        zeus_monitor: The monitor to measure with.
        measurement_duration: Seconds to measure for.
        cooldown_duration: Seconds to wait beforehand.
        num_warmup_iterations: Calls between the pause and the measurement.
        num_calibration_iterations: Calls that find out how long one call takes.
        warmup_settle_duration: Seconds to warm up for, instead of a number of calls.
    """
    _require_gpus(zeus_monitor)
    if warmup_settle_duration is not None and warmup_settle_duration < 0:
        raise ValueError(f"warmup_settle_duration is {warmup_settle_duration}; it must not be negative")
    one = _time_one(target_function, zeus_monitor, num_warmup_iterations, num_calibration_iterations)
    warmup = num_warmup_iterations if warmup_settle_duration is None else _calls_for(warmup_settle_duration, one)
    return _run_trial(target_function, zeus_monitor, _calls_for(measurement_duration, one), cooldown_duration, warmup)


@dataclass
class _Sweep:
    """Trials over one duration, with the other fixed."""

    function: Callable[[], object]
    monitor: ZeusMonitor
    num_trials: int
    num_warmup_trials: int
    threshold: float
    num_warmup_iterations: int
    num_calibration_iterations: int
    seconds_of_one: float | None  # None: found out by calling

    def report(self, varied: str, values: Sequence[float] | None, held: str, value: float) -> SweepReport:
        """`varied` and `held` are "measurement_duration" and "cooldown_duration", or the other way round."""
        _require_gpus(self.monitor)
        tried = list(values or _ONE_TO_TEN)
        one = self.seconds_of_one or _time_one(self.function, self.monitor, self.num_warmup_iterations,
                                               self.num_calibration_iterations)
        entries = [{varied: each, held: value} for each in tried]
        self._warm_up(_calls_for(max(entry["measurement_duration"] for entry in entries), one))
        return SweepReport((varied, tried), (held, value), [self._entry(one, **entry) for entry in entries])

    def _warm_up(self, calls: int) -> None:
        """Warm-up trials, whose results are not used: without a pause, and as long as the longest that counts."""
        for _ in range(self.num_warmup_trials):
            _run_trial(self.function, self.monitor, calls, 0.0, 0)

    def _entry(self, seconds_of_one: float, measurement_duration: float, cooldown_duration: float) -> SweepResult:
        calls = _calls_for(measurement_duration, seconds_of_one)
        trials = [
            _run_trial(self.function, self.monitor, calls, cooldown_duration, self.num_warmup_iterations)
            for _ in range(self.num_trials)
        ]
        energies = [trial.energy_per_iter for trial in trials]
        deviation = statistics.stdev(energies) if len(energies) > 1 else 0.0
        result = SweepResult(
            measurement_duration=measurement_duration,
            cooldown_duration=cooldown_duration,
            trials=trials,
            energy_mean=statistics.fmean(energies),
            energy_std=deviation,
            avg_temperature_before=statistics.fmean(trial.temperature_before for trial in trials),
            avg_temperature_after=statistics.fmean(trial.temperature_after for trial in trials),
            avg_total_time=statistics.fmean(trial.total_time for trial in trials),
            avg_total_energy=statistics.fmean(trial.total_energy for trial in trials),
            is_valid=deviation < self.threshold,
        )
        if get_rank() == 0:
            logger.info("%s", result)
        return result


def profile_measurement_duration(
    target_function: Callable[[], object],
    zeus_monitor: ZeusMonitor,
    measurement_duration_search_range: Sequence[float] | None = None,
    cooldown_duration: float = 10.0,
    num_trials: int = 10,
    num_warmup_trials: int = 2,
    trial_stddev_threshold: float = 0.01,
    num_warmup_iterations: int = 10,
    num_calibration_iterations: int = 100,
    iteration_duration: float | None = None,
) -> SweepReport:
    """How the spread of trials depends on how long each measures.

    `trial_stddev_threshold`, in J per call, decides `is_valid` of each entry.
    """
    sweep = _Sweep(target_function, zeus_monitor, num_trials, num_warmup_trials, trial_stddev_threshold,
                   num_warmup_iterations, num_calibration_iterations, iteration_duration)
    return sweep.report("measurement_duration", measurement_duration_search_range, "cooldown_duration", cooldown_duration)


def profile_cooldown_duration(
    target_function: Callable[[], object],
    zeus_monitor: ZeusMonitor,
    cooldown_duration_search_range: Sequence[float] | None = None,
    measurement_duration: float = 10.0,
    num_trials: int = 10,
    num_warmup_trials: int = 2,
    trial_stddev_threshold: float = 0.01,
    num_warmup_iterations: int = 10,
    num_calibration_iterations: int = 100,
    iteration_duration: float | None = None,
) -> SweepReport:
    """How the spread of trials depends on the pause before each."""
    sweep = _Sweep(target_function, zeus_monitor, num_trials, num_warmup_trials, trial_stddev_threshold,
                   num_warmup_iterations, num_calibration_iterations, iteration_duration)
    return sweep.report("cooldown_duration", cooldown_duration_search_range, "measurement_duration", measurement_duration)


def profile_parameters(
    target_function: Callable[[], object],
    zeus_monitor: ZeusMonitor,
    measurement_duration_search_range: Sequence[float] | None = None,
    cooldown_duration_search_range: Sequence[float] | None = None,
    num_trials: int = 10,
    num_warmup_trials: int = 2,
    trial_stddev_threshold: float = 0.01,
    num_warmup_iterations: int = 10,
    num_calibration_iterations: int = 100,
) -> tuple[SweepReport, SweepReport]:
    """Both sweeps, each with the other duration held at its longest."""
    _require_gpus(zeus_monitor)
    durations = list(measurement_duration_search_range or _ONE_TO_TEN)
    pauses = list(cooldown_duration_search_range or _ONE_TO_TEN)
    one = _time_one(target_function, zeus_monitor, num_warmup_iterations, num_calibration_iterations)
    by_measurement = profile_measurement_duration(
        target_function, zeus_monitor, durations, max(pauses), num_trials, num_warmup_trials, trial_stddev_threshold,
        num_warmup_iterations, num_calibration_iterations, one)
    by_cooldown = profile_cooldown_duration(
        target_function, zeus_monitor, pauses, max(durations), num_trials, 0, trial_stddev_threshold,
        num_warmup_iterations, num_calibration_iterations, one)
    return by_measurement, by_cooldown
