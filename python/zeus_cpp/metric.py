"""Energy and power as metrics of Prometheus: pushed to a Pushgateway, or on a page to be scraped.

    histogram = EnergyHistogram([], [0], "http://localhost:9091", job="training")
    histogram.begin_window("step")
    train()
    histogram.end_window("step")

Threads push, so no window waits for a gateway.
"""

from __future__ import annotations

import abc
import math
import queue
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Callable

from zeus_cpp import _exposition
from zeus_cpp._exposition import Page, Registry
from zeus_cpp._logger import logger_of
from zeus_cpp.device.cpu import get_cpus
from zeus_cpp.exception import ZeusBaseError
from zeus_cpp.monitor.energy import ZeusMonitor
from zeus_cpp.monitor.measurement import Measurement
from zeus_cpp.monitor.power import PowerMonitor
from zeus_cpp.utils.framework import sync_execution as synchronize_with_framework

__all__ = [
    "EnergyCumulativeCounter", "EnergyHistogram", "Metric", "MonitoringProcessState", "PowerGauge", "energy_monitoring_loop",
    "power_monitoring_loop", "serve_metrics",
]

logger = logger_of(__name__)


def serve_metrics(port: int, address: str = "127.0.0.1") -> Page:
    """A page with all metrics of this process, for Prometheus to scrape; `page.url` is where. Each has its `job` as a label.

    Args:
        port: Any free one if it is 0.
        address: This machine alone by default. The page has no password.
    """
    return Page(port, address)


@dataclass
class MonitoringProcessState:
    """A window that is open: what is put into `queue` ends its thread, which is `proc`."""

    queue: Any
    proc: Any


class Metric(abc.ABC):
    """Something that is measured in windows. Any thread may call it."""

    @abc.abstractmethod
    def begin_window(self, name: str, sync_execution: bool = True) -> None:
        """Opens a window."""

    @abc.abstractmethod
    def end_window(self, name: str, sync_execution: bool = True) -> None:
        """Closes a window."""


class _Pushed(Metric):
    """Has a registry, and a gateway if `pushgateway_url` is not empty."""

    def _set_up(self, pushgateway_url: str | None, job: str, grouping_key: Mapping[str, str] | None) -> None:
        self.pushgateway_url = pushgateway_url
        self.job = job
        self.registry: Registry = _exposition.registry_of(job, grouping_key)
        self._pusher = _exposition.pusher_of(pushgateway_url, self.registry) if pushgateway_url else None

    def _push(self) -> None:
        if self._pusher is not None:
            self._pusher.push()


def _any_counts_memory() -> bool:
    with suppress(ZeusBaseError):
        return any(cpu.supports_get_dram_energy_consumption() for cpu in get_cpus().cpus)
    return False


def _energies(measurement: Measurement) -> list[tuple[str, int, float]]:
    """Kind of device, index and energy of all that are known."""
    kinds = (("gpu", measurement.gpu_energy), ("cpu", measurement.cpu_energy), ("dram", measurement.dram_energy))
    return [(kind, index, energy) for kind, energies in kinds for index, energy in (energies or {}).items() if math.isfinite(energy)]


