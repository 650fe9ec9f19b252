"""Power of GPUs over time."""

from __future__ import annotations

import enum
import time
import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from zeus_cpp._logger import logger_of
from zeus_cpp.device.gpu import get_gpus
from zeus_cpp.device.gpu.common import GPU, ZeusGPUNotSupportedError
from zeus_cpp.device.gpu.native import NativeGPU
from zeus_cpp.monitor.timeline import Timeline

logger = logger_of(__name__)

_SHORTEST_PERIOD = 0.01
_LONGEST_PERIOD = 0.1


class PowerDomain(enum.Enum):
    """Which power: of which part, and averaged over which time."""

    DEVICE_INSTANT = "device_instant"
    DEVICE_AVERAGE = "device_average"
    MEMORY_AVERAGE = "memory_average"


@dataclass
class PowerSample:
    """One reading."""

    timestamp: float  # seconds since 1970
    gpu_index: int
    power_mw: float


def _domain(named: PowerDomain | str) -> PowerDomain:
    try:
        return PowerDomain(named)
    except ValueError:
        names = ", ".join(each.value for each in PowerDomain)
        raise ValueError(f"{named!r} is not a power domain; the domains are: {names}") from None


def _watch_changes(gpu: GPU) -> list[float]:
    """Watches a GPU's power for a quarter of a second, and returns the seconds between its changes."""
    try:
        gpu.get_instant_power_usage()
        read = gpu.get_instant_power_usage
    except ZeusGPUNotSupportedError:
        read = gpu.get_average_power_usage
    gaps = []
    began = time.monotonic()
    former, changed = read(), None
    while (now := time.monotonic()) < began + 0.25:
        value = read()
        if value != former:
            if changed is not None:
                gaps.append(now - changed)
            former, changed = value, now
        time.sleep(0.001)
    return gaps


