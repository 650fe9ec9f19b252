"""The measurement of a window, and how certain it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from zeus_cpp._installation import public_name

if TYPE_CHECKING:
    from zeus_cpp import _native
    from zeus_cpp.device.soc.common import SoCMeasurement


@dataclass(frozen=True)
class EnergyDetail:
    """One energy with its uncertainty. If the energy is unknown, all but the strings are None. `str()` makes
    "63.04 ± 0.41 J" of it, or "unknown (the reason)"."""

    value: float | None  # J
    uncertainty: float | None  # half-width of the 95 % interval, J
    systematic: float | None  # bound of the calibration error, which no repetition removes, J; unknown for most GPUs
    method: str | None  # "counter", "integrated" or "estimate"
    reason: str  # why it is unknown; empty if it is known
    remark: str  # what a careful reader should know about it; usually empty

    def __str__(self) -> str:
        if self.value is None or self.uncertainty is None:
            return f"unknown ({self.reason})"
        from zeus_cpp import _native

        return _native.energy_text(self.value, self.uncertainty)


@dataclass(frozen=True)
class ThrottleDetail:
    """How long each cause held a GPU's clocks back, in seconds; None if the driver does not count it."""

    power_cap: float | None
    thermal: float | None


@dataclass(frozen=True)
class WindowDetails:
    """Everything that is known about a window."""

    name: str  # as in the log
    start: float  # seconds on the machine's monotonic clock, like time.monotonic()
    end: float
    start_wall: float  # seconds since 1970
    settled: bool  # waiting longer would not change it
    gpu: dict[int, EnergyDetail]
    cpu: dict[int, EnergyDetail]
    dram: dict[int, EnergyDetail]
    total: EnergyDetail  # of all GPUs; unknown if one of them is
    throttle: dict[int, ThrottleDetail]


def _details_of(window: _native.Window) -> WindowDetails:
    def each(details: dict[int, tuple[Any, ...]]) -> dict[int, EnergyDetail]:
        return {index: EnergyDetail(*detail) for index, detail in details.items()}

    return WindowDetails(
        name=window.name,
        start=window.start,
        end=window.end,
        start_wall=window.start_wall,
        settled=window.settled,
        gpu=each(window.gpu_details),
        cpu=each(window.cpu_details),
        dram=each(window.dram_details),
        total=EnergyDetail(*window.total_details),
        throttle={index: ThrottleDetail(*times) for index, times in window.throttle.items()},
    )


def _details_from(plain: dict[str, Any]) -> WindowDetails:
    """The opposite of `asdict`."""

    def each(details: dict[int, dict[str, Any]]) -> dict[int, EnergyDetail]:
        return {index: EnergyDetail(**detail) for index, detail in details.items()}

    energies = {name: each(plain[name]) for name in ("gpu", "cpu", "dram")}
    throttle = {index: ThrottleDetail(**times) for index, times in plain["throttle"].items()}
    return WindowDetails(**{**plain, **energies, "total": EnergyDetail(**plain["total"]), "throttle": throttle})


# Names a slot of a Measurement; as an annotation it would be a field.
_keep = object.__setattr__


@dataclass
class Measurement:
    """The time and energy of a window.

    An unknown energy (the counter was reset, the GPU was lost, the process was forked) is NaN here, and `details` has the
    reason; it is never 0, and a sum over it is NaN as well.
    """

    # Kept out of `vars()`, from which tables and JSON are made.
    __slots__ = ("__dict__", "__weakref__", "_details", "_window")

    time: float  # s
    gpu_energy: dict[int, float]  # J, by GPU
    cpu_energy: dict[int, float] | None = None
    dram_energy: dict[int, float] | None = None
    soc_energy: SoCMeasurement | None = None

    @cached_property
    def total_energy(self) -> float:
        """Of all GPUs, in J."""
        return sum(self.gpu_energy.values())

    @property
    def details(self) -> WindowDetails | None:
        """Uncertainty, method, reasons and more; None for a measurement that did not come from a window."""
        details: WindowDetails | None = getattr(self, "_details", None)
        window = native_window(self)
        if details is None and window is not None:
            details = _details_of(window)
            _keep(self, "_details", details)
        return details

    def __getstate__(self) -> dict[str, Any]:
        # Only plain values, which the existing package can read as well. Another process cannot use the native window.
        details = self.details
        return {**self.__dict__, "_details": None if details is None else asdict(details)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        plain = state.get("_details")
        self.__dict__.update((name, value) for name, value in state.items() if name != "_details")
        _keep(self, "_details", None if plain is None else _details_from(plain))


# Pickles use the existing package's name for it.
Measurement.__module__ = public_name("zeus_cpp.monitor.energy")


def measurement_of(window: _native.Window, gpus: Iterable[int]) -> Measurement:
    """`gpus` gives the order of their energies."""
    energies = window.gpu_energy
    measurement = Measurement(window.time, {gpu: energies[gpu] for gpu in gpus}, window.cpu_energy, window.dram_energy)
    _keep(measurement, "_window", window)
    return measurement


def native_window(measurement: Measurement) -> _native.Window | None:
    """The library's own measurement, in the process that measured it."""
    window: _native.Window | None = getattr(measurement, "_window", None)
    return window