class EnergyHistogram(_Pushed):
    """Histograms of the energy of windows, in joules: `energy_monitor_gpu_energy_joules`, and the same of CPU packages and
    memory. An unknown energy is not counted.

    Args:
        cpu_indices: CPU packages to measure.
        gpu_indices: GPUs to measure.
        pushgateway_url: With or without `http://`. If it is empty, the metrics are on the page of `serve_metrics` alone.
        job: A gateway keeps what was pushed last for each job, so processes need different ones, or a `grouping_key`.
        gpu_bucket_range: Upper bounds, and so are the next two.
        grouping_key: More labels that tell processes apart, for example {"instance": "rank-3"}.
    """

    def __init__(
        self,
        cpu_indices: list[int],
        gpu_indices: list[int],
        pushgateway_url: str | None,
        job: str,
        gpu_bucket_range: Sequence[float] = [50.0, 100.0, 200.0, 500.0, 1000.0],  # noqa: B006
        cpu_bucket_range: Sequence[float] = [10.0, 50.0, 100.0, 500.0, 1000.0],  # noqa: B006
        dram_bucket_range: Sequence[float] = [5.0, 10.0, 20.0, 50.0, 150.0],  # noqa: B006
        *,
        grouping_key: Mapping[str, str] | None = None,
    ) -> None:
        self.cpu_indices = cpu_indices
        self.gpu_indices = gpu_indices
        self.gpu_bucket_range = gpu_bucket_range
        self.cpu_bucket_range = cpu_bucket_range
        self.dram_bucket_range = dram_bucket_range
        for device, buckets in (("GPU", gpu_bucket_range), ("CPU", cpu_bucket_range), ("DRAM", dram_bucket_range)):
            if not buckets or not all(math.isfinite(each) for each in buckets):
                raise ValueError(f"the {device} bucket range must have at least one number, and only numbers; leave it out for the default")
        self.min_gpu_bucket, self.max_gpu_bucket = min(gpu_bucket_range), max(gpu_bucket_range)
        self.min_cpu_bucket, self.max_cpu_bucket = min(cpu_bucket_range), max(cpu_bucket_range)
        self.min_dram_bucket, self.max_dram_bucket = min(dram_bucket_range), max(dram_bucket_range)
        self._set_up(pushgateway_url, job, grouping_key)
        if gpu_indices:
            self.gpu_histograms = self.registry.family("energy_monitor_gpu_energy_joules", gpu_bucket_range)
        if cpu_indices:
            self.cpu_histograms = self.registry.family("energy_monitor_cpu_energy_joules", cpu_bucket_range)
            if _any_counts_memory():
                self.dram_histograms = self.registry.family("energy_monitor_dram_energy_joules", dram_bucket_range)
        self.energy_monitor = ZeusMonitor(gpu_indices, cpu_indices)

    def begin_window(self, name: str, sync_execution: bool = True) -> None:
        """Opens a window; a ValueError if one with this name is open."""
        self.energy_monitor.begin_window(f"__EnergyHistogram_{name}", sync_execution=sync_execution)

    def end_window(self, name: str, sync_execution: bool = True) -> None:
        """Closes a window, counts its energies, and has them pushed. Warns of those outside all buckets."""
        measurement = self.energy_monitor.end_window(f"__EnergyHistogram_{name}", sync_execution=sync_execution)
        for kind, index, energy in _energies(measurement):
            getattr(self, f"{kind}_histograms").observe((str(name), str(index)), energy)
            least, most = getattr(self, f"min_{kind}_bucket"), getattr(self, f"max_{kind}_bucket")
            if not least <= energy <= most:
                warnings.warn(f"the energy {energy:.4g} J of {kind.upper()} {index} in window {name!r} is outside the buckets, which "
                              f"are from {least:g} to {most:g} J", stacklevel=2)
        self._push()


class _Ticking(_Pushed):
    """Windows during which a thread does something every `update_period` seconds."""

    def _set_up_ticking(self, update_period: float) -> None:
        if not update_period > 0:
            raise ValueError(f"the update period must be above 0 s, not {update_period}")
        self.update_period = update_period
        self.window_state: dict[str, MonitoringProcessState] = {}

    def _start(self, name: str, tick: Callable[[], None]) -> None:
        ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        thread = threading.Thread(target=self._repeat, args=(ended, tick), name="zeus-metric", daemon=True)
        self.window_state[name] = MonitoringProcessState(ended, thread)
        thread.start()

    def _repeat(self, ended: queue.SimpleQueue[str], tick: Callable[[], None]) -> None:
        due = time.monotonic() + self.update_period
        while True:
            with suppress(queue.Empty):
                ended.get(timeout=max(0.0, due - time.monotonic()))
                return
            try:
                tick()
            except Exception as error:  # noqa: BLE001  the next one may succeed: a GPU that was lost comes back
                logger.warning("cannot update the metrics of job %r: %s", self.job, error)
            due = max(due + self.update_period, time.monotonic())


class _CountedWindow(_exposition.Locked):
    """The open window of a counter, in parts: each tick ends one. The next has begun by then, so no energy is lost."""

    def __init__(self, counter: EnergyCumulativeCounter, name: str) -> None:
        self._counter = counter
        self._name = str(name)
        super().__init__()
        self._parts = 0
        self._ended = False
        self._monitor.begin_window(self._part, sync_execution=False)

    @property
    def _monitor(self) -> ZeusMonitor:
        return self._counter.energy_monitor

    @property
    def _part(self) -> str:
        return f"__EnergyCumulativeCounter_{self._name}_{self._parts}"

    def tick(self, last: bool = False) -> None:
        with self.lock:
            if self._ended:
                return
            self._ended = last
            part = self._part
            self._parts += 1
            if not last:
                self._monitor.begin_window(self._part, sync_execution=False)
            for kind, index, energy in _energies(self._monitor.end_window(part, sync_execution=False)):
                self._counter.registry.family(f"energy_monitor_{kind}_energy_joules_total").add((self._name, str(index)), max(energy, 0.0))
        self._counter._push()