def infer_counter_update_period(gpu_indicies: Sequence[int]) -> float:
    """The period at which no change of the GPUs' power is missed: half of the time between changes.

    Watches one GPU of each model; if the power stands still, or changes slowly, the period is 0.1 s.
    """
    gpus = get_gpus()
    models = {gpus.get_name(index): gpus.gpus[index] for index in gpu_indicies}
    period = _LONGEST_PERIOD
    for gpu in models.values():
        try:
            gaps = _watch_changes(gpu)
        except ZeusGPUNotSupportedError:
            continue
        if len(gaps) >= 2:
            period = min(period, sorted(gaps)[len(gaps) // 2] / 2)
    return max(period, _SHORTEST_PERIOD)


def _quantity(gpu: GPU, domain: PowerDomain) -> str | None:
    """The native library's name for this GPU's power of that domain; None if it has none."""
    if not isinstance(gpu, NativeGPU):
        return None
    try:
        if domain is PowerDomain.MEMORY_AVERAGE:
            gpu.get_average_memory_power_usage()
            return "memory_average"
        kind, scope = gpu.power_quantity("instant" if domain is PowerDomain.DEVICE_INSTANT else "average")
    except ZeusGPUNotSupportedError:
        return None
    return kind if scope == "gpu" else f"{scope}_{kind}"


class PowerMonitor:
    """Reads the power of GPUs at a steady pace, in a thread of the native library, until it is stopped or collected.

    The GPUs may be of different models. In a forked child a monitor is stopped and empty.

    Args:
        gpu_indices: GPUs to watch; None: all that can be seen.
        update_period: Seconds between readings; None: found out by watching.
        max_samples_per_gpu: How many values to keep for each GPU; None: all.
        power_domains: What to watch; None: all that every one of the GPUs has.
    """

    def __init__(
        self,
        gpu_indices: Sequence[int] | None = None,
        update_period: float | None = None,
        max_samples_per_gpu: int | None = None,
        power_domains: Sequence[PowerDomain | str] | None = None,
    ) -> None:
        if gpu_indices is not None and not gpu_indices:
            raise ValueError("gpu_indices is empty: there is nothing to watch")
        if power_domains is not None and not power_domains:
            raise ValueError("power_domains is empty: there is nothing to watch")
        gpus = get_gpus()
        self.gpu_indices = list(range(len(gpus))) if gpu_indices is None else list(gpu_indices)
        quantities = {
            domain: {index: _quantity(gpus._one(index), domain) for index in self.gpu_indices} for domain in PowerDomain
        }
        supported = [domain for domain in PowerDomain if all(quantities[domain].values())]
        wanted = supported if power_domains is None else [_domain(domain) for domain in power_domains]
        for domain in wanted:
            if domain not in supported:
                names = ", ".join(each.value for each in supported) or "none"
                raise ValueError(f"{domain.value} is not supported by all of the GPUs; supported are: {names}")
        if update_period is not None and update_period <= 0:
            raise ValueError(f"update_period is {update_period}; it must be positive")
        if update_period is not None and update_period < _SHORTEST_PERIOD:
            logger.warning("an update period of %g s is shorter than that of any GPU", update_period)
        if PowerDomain.DEVICE_INSTANT not in wanted:
            logger.warning("instant power is not watched, so energies will come from averaged power")
        self.update_period = infer_counter_update_period(self.gpu_indices) if update_period is None else update_period
        self.measurement_domains = list(dict.fromkeys(wanted))
        self._most_samples = max_samples_per_gpu
        self._timelines: dict[PowerDomain, dict[int, Timeline]] = {}
        for domain in self.measurement_domains:
            self._timelines[domain] = self._watch(quantities[domain], max_samples_per_gpu)

    def _watch(self, quantities: dict[int, str | None], most: int | None) -> dict[int, Timeline]:
        """One timeline for all GPUs whose power has the same name."""
        timelines: dict[int, Timeline] = {}
        for quantity in dict.fromkeys(quantities.values()):
            if quantity is not None:
                gpus = [index for index, name in quantities.items() if name == quantity]
                timelines.update(dict.fromkeys(gpus, Timeline(quantity, gpus, self.update_period, most)))
        return timelines

    def _of_domain(self, named: PowerDomain | str) -> dict[int, Timeline]:
        domain = _domain(named)
        if domain not in self._timelines:
            names = ", ".join(each.value for each in self.measurement_domains)
            raise ValueError(f"{domain.value} is not being monitored; monitored are: {names}")
        return self._timelines[domain]

    @property
    def samples(self) -> dict[PowerDomain, dict[int, deque[PowerSample]]]:
        """The readings so far, for each domain and GPU: only changes of power, not every reading."""
        return {
            domain: {
                index: deque((PowerSample(at, index, power * 1000) for at, power in timeline.points(index, None, None)),
                             maxlen=self._most_samples)
                for index, timeline in timelines.items()
            }
            for domain, timelines in self._timelines.items()
        }

    def get_power_timeline(
        self,
        power_domain: PowerDomain | str,
        gpu_index: int | None = None,
        start_time: float | None = None,
        end_time: float | None = None,
    ) -> dict[int, list[tuple[float, float]]]:
        """(seconds since 1970, W) of each GPU, or of one, within the bounds; the power follows straight lines between them."""
        return {
            index: [(at, power) for at, power in timeline.points(index, start_time, end_time)]
            for index, timeline in self._of_domain(power_domain).items()
            if gpu_index is None or index == gpu_index
        }

    def get_all_power_timelines(
        self, gpu_index: int | None = None, start_time: float | None = None, end_time: float | None = None
    ) -> dict[str, dict[int, list[tuple[float, float]]]]:
        """The same for each domain, by its value."""
        return {
            domain.value: self.get_power_timeline(domain, gpu_index, start_time, end_time)
            for domain in self.measurement_domains
        }

    def get_energy(
        self, start_time: float, end_time: float, power_domain: PowerDomain | str | None = None
    ) -> dict[int, float] | None:
        """J of each GPU between two times, from its power; a warning if it was not watched all the time."""
        if power_domain is None:
            for power_domain in (PowerDomain.DEVICE_INSTANT, PowerDomain.DEVICE_AVERAGE):
                if power_domain in self._timelines:
                    break
            else:
                raise ValueError("Neither instant nor average power of the devices is being monitored")
        energies = {}
        for index, timeline in self._of_domain(power_domain).items():
            energies[index], unwatched = timeline.integral(index, start_time, end_time)
            if unwatched > 2 * self.update_period:
                warnings.warn(f"the power of {get_gpus().gpus[index]} was not watched for {unwatched:.3g} s of the requested "
                              "time; their energy is left out", stacklevel=2)
        return energies

    def get_power(
        self, time: float | None = None, power_domain: PowerDomain | str = PowerDomain.DEVICE_INSTANT
    ) -> dict[int, float] | None:
        """W of each GPU now, or nearest to a time; None if some GPU has not been read yet."""
        powers = {index: timeline.value_at(index, time) for index, timeline in self._of_domain(power_domain).items()}
        return {index: power for index, power in powers.items() if power is not None} if all(
            power is not None for power in powers.values()) else None

    def stop(self) -> None:
        """Stops reading; what was read stays."""
        for timelines in self._timelines.values():
            for timeline in timelines.values():
                timeline.stop()

    def __enter__(self) -> PowerMonitor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.stop()
