"""The power limit that costs least, found while training goes on.

    plo = GlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=[0, 1]), MaxSlowdownConstraint(factor=1.1))
    for epoch in range(100):
        plo.on_epoch_begin()
        for x, y in loader:
            plo.on_step_begin()
            ...
            plo.on_step_end()
        plo.on_epoch_end()

Some steps run under each limit, from the highest down; then the limit that suits the selector best is in force. When training
ends, however it ends, the GPUs are put back to what was found. Failures of devices, permissions, files or other ranks never
end a training: they are logged once, and the training goes on without optimization.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import os
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zeus_cpp import _native
from zeus_cpp._files import write_whole
from zeus_cpp._lazy import importer
from zeus_cpp._logger import logger_of, warn
from zeus_cpp.callback import Callback
from zeus_cpp.device import get_gpus
from zeus_cpp.device.common import has_sys_admin
from zeus_cpp.device.gpu.zeusd import ZeusdGPU
from zeus_cpp.monitor import Measurement, ZeusMonitor
from zeus_cpp.optimizer._power_limit_choice import (
    ConfidentSlowdownConstraint,
    Energy,
    MaxSlowdownConstraint,
    OptimumSelector,
    PowerLimitMeasurement,
    Time,
    ZeusCost,
    goal_of,
)
from zeus_cpp.optimizer._record import Record, ValidationError, required, whole
from zeus_cpp.optimizer._training import Event, Team, open_training
from zeus_cpp.utils.framework import sync_execution

if TYPE_CHECKING:
    from zeus_cpp.optimizer._power_limit_hf import HFGlobalPowerLimitOptimizer, TrainerCallback, transformers_available

logger = logger_of(__name__)

__all__ = [
    "ConfidentSlowdownConstraint",
    "Done",
    "Energy",
    "GlobalPowerLimitOptimizer",
    "HFGlobalPowerLimitOptimizer",
    "MaxSlowdownConstraint",
    "OptimumSelector",
    "PowerLimitMeasurement",
    "Profiling",
    "Ready",
    "Time",
    "TrainerCallback",
    "Warmup",
    "ZeusCost",
    "transformers_available",
]


# A ZeusMonitor does not measure shorter slices well (docs/measurement.md).
_SHORTEST_SLICE = 0.1


class Ready(Record):
    """So many steps remain until the next limit (in mW) is set."""

    next_power_limit: int = required(whole(above=0))
    steps: int = required(whole(above=0))


class Warmup(Record):
    """A limit is set, and the GPUs have so many steps to settle."""

    current_power_limit: int = required(whole(above=0))
    steps: int = required(whole(above=0))


class Profiling(Record):
    """So many steps are still to be measured under this limit."""

    current_power_limit: int = required(whole(above=0))
    steps: int = required(whole(above=0))


class Done(Record):
    """The limit that was chosen is in force."""

    optimal_power_limit: int = required(whole(above=0))


class GlobalPowerLimitOptimizer(Callback):
    """Finds the best power limit for all GPUs of a training together, and keeps it in force.

    In distributed training each rank makes one for the GPUs that it monitors (or one rank makes one for all). Energies are
    summed, times are the slowest rank's, a GPU that several ranks monitor counts once, and all ranks set the same limit. Used
    from one thread.
    """

    def __init__(
        self,
        monitor: ZeusMonitor,
        optimum_selector: OptimumSelector | None = None,
        wait_steps: int = 1,
        warmup_steps: int = 10,
        profile_steps: int = 40,
        pl_step: int = 25,
        profile_path: str | Path | None = None,
        *,
        adaptive: bool = False,
        clocks: bool = False,
        observe: bool = False,
    ) -> None:
        """The first `wait_steps` are not measured; then each limit, `pl_step` watts apart, has `warmup_steps` to settle and
        `profile_steps` that are measured. If there is a profile at `profile_path`, it is used instead; otherwise it is
        written there.

        Beyond that: `adaptive` profiles only what can still change the choice, in about a quarter of the steps; `clocks` also
        tries locked clocks if no limit holds the GPUs back; `observe` sets limits only while profiling, never applies the
        optimum, and reports in `result()` what it would have saved."""
        for what, value, least in (
            ("wait_steps", wait_steps, 0),
            ("warmup_steps", warmup_steps, 0),
            ("profile_steps", profile_steps, 1),
            ("pl_step", pl_step, 1),
        ):
            if value < least:
                raise ValueError(f"{what} must be {least} or more, not {value}")
        if not monitor.gpu_indices:
            raise ValueError("the monitor has no GPUs, so there is no power limit to optimize")
        self.monitor = monitor
        self.wait_steps = wait_steps
        self.warmup_steps = warmup_steps
        self.profile_steps = profile_steps
        self.pl_step = pl_step * 1000
        self.profile_path = Path(profile_path) if profile_path is not None else None
        self._adaptive = adaptive
        self._clocks = clocks
        self._observe = observe
        self.power_limits = _limits_of(monitor.gpu_indices, self.pl_step)
        self.measurements: list[PowerLimitMeasurement] = []
        self.current_power_limit = 0
        # Why the GPUs are left alone; empty if they are not.
        self.unoptimized = ""
        # Which share of a step's energy the choice saves beside the highest limit, with the half-width of its 95 % interval (None
        # if the profile came from a file); None before the choice.
        self.saving: tuple[float, float | None] | None = None
        self._losses_said: set[str] = set()
        self._lost: dict[tuple[float, float | None], float] = {}  # the limit of each setting whose latest slice was lost
        self._own_cost = optimum_selector is None
        self.optimum_selector = optimum_selector or ZeusCost(0.5, world_size=len(monitor.gpu_indices))
        self.state: Ready | Warmup | Profiling | Done = Ready(
            next_power_limit=self.power_limits[0], steps=wait_steps + 1
        )

        self._known = _read_profile(self.profile_path)
        if self._known:
            logger.info("the power limits in %s are not profiled again", self.profile_path)
        else:
            logger.info("power limits of %s W are profiled after %d steps", [limit / 1000 for limit in self.power_limits],
                        wait_steps)
        self._team = Team("power_limit", monitor.gpu_indices)
        self._slices = _Slices(monitor)
        self._session: Any = None
        self._steps_before = 0
        self._in_epoch = False
        self._epoch_is_unused = False  # begun before the training reported it
        _close_at_exit(self)
        if not self._team.distributed:
            self._open()

    # -- Calls of a training loop.

    def on_train_begin(self) -> None:
        """After an end, begins again with what was measured before."""

    def on_train_end(self) -> None:
        """Puts the GPUs back to what was found."""
        if self._session is not None and not isinstance(self.state, Done) and not self.unoptimized:
            logger.warning("the training ended before a power limit was chosen: %d of %d were measured; lower warmup_steps and "
                           "profile_steps, or raise pl_step", len(self.measurements), len(self.power_limits))
        self.close()

    def on_epoch_begin(self) -> None:
        begun_early, self._epoch_is_unused = self._epoch_is_unused, False
        self._in_epoch = True
        if self._session is not None and not begun_early:
            self._session.begin_epoch()
            self._take_in()

    def on_epoch_end(self) -> None:
        self._in_epoch = False
        if self._session is not None:
            self._session.end_epoch()
            self._take_in()
            if not isinstance(self.state, Done):
                self.state = Ready(next_power_limit=self._next_limit(), steps=1)

    def on_step_begin(self) -> None:
        if self._session is None and not self._may_open():
            return
        if not self._in_epoch:
            self.on_epoch_begin()
        self._epoch_is_unused = False
        self._session.begin_step()
        self._count_step()
        self._take_in()

    def on_step_end(self) -> None:
        """A step ends when the next one begins, or with its epoch."""

    def close(self) -> None:
        """Puts the GPUs back to what was found. A later step begins again, with what was measured before."""
        if self._session is not None:
            self._in_epoch = False
            self._epoch_is_unused = False
            # Ending the session does it, and waits for no other rank.
            self._session = None
            self.current_power_limit = 0
            _native.raise_interruption()

    def result(self) -> dict[str, Any]:
        """Time, energy and cost so far, by epoch, and in observer mode what they would have been at the optimum; plain
        values, as zeus/training_report.hpp explains them. Empty before the first step and after the end."""
        return self._session.result() if self._session is not None else {}

    # -- The session.

    def _may_open(self) -> bool:
        """Opens the session. With several ranks that is after the first step: no rank ends it before all have begun theirs, so
        all ranks that take part have reported by then."""
        if self._team.distributed and self._steps_before < 1:
            self._steps_before += 1
            return False
        self._open()
        return self._session is not None

    def _open(self) -> None:
        self._team.meet()
        if not self._team.joined:
            if not self.unoptimized:
                self.unoptimized = "this rank came too late to be optimized with the others"
                _warn(f"the power limit is left alone: {self.unoptimized}")
            return
        self._session = open_training(self._team, {**self._options(), "slices": self._slices}, _waiter_for(self.monitor))
        if self._in_epoch or self._known:
            # A profile that is known already is applied when the first epoch begins, without waiting for steps.
            self._session.begin_epoch()
            self._epoch_is_unused = not self._in_epoch
        self._take_in()

    def _options(self) -> dict[str, Any]:
        if self._own_cost:
            # The session knows how many GPUs all ranks have together.
            goal: Any = ("cost",)
        else:
            goal = goal_of(self.optimum_selector, self.profile_steps)
        options: dict[str, Any] = {
            "goal": goal,
            "limit_step_w": self.pl_step / 1000,
            "mode": "observe" if self._observe else "optimize",
            "try_clocks": self._clocks,
            "profiling": ("adaptive", 0.01, self.warmup_steps)
            if self._adaptive
            else ("sweep", self.warmup_steps, self.profile_steps),
            "warn": _warn,
            "wait_steps": max(0, self.wait_steps - self._steps_before),
            "drift_tolerance": 0.0,
        }
        setters = _daemon_setters(self.monitor.gpu_indices)
        if setters:
            options["set_limit"] = lambda gpu, limit_w: setters[gpu].set_power_management_limit(round(limit_w * 1000))
        if self._known:
            options["known_profile"] = self._known_profile()
        return options

    def _known_profile(self) -> tuple[str, int, list[tuple[float, int, float, float]]]:
        steps = self.profile_steps
        points = sorted(self._known, key=lambda each: -each.power_limit)
        measured = [(float(each.power_limit), steps, each.time / steps, each.energy / steps) for each in points]
        return get_gpus().get_name(self.monitor.gpu_indices[0]), len(self.monitor.gpu_indices), measured

    # -- Events of the session.

    def _take_in(self) -> None:
        self._slices.raise_refusal()
        for event in self._session.events():
            handler = getattr(self, f"_on_{event['event']}", None)
            if handler is not None:
                handler(event)

    def _on_SettingApplied(self, event: Event) -> None:
        limit = round(event["setting"]["limit_w"] * 1000)
        self.current_power_limit = limit
        if event["optimum"]:
            logger.info("the power limit is set to the optimal one, %g W", limit / 1000)
            self.state = Done(optimal_power_limit=limit)
        else:
            logger.info("the power limit is set to %g W for profiling", limit / 1000)
            self._begin_limit(limit)

    def _begin_limit(self, limit: int) -> None:
        if self.warmup_steps:
            self.state = Warmup(current_power_limit=limit, steps=self.warmup_steps)
        else:
            self.state = Profiling(current_power_limit=limit, steps=self.profile_steps)

    def _on_SettingsRestored(self, event: Event) -> None:
        logger.info("the GPUs are put back to what was found")
        self.current_power_limit = 0

    def _on_SliceMeasured(self, event: Event) -> None:
        self._lost.pop(_key_of(event["setting"]), None)
        measured = {"energy": event["energy_j"]["value"], "time": event["time_s"]}
        logger.info("at %g W the steps took %.6g J and %.6g s", event["setting"]["limit_w"], measured["energy"],
                    measured["time"])
        # A slice too short to have used any energy says nothing, and is no reason to stop training.
        with contextlib.suppress(ValidationError):
            self.measurements.append(PowerLimitMeasurement(power_limit=event["setting"]["limit_w"], **measured))

    def _on_SliceLost(self, event: Event) -> None:
        self._lost[_key_of(event["setting"])] = event["setting"]["limit_w"]
        if event["why"] not in self._losses_said:
            self._losses_said.add(event["why"])
            logger.warning("the steps at %g W could not be measured, and others will be: %s",
                           event["setting"]["limit_w"], event["why"])

    def _on_ProfilingDone(self, event: Event) -> None:
        if self._known:
            self.measurements = list(self._known)
        elif self.measurements:
            self._known = list(self.measurements)
            if self._lost:
                self._say_what_is_left_out()
            elif self.profile_path is not None and self._team.leads:
                _write_profile(self.profile_path, self.measurements)
        self.saving = _saving_of(event)
        if event["optimum"] is not None:
            logger.info("the optimal power limit is %g W", event["optimum"]["limit_w"])
            self.state = Done(optimal_power_limit=round(event["optimum"]["limit_w"] * 1000))

    def _say_what_is_left_out(self) -> None:
        logger.warning("the choice leaves out what could not be measured in three tries (%s W), and is compared with the highest limit "
                       "that was measured%s", ", ".join(f"{limit:g}" for limit in self._lost.values()),
                       f"; the profile is not written to {self.profile_path}" if self.profile_path is not None else "")
        self._lost.clear()

    def _on_Unoptimized(self, event: Event) -> None:
        self.unoptimized = event["why"]  # which the session has given to _warn

    def _count_step(self) -> None:
        """One step less in the present state; the session decides what follows."""
        if isinstance(self.state, Done):
            return
        if self.state.steps > 1:
            self.state.steps -= 1
        elif isinstance(self.state, Warmup):
            self.state = Profiling(current_power_limit=self.state.current_power_limit, steps=self.profile_steps)

    def _next_limit(self) -> int:
        """The highest limit that has not been measured."""
        measured = {round(each.power_limit * 1000) for each in self.measurements}
        return next((limit for limit in self.power_limits if limit not in measured), self.power_limits[-1])


def _key_of(setting: dict[str, Any]) -> tuple[float, float | None]:
    return setting["limit_w"], setting["clock_mhz"]


def _saving_of(done: Event) -> tuple[float, float | None] | None:
    """Which share of a step's energy the optimum saves beside the highest limit, and the half-width of its 95 % interval, which
    a profile from a file has not."""
    saving = done["saving"]
    return saving and (saving["share"], saving["half_width"] if done["steps"] > 0 else None)


class _Slices:
    """Measures slices with the given monitor; the session calls it. It does not refer to the optimizer, which could otherwise
    never be collected.
    """

    def __init__(self, monitor: ZeusMonitor) -> None:
        self._monitor = monitor
        # A user's own monitor says how long a slice took, and what is wrong with it is for the user to see.
        kind = type(monitor)
        self._is_ours = (kind.begin_window, kind.end_window) == (ZeusMonitor.begin_window, ZeusMonitor.end_window)
        self.shortest = _SHORTEST_SLICE if self._is_ours else 0.0  # in s
        self._window = ""
        self._refusal: Exception | None = None

    def begin(self, limit_w: float) -> None:
        self._window = f"__GlobalPowerLimitOptimizer_{int(limit_w)}"
        with self._refusals():
            self._monitor.begin_window(self._window, **self._waiting())

    def end(self) -> tuple[float, dict[int, tuple[float, float, float | None, str]]]:
        with self._refusals():
            return _readings_of(self._monitor.end_window(self._window, **self._waiting()))

    def cancel(self) -> None:
        with self._refusals():
            self._monitor.end_window(self._window, cancel=True, **self._waiting())

    def _waiting(self) -> dict[str, bool]:
        """A program without the framework trains on no GPU of its own: there is nothing to wait for, or to warn about."""
        return {} if self._monitor.sync_with in sys.modules else {"sync_execution": False}

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if not self._is_ours:
                self._refusal = error
            raise

    def raise_refusal(self) -> None:
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal


def _readings_of(measured: Measurement) -> tuple[float, dict[int, tuple[float, float, float | None, str]]]:
    """Seconds and, by GPU, joules, their uncertainty, their calibration bound, and why there are none. A measurement without an
    uncertainty, such as a replayed one, is taken as exact."""
    known = getattr(measured, "details", None)
    details = known.gpu if known is not None else {}
    energies = {}
    for gpu, joules in measured.gpu_energy.items():
        detail = details.get(gpu)
        reason = "" if math.isfinite(joules) else (detail.reason if detail is not None else "") or "its energy is unknown"
        if detail is not None and measured.time < _SHORTEST_SLICE:
            reason = f"{measured.time:.3g} s are too short to be measured: give each limit more steps"
        uncertainty = detail.uncertainty if detail is not None else None
        energies[gpu] = (joules, uncertainty or 0.0, detail.systematic if detail is not None else None, reason)
    return measured.time, energies


def _daemon_setters(gpu_indices: Sequence[int]) -> dict[int, ZeusdGPU]:
    """The GPUs that a daemon without leases sets, if this process may not; empty if it may, or if there is none. A lease of zeusd
    is taken like one of this process."""
    gpus = get_gpus().gpus
    setters = {index: gpu for index in gpu_indices if isinstance(gpu := gpus[index], ZeusdGPU)}
    if has_sys_admin() or len(setters) < len(gpu_indices) or all(gpu.gives_leases for gpu in setters.values()):
        return {}
    global _daemon_said
    if not _daemon_said:
        _daemon_said = True
        logger.warning("power limits are set through the daemon, which has no leases: they are put back when this process ends "
                       "normally; after it is killed, they stay until zeus-cpp sets the next limit here, or you do")
    return setters


_daemon_said = False


def _warn(line: str) -> None:
    warn(logger, line)


def _waiter_for(monitor: ZeusMonitor) -> Callable[[], None]:
    """Does not refer to the optimizer, which could otherwise never be collected: the session keeps this object."""

    def synchronize() -> None:
        if monitor.sync_with in sys.modules:
            sync_execution(list(monitor.gpu_indices), monitor.sync_with)

    return synchronize


def _limits_of(gpu_indices: Sequence[int], step_mw: int) -> list[int]:
    """In mW, in steps from the highest down to the lowest."""
    gpus = get_gpus()
    ranges = {index: gpus.get_power_management_limit_constraints(index) for index in gpu_indices}
    if len(set(ranges.values())) > 1:
        shown = ", ".join(f"{gpus.gpus[index]}: {low / 1000:g} to {high / 1000:g} W" for index, (low, high) in ranges.items())
        raise ValueError(f"the GPUs' ranges of power limits differ, so no limit suits all of them ({shown})")
    low, high = next(iter(ranges.values()))
    return list(range(high, low - 1, -step_mw))


def _read_profile(path: Path | None) -> list[PowerLimitMeasurement]:
    """The saved profile; empty if there is no file, or if it cannot be used, which is logged."""
    if path is None or not path.exists():
        return []
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        measurements = [PowerLimitMeasurement.parse_obj(each) for each in values["measurements"]]
        if not measurements:
            raise ValueError("it contains no measurements")
    except (OSError, ValueError, TypeError, KeyError) as error:
        logger.warning("the power profile %s cannot be used, so the limits are profiled again: %s", path, error)
        return []
    return measurements


def _write_profile(path: Path, measurements: Sequence[PowerLimitMeasurement]) -> None:
    """Replaces the whole file; a profile that cannot be written is logged, and only that profile is lost."""
    content = json.dumps({"measurements": [each.dict() for each in measurements]}, indent=4)
    try:
        write_whole(path, content)
        logger.info("the power profile is written to %s", path)
    except OSError as error:
        logger.warning("the power profile could not be written to %s: %s", path, error)


def _close_at_exit(optimizer: GlobalPowerLimitOptimizer) -> None:
    """Python may end without collecting the optimizer; then this finishes its session while the interpreter still runs."""
    reference = weakref.ref(optimizer)
    process = os.getpid()

    def close() -> None:
        alive = reference()
        if alive is not None and os.getpid() == process:
            alive.close()

    atexit.register(close)


# Its base class is in transformers, which takes seconds to import: it is imported only when this name is used.
__getattr__ = importer(__name__, dict.fromkeys(
    ("HFGlobalPowerLimitOptimizer", "TrainerCallback", "transformers_available"), "zeus_cpp.optimizer._power_limit_hf"))
