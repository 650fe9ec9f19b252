"""What trainers' logs say about energy, and the way to the trackers that get it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable

from zeus_cpp._logger import logger_of, warn
from zeus_cpp.exception import ZeusNotFoundError
from zeus_cpp.monitor import Measurement, ZeusMonitor
from zeus_cpp.optimizer.power_limit import GlobalPowerLimitOptimizer

if TYPE_CHECKING:
    from zeus_cpp.monitor.measurement import EnergyDetail

logger = logger_of(__name__)

Values = dict[str, float]


class EnergyLog:
    """The numbers of one training, by the names that docs/python_training.md lists. Joules, seconds, watts; `NAME_half_width`
    is that of the 95 % interval of `NAME`. What is unknown is left out, since trackers draw NaN as they like."""

    TRAINING = "zeus.training"
    EPOCH = "zeus.epoch"

    def __init__(self, monitor: ZeusMonitor) -> None:
        self._monitor = monitor
        self._windows: dict[str, Values] = {}

    def begin_training(self) -> None:
        self._windows.clear()
        self._monitor.begin_window(self.TRAINING, restart=True)

    def end_training(self) -> None:
        for window in (self.TRAINING, self.EPOCH):
            if window in self._monitor.measurement_states:
                self._monitor.end_window(window, sync_execution=False, cancel=True)

    def begin_epoch(self) -> None:
        self._monitor.begin_window(self.EPOCH, restart=True)

    def end_epoch(self) -> Values:
        measured = self._monitor.end_window(self.EPOCH)
        return {**_energies("train_energy", _total(measured)), "train_time": measured.time}

    def so_far(self, callbacks: Iterable[object]) -> Values:
        """The whole training up to now, windows since the last call, and what an optimizer among the callbacks has chosen. Empty
        outside of a training."""
        try:
            measured = self._monitor.so_far(self.TRAINING)
        except ZeusNotFoundError:
            return {}
        values = {**_energies("total_energy", _total(measured)), "total_time": measured.time}
        windows, self._windows = self._windows, {}
        for window in windows.values():
            values.update(window)
        return {**values, **_choice(callbacks)}

    def add(self, measured: Measurement) -> None:
        """Adds a window of the program's own to the next entry, which has the sum of those with one name. The half-widths add
        up too, since windows that follow one another share the errors of an edge."""
        name = "window_" + re.sub(r"[^0-9A-Za-z_.-]", "_", measured.details.name if measured.details else "")  # as trackers want it
        sums = self._windows.setdefault(name, {})
        for key, value in {**_energies(f"{name}_energy", _total(measured)), f"{name}_time": measured.time}.items():
            sums[key] = sums.get(key, 0.0) + value


class Trackers:
    """Gives values to trackers, which are other projects' code, often on a network. One that raises, or that took longer than
    PATIENCE for a call, is named once and gets no more."""

    PATIENCE = 5.0  # s

    def __init__(self) -> None:
        self._left_out: list[object] = []

    def give(self, tracker: object, give: Callable[[Any], object]) -> None:
        if any(each is tracker for each in self._left_out):
            return
        begun = time.monotonic()
        try:
            give(tracker)
            taken = time.monotonic() - begun
            trouble = f"it took {taken:.1f} s for one entry" if taken > self.PATIENCE else ""
        except Exception as error:
            trouble = f"{type(error).__name__}: {error}"
        if trouble:
            self._left_out.append(tracker)
            warn(logger, f"{type(tracker).__name__} gets no energies any more, and the training goes on: {trouble}")


def _total(measured: Measurement) -> EnergyDetail | None:
    return measured.details.total if measured.details else None


def _energies(name: str, detail: EnergyDetail | None) -> Values:
    if detail is None or detail.value is None or detail.uncertainty is None:
        return {}
    return {name: detail.value, f"{name}_half_width": detail.uncertainty}


def _choice(callbacks: Iterable[object]) -> Values:
    values: Values = {}
    for callback in callbacks:
        optimizer: Any = getattr(callback, "optimizer", None)
        if not isinstance(optimizer, GlobalPowerLimitOptimizer):
            continue
        if optimizer.current_power_limit:
            values["power_limit"] = optimizer.current_power_limit / 1000
        if optimizer.saving is not None:
            saved, half_width = optimizer.saving
            values["saved_energy_percent"] = 100 * saved
            if half_width is not None:
                values["saved_energy_percent_half_width"] = 100 * half_width
    return values