class EnergyCumulativeCounter(_Ticking):
    """Counters of the energy within windows, in joules: `energy_monitor_gpu_energy_joules_total`, and the same of CPU packages
    and memory. A second window with the same name goes on counting.

    Args:
        update_period: Seconds between two updates; the end of a window is one as well.
        cpu_indices: As of EnergyHistogram, and so is the rest.
    """

    def __init__(
        self,
        cpu_indices: list[int],
        gpu_indices: list[int],
        update_period: int,
        pushgateway_url: str | None,
        job: str,
        *,
        grouping_key: Mapping[str, str] | None = None,
    ) -> None:
        self.cpu_indices = cpu_indices
        self.gpu_indices = gpu_indices
        self._set_up(pushgateway_url, job, grouping_key)
        self._set_up_ticking(update_period)
        self.energy_monitor = ZeusMonitor(gpu_indices, cpu_indices)
        self._windows: dict[str, _CountedWindow] = {}

    def begin_window(self, name: str, sync_execution: bool = False) -> None:
        """Opens a window; a ValueError if one with this name is open."""
        if name in self._windows:
            raise ValueError(f"a window {name!r} of this counter already exists; end it first")
        if sync_execution:
            synchronize_with_framework(self.gpu_indices)
        self._windows[name] = _CountedWindow(self, name)
        self._start(name, self._windows[name].tick)

    def end_window(self, name: str, sync_execution: bool = False) -> None:
        """Closes a window; a ValueError if there is none of this name."""
        if name not in self._windows:
            raise ValueError(f"a window {name!r} of this counter does not exist; begin it first")
        if sync_execution:
            synchronize_with_framework(self.gpu_indices)
        self._windows.pop(name).tick(last=True)
        self.window_state.pop(name).queue.put("stop")


class PowerGauge(_Ticking):
    """The power of GPUs in windows, in watts: `power_monitor_gpu_power_watts`.

    Args:
        gpu_indices: As of EnergyHistogram, and so is the rest.
        update_period: Seconds between two updates.
    """

    def __init__(
        self,
        gpu_indices: list[int],
        update_period: int,
        pushgateway_url: str | None,
        job: str,
        *,
        grouping_key: Mapping[str, str] | None = None,
    ) -> None:
        self.gpu_indices = gpu_indices
        self._set_up(pushgateway_url, job, grouping_key)
        self._set_up_ticking(update_period)
        self._monitors: dict[str, PowerMonitor] = {}

    def begin_window(self, name: str, sync_execution: bool = False) -> None:
        """Opens a window; a ValueError if one with this name is open."""
        if name in self._monitors:
            raise ValueError(f"a window {name!r} of this gauge already exists; end it first")
        if sync_execution:
            synchronize_with_framework(self.gpu_indices)
        monitor = self._monitors[name] = PowerMonitor(self.gpu_indices)
        gauge = self.registry.family("power_monitor_gpu_power_watts")

        def tick() -> None:
            for index, watts in (monitor.get_power() or {}).items():
                if math.isfinite(watts):
                    gauge.set((str(name), str(index)), watts)
            self._push()

        self._start(name, tick)

    def end_window(self, name: str, sync_execution: bool = False) -> None:
        """Closes a window; a KeyError if there is none of this name. The gauge keeps what it read last."""
        if name not in self._monitors:
            raise KeyError(f"a window {name!r} of this gauge does not exist; begin it first")
        if sync_execution:
            synchronize_with_framework(self.gpu_indices)
        self.window_state.pop(name).queue.put("stop")
        self._monitors.pop(name).stop()


def _until_something_comes(metric: Metric, name: str, pipe: Any) -> None:
    metric.begin_window(name, sync_execution=False)
    pipe.get()
    metric.end_window(name, sync_execution=False)
    _exposition.flush()


def energy_monitoring_loop(
    name: str, pipe: Any, cpu_indices: list[int], gpu_indices: list[int], update_period: int, pushgateway_url: str, job: str
) -> None:
    """Counts energy in this thread until something is in the queue `pipe`."""
    _until_something_comes(EnergyCumulativeCounter(cpu_indices, gpu_indices, update_period, pushgateway_url, job), name, pipe)


def power_monitoring_loop(
    name: str, pipe: Any, gpu_indices: list[int], update_period: int, pushgateway_url: str, job: str
) -> None:
    """Reads power in this thread until something is in the queue `pipe`."""
    _until_something_comes(PowerGauge(gpu_indices, update_period, pushgateway_url, job), name, pipe)
