"""Temperature of GPUs over time."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from zeus_cpp.device.gpu import get_gpus
from zeus_cpp.monitor.timeline import Timeline


@dataclass
class TemperatureSample:
    """One reading."""

    timestamp: float  # seconds since 1970
    gpu_index: int
    temperature_c: int


class TemperatureMonitor:
    """Reads the temperature of GPUs at a steady pace, in a thread of the native library, until it is stopped or collected.

    Args:
        gpu_indices: GPUs to watch; None: all that can be seen.
        update_period: Seconds between readings.
        max_samples_per_gpu: How many values to keep for each GPU; None: all.
    """

    def __init__(self, gpu_indices: Sequence[int] | None = None, update_period: float = 1.0,
                 max_samples_per_gpu: int | None = None) -> None:
        if gpu_indices is not None and not gpu_indices:
            raise ValueError("gpu_indices is empty: there is nothing to watch")
        if update_period <= 0:
            raise ValueError(f"update_period is {update_period}; it must be positive")
        gpus = get_gpus()
        self.gpu_indices = list(range(len(gpus))) if gpu_indices is None else list(gpu_indices)
        for index in self.gpu_indices:
            gpus._one(index)
        self.update_period = update_period
        self._timeline = Timeline("temperature", self.gpu_indices, update_period, max_samples_per_gpu)
        for index in self.gpu_indices:
            trouble = self._timeline.trouble(index)
            if trouble:
                warnings.warn(f"{gpus.gpus[index]} does not report its temperature: {trouble}", stacklevel=2)

    @property
    def temperature_samples(self) -> dict[int, deque[TemperatureSample]]:
        """The readings of each GPU, oldest first."""
        return {index: deque(TemperatureSample(at, index, value) for at, value in points)
                for index, points in self.get_temperature_timeline().items()}

    def get_temperature_timeline(
        self, gpu_index: int | None = None, start_time: float | None = None, end_time: float | None = None
    ) -> dict[int, list[tuple[float, int]]]:
        """(seconds since 1970, degrees Celsius) of each GPU, or of one, within the bounds."""
        return {
            index: [(at, round(value)) for at, value in self._timeline.points(index, start_time, end_time)]
            for index in self.gpu_indices
            if gpu_index is None or index == gpu_index
        }

    def get_temperature(self, time: float | None = None) -> dict[int, int] | None:
        """Degrees Celsius of each GPU now, or nearest to a time; None if some GPU has not been read yet."""
        values = {index: self._timeline.value_at(index, time) for index in self.gpu_indices}
        known = {index: round(value) for index, value in values.items() if value is not None}
        return known if len(known) == len(values) else None

    def stop(self) -> None:
        """Stops reading; what was read stays."""
        self._timeline.stop()

    def __enter__(self) -> TemperatureMonitor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.stop()
