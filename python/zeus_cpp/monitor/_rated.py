"""Windows whose energies are multiplied by a rate that changes with time: the part of carbon and price monitors that is the same.

Each window is measured as a whole, and in parts that end where the rate may change. A thread makes the parts; a part that ends
late, because the process was stopped, is divided by time.
"""

from __future__ import annotations

import math
import os
import threading
import time
import warnings
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Any, Callable, Generic, NamedTuple, TypeVar

from zeus_cpp.exception import ZeusAlreadyExistsError, ZeusNotFoundError
from zeus_cpp.monitor._rates import Feed
from zeus_cpp.monitor.measurement import native_window

if TYPE_CHECKING:
    from zeus_cpp import _native
    from zeus_cpp.monitor.energy import ZeusMonitor
    from zeus_cpp.monitor.measurement import Measurement

JOULES = 3.6e6  # in a kilowatt-hour


@dataclass(frozen=True)
class AmountDetail:
    """One amount with its uncertainty. If it is unknown, the numbers are None. `str()` makes "0.0213 ± 0.0004 g" of it, or
    "unknown (the reason)"."""

    value: float | None
    uncertainty: float | None  # half-width of the 95 % interval of the energy, as an amount
    unit: str
    reason: str  # why it is unknown; empty if it is known
    remark: str  # what a careful reader should know about it, for example the age of the rate; usually empty

    def __str__(self) -> str:
        if self.value is None or self.uncertainty is None:
            return f"unknown ({self.reason})"
        digits = 3 if self.uncertainty <= 0.0 or self.value == 0.0 else max(
            1, min(15, math.floor(math.log10(abs(self.value))) - math.floor(math.log10(self.uncertainty)) + 1))
        text = f"{self.value:.{digits}g} ± {self.uncertainty:.1g} {self.unit}"
        return f"{text} ({self.remark})" if self.remark else text


@dataclass(frozen=True)
class AmountDetails:
    """Everything that is known about a window's amounts."""

    settled: bool  # waiting longer would not change the energies
    gpu: dict[int, AmountDetail]
    cpu: dict[int, AmountDetail]
    dram: dict[int, AmountDetail]
    total: AmountDetail  # of all GPUs; unknown if one of them is


class Part(NamedTuple):
    begin: float  # seconds since 1970
    end: float
    window: _native.Window


def _pieces(part: Part, step: float) -> list[tuple[float, float]]:
    """The part's share in each stretch of time, and a moment within it."""
    length = part.end - part.begin
    if not length > 0.0:
        return [(1.0, part.begin)]
    edges = [part.begin]
    while (edge := (math.floor(edges[-1] / step) + 1) * step) < part.end:
        edges.append(edge)
    edges.append(part.end)
    return [((end - begin) / length, begin) for begin, end in zip(edges, edges[1:])]


class _Charge(NamedTuple):
    """One part's rate: `spread` is by how much a part that ended late may be off, per unit of energy."""

    rate: float
    spread: float


def _charges(parts: list[Part], feed: Feed, step: float) -> tuple[list[_Charge], str, str]:
    """For each part its charge; why one is unknown; what to know about them."""
    charges, remarks = [], []
    for part in parts:
        found = [(share, feed.at(moment)) for share, moment in _pieces(part, step)]
        for _, rate in found:
            if rate.value is None:
                return [], rate.text, ""
            if rate.text and rate.text not in remarks:
                remarks.append(rate.text)
        known = [(share, rate.value) for share, rate in found if rate.value is not None]
        main = max(known)[1]
        charges.append(_Charge(sum(share * rate for share, rate in known), sum(share * abs(rate - main) for share, rate in known)))
    return charges, "", "; ".join(remarks[:3])


def _amount(energies: list[tuple[Any, ...]], charges: list[_Charge], reason: str, remark: str, unit: str) -> AmountDetail:
    """`energies`: the native detail of each part."""
    for value, uncertainty, _, _, why, _ in energies:
        if value is None or uncertainty is None:
            return AmountDetail(None, None, unit, why, "")
    if reason:
        return AmountDetail(None, None, unit, reason, "")
    value = sum(energy[0] / JOULES * charge.rate for energy, charge in zip(energies, charges))
    # The errors of two parts at their common edge cancel out in part; as independent ones they are not underestimated.
    independent = math.hypot(*(energy[1] / JOULES * charge.rate for energy, charge in zip(energies, charges)))
    divided = sum(energy[0] / JOULES * charge.spread for energy, charge in zip(energies, charges))
    uncertainty = independent + divided
    if not math.isfinite(value) or not math.isfinite(uncertainty):
        return AmountDetail(None, None, unit, "the amount is too large for a number", "")
    return AmountDetail(value, uncertainty, unit, "", remark)


class Rated:
    """Base of the measurements. Its amounts are NaN where they are unknown; `details` has the reasons."""

    __slots__ = ("_details", "_source")

    @property
    def details(self) -> AmountDetails | None:
        """Uncertainties, reasons and remarks; None for a measurement that did not come from a window."""
        details: AmountDetails | None = getattr(self, "_details", None)
        return details

    def __getstate__(self) -> dict[str, Any]:
        # Plain values only: another process cannot use the native windows.
        return {**vars(self), "_details": None if self.details is None else asdict(self.details)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        plain = state.pop("_details", None)
        vars(self).update(state)
        if plain is not None:
            kinds = {kind: {index: AmountDetail(**detail) for index, detail in plain[kind].items()} for kind in ("gpu", "cpu", "dram")}
            _keep(self, "_details", AmountDetails(plain["settled"], **kinds, total=AmountDetail(**plain["total"])))


_keep = object.__setattr__


class Op(Enum):
    """Commands to the helper process of the existing package. There is none here."""

    BEGIN = 0
    END = 1
    NEXTITER = 2


class Source(NamedTuple):
    """What a measurement was made of."""

    key: Hashable
    overall: Measurement
    parts: list[Part]


# Seconds between two parts of a window, each of which takes memory: two close times in a file may be a slip.
_SHORTEST_STEP = 60.0


class _Open(NamedTuple):
    name: str  # of the part that is open
    begin: float
    parts: list[Part]


Measured = TypeVar("Measured", bound=Rated)


class RatedWindows(Generic[Measured]):
    """The windows of one monitor, whose measurements are of `kind` and have amounts of `what`. Any thread may call it;
    in a forked child, the amounts of windows that were open are unknown."""

    def __init__(
        self, kind: Callable[..., Measured], what: str, monitor: ZeusMonitor, feed: Feed, unit: str, step: float
    ) -> None:
        self._kind = kind
        self._what = what
        self._monitor = monitor
        self._feed = feed
        self._unit = unit
        self._step = max(_SHORTEST_STEP, step)
        self._numbers = count()
        self._open: dict[Hashable, _Open] = {}
        self._renew()
        feed.want()
        feed.wait(1.0)  # most providers answer in this time, so the first window has its rate

    def _renew(self) -> None:
        """A forked child has no thread, and a lock that a thread of its parent's may have held."""
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def keys(self) -> set[Hashable]:
        return set(self._open)

    def begin(self, key: Hashable, sync_execution: bool) -> None:
        if self._process != os.getpid():
            self._renew()
        self._monitor.begin_window(key, sync_execution=sync_execution)
        with self._changed:
            self._open[key] = self._begin_part([])
            if self._thread is None:
                thread = threading.Thread(target=self._divide, name="zeus-rated-windows", daemon=True)
                with suppress(RuntimeError):  # in an exit handler, from Python 3.12 on: the window stays one part
                    thread.start()
                    self._thread = thread
        self._feed.want()

    def end(self, key: Hashable, sync_execution: bool) -> Source:
        """The monitor's ValueError for a window that is not open."""
        if self._process != os.getpid():
            self._renew()
        overall = self._monitor.end_window(key, sync_execution=sync_execution)
        with self._changed:
            last = self._open.pop(key, None)
            if last is None:
                raise ZeusNotFoundError(f"a measurement window {key!r} does not exist; begin it with this monitor")
            self._end_part(last)
            self._changed.notify()
        self._feed.want()
        whole = native_window(overall)
        if len(last.parts) == 1 and whole is not None:
            last.parts[0] = last.parts[0]._replace(window=whole)
        return Source(key, overall, last.parts)

    def _begin_part(self, parts: list[Part]) -> _Open:
        # No window of a user's has such a name.
        opened = _Open(f"\x1fpart {next(self._numbers)}", time.time(), parts)
        self._monitor._native.begin(opened.name, False, None)
        return opened

    def _end_part(self, opened: _Open) -> None:
        opened.parts.append(Part(opened.begin, time.time(), self._monitor._native.end(opened.name, None)))

    def _divide(self) -> None:
        """The thread: ends each window's part where the rate may change, and begins the next one."""
        with self._changed:
            while self._open:
                now = time.time()
                due = (math.floor(min(each.begin for each in self._open.values()) / self._step) + 1) * self._step
                if now < due:
                    self._changed.wait(min(due - now, 60.0))  # the civil clock may be set meanwhile
                    continue
                for key, opened in list(self._open.items()):
                    if math.floor(opened.begin / self._step) == math.floor(now / self._step):
                        continue
                    try:
                        self._open[key] = self._begin_part(opened.parts)
                        self._end_part(opened)
                    except (ZeusNotFoundError, ZeusAlreadyExistsError):  # the user has reset all windows
                        del self._open[key]
                self._feed.want()
            self._thread = None

    def settled(self, source: Source, patience: float) -> Source:
        """Waits for the energies and for the provider."""
        deadline = time.monotonic() + patience
        overall = self._monitor.settle(source.overall, patience)
        parts = [part._replace(window=self._monitor._native.settle(part.window, max(0.0, deadline - time.monotonic())))
                 for part in source.parts]
        self._feed.want()
        self._feed.wait(max(0.0, deadline - time.monotonic()))
        return Source(source.key, overall, parts)

    def measurement(self, source: Source) -> Measured:
        """To be called by what the user calls: a warning names the user's line."""
        overall, details = source.overall, self._amounts(source)
        _warn_of_unknown(self._what, source.key, details)
        made = self._kind(
            overall.time, overall.gpu_energy, _values(details.gpu, overall.gpu_energy),
            overall.cpu_energy, None if overall.cpu_energy is None else _values(details.cpu, overall.cpu_energy),
            overall.dram_energy, None if overall.dram_energy is None else _values(details.dram, overall.dram_energy))
        _keep(made, "_details", details)
        _keep(made, "_source", source)
        return made

    def _amounts(self, source: Source) -> AmountDetails:
        charges, reason, remark = _charges(source.parts, self._feed, self._step)

        def each(kind: str) -> dict[int, AmountDetail]:
            parts = [getattr(part.window, f"{kind}_details") for part in source.parts]
            return {index: _amount([part[index] for part in parts], charges, reason, remark, self._unit) for index in parts[0]}

        total = _amount([part.window.total_details for part in source.parts], charges, reason, remark, self._unit)
        return AmountDetails(all(part.window.settled for part in source.parts), each("gpu"), each("cpu"), each("dram"), total)


def _values(details: Mapping[int, AmountDetail], order: Mapping[int, float]) -> dict[int, float]:
    return {index: math.nan if details[index].value is None else details[index].value for index in order}  # type: ignore[misc]


def _warn_of_unknown(what: str, key: Hashable, details: AmountDetails) -> None:
    for kind in (details.gpu, details.cpu, details.dram):
        for detail in kind.values():
            if detail.value is None:
                warnings.warn(f"the {what} of window {key!r} is unknown: {detail.reason}", stacklevel=4)
                return
