"""What a kilowatt-hour costs or emits, over time. A thread asks for it, so no window waits for a provider.

A rate that is not known is not made up: it is a value with its age, or unknown with the reason.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import math
import os
import threading
import time
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Protocol

from zeus_cpp._files import write_whole

if TYPE_CHECKING:
    import logging

# Time zones differ from UTC by whole quarters of an hour, so nothing that follows civil hours changes in between.
QUARTER = 900.0
# Seconds after a failed request.
_PAUSE = 60.0
# A file that another machine's clock dated later than this (s) from now is not used.
_SKEW = 60.0
_LONGEST_USE_OF_A_TARIFF = 30 * 86400.0
_FRESH_TARIFF = 86400.0


class Rate(NamedTuple):
    """Per kilowatt-hour. Without a value, `text` is the reason; with one, what a careful reader should know about it."""

    value: float | None
    text: str = ""


class Rates(Protocol):
    """Rates that were received."""

    def at(self, moment: float) -> Rate: ...

    def is_fresh(self, now: float) -> bool:
        """Whether asking again would bring nothing new."""

    def as_json(self) -> dict[str, Any]: ...


def instant(moment: float) -> str:
    return datetime.fromtimestamp(moment, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def _age(seconds: float) -> str:
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


class DatedRates:
    """Values by the second from which they hold, each for `period` seconds. A later moment has the latest value before it, if
    that has ended at most `max_age` seconds before."""

    def __init__(self, values: Mapping[float, float], period: float, max_age: float, refused: str = "") -> None:
        self._values = dict(sorted(values.items()))
        self._times = list(self._values)
        self._period = period
        self._max_age = max_age
        self._refused = refused

    @classmethod
    def of(cls, values: object, period: timedelta, max_age: timedelta, unit: str, negative: bool) -> DatedRates:
        """From a provider's dictionary. What is not a rate is left out, and a window that needs it has the reason."""
        if not isinstance(values, Mapping):
            raise ValueError(f"the provider gave {type(values).__name__}, not a dictionary of dated values")
        seconds = period.total_seconds()
        if not seconds > 0.0:
            raise ValueError(f"the provider's update_period is {period}, which is not above 0")
        kept: dict[float, float] = {}
        refused = ""
        for moment, value in values.items():
            if isinstance(moment, datetime) and is_number(value) and (negative or value >= 0.0):
                # Without a zone it is in UTC, as the existing package's hours are.
                aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
                kept[aware.timestamp()] = float(value)
            else:
                refused = f"; the provider's value {value!r} for {moment} is not a number of {unit}{'' if negative else ' from 0'}"
        return cls(kept, seconds, max_age.total_seconds(), refused)

    def joined(self, earlier: DatedRates | None) -> DatedRates:
        """With values of the past that a provider no longer has."""
        if earlier is None:
            return self
        return DatedRates({**earlier._values, **self._values}, self._period, self._max_age, self._refused)

    def at(self, moment: float) -> Rate:
        place = bisect.bisect_right(self._times, moment)
        if place == 0:
            return Rate(None, f"the provider has no value for {instant(moment)}{self._refused}")
        since = self._times[place - 1]
        late = moment - since - self._period
        if late < 0.0:
            return Rate(self._values[since])
        if late >= self._max_age:
            return Rate(None, f"the provider has no value for {instant(moment)}, and its latest before is of {instant(since)}"
                              f"{self._refused}")
        return Rate(self._values[since], f"with the value of {instant(since)}, {_age(moment - since)} old")

    def is_fresh(self, now: float) -> bool:
        rate = self.at(now)
        return rate.value is not None and not rate.text

    def as_json(self) -> dict[str, Any]:
        return {"values": [[since, value] for since, value in self._values.items()]}


class Tariff:
    """Prices by month, hour and kind of day in local civil time. Of several tiers, the first one's price."""

    def __init__(self, prices: Mapping[str, Any], zone: tzinfo | None, received: float, remark: str = "") -> None:
        self._plain = dict(prices)
        self._zone = zone
        self._received = received
        self._remark = remark
        self._rates: list[Rate] = [_first_tier(tiers) for tiers in _list_of(prices, "energy_rate_structure")]
        self._schedules = tuple(_schedule(prices, name, len(self._rates))
                                for name in ("energy_weekday_schedule", "energy_weekend_schedule"))

    def at(self, moment: float) -> Rate:
        age = moment - self._received
        if age >= _LONGEST_USE_OF_A_TARIFF:
            return Rate(None, f"the tariff was received {_age(age)} ago, and not again since")
        # Without a zone, in that of this machine.
        local = datetime.fromtimestamp(moment, self._zone)
        rate = self._rates[self._schedules[local.weekday() >= 5][local.month - 1][local.hour]]
        if rate.value is None:
            return rate
        old = f"with a tariff received {_age(age)} ago" if age >= 2 * _FRESH_TARIFF else ""
        return Rate(rate.value, "; ".join(text for text in (rate.text, self._remark, old) if text))

    def is_fresh(self, now: float) -> bool:
        return now - self._received < _FRESH_TARIFF

    def as_json(self) -> dict[str, Any]:
        return {"tariff": self._plain}


def _list_of(prices: Mapping[str, Any], name: str) -> list[Any]:
    value = prices.get(name) if isinstance(prices, Mapping) else None
    if not isinstance(value, list) or not value:
        raise ValueError(f"the provider's prices have no {name}")
    return value


def _first_tier(tiers: Any) -> Rate:
    """Of one period. Its price is the rate and what is added to it."""
    try:
        totals = [tier["rate"] + (tier.get("adj") or 0.0) if is_number(tier["rate"]) else math.nan for tier in tiers]
        if not is_number(totals[0]):
            raise ValueError
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return Rate(None, f"a period of the tariff has no price: {json.dumps(tiers, default=str)[:100]}")
    higher = sorted({total for total in totals[1:] if total != totals[0]})
    return Rate(float(totals[0]), f"the price of the first tier; others have {', '.join(f'{each:g}' for each in higher)}" if higher else "")


def _schedule(prices: Mapping[str, Any], name: str, periods: int) -> list[list[int]]:
    """[month][hour] to the place of a period."""
    months = _list_of(prices, name)
    for hours in months:
        if len(months) != 12 or not isinstance(hours, list) or len(hours) != 24 or not all(
                isinstance(each, int) and not isinstance(each, bool) and 0 <= each < periods for each in hours):
            raise ValueError(f"the provider's {name} is not 12 lists of 24 numbers of its {periods} periods")
    return months


class Cache:
    """The latest rates of one source, in a file that all processes of this user share. A user without a home folder has none."""

    def __init__(self, source: str) -> None:
        self._path: Path | None = None
        try:
            folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        except RuntimeError:  # $HOME is not set, and the system's list of users does not have this one
            return
        self._path = folder / "zeus" / f"rates-{hashlib.sha256(source.encode()).hexdigest()[:20]}.json"

    def load(self, now: float) -> tuple[float, dict[str, Any]] | None:
        """When it was received, and what; None for a file that is not there, is damaged, or is from the future."""
        if self._path is None:
            return None
        try:
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            received = float(kept["received"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return None if not received <= now + _SKEW else (received, kept)

    def save(self, received: float, content: dict[str, Any]) -> None:
        if self._path is None:
            return
        try:
            write_whole(self._path, json.dumps({"received": received, **content}))
        except OSError:
            pass  # a home that cannot be written: each process asks for itself


class Feed:
    """Asks a provider in a thread, and has the latest rates. Any thread may call it.

    `ask(earlier)` returns rates or raises; it may take any time. `restore` makes rates of what the cache has.
    """

    def __init__(self, ask: Callable[[Any], Rates], logger: logging.Logger, cache: Cache | None = None,
                 restore: Callable[[float, dict[str, Any]], Rates] | None = None) -> None:
        self._ask = ask
        self._logger = logger
        self._cache = cache
        self._rates: Rates | None = None
        self._failure = ""
        self._next = 0.0  # of time.monotonic(): not before it
        self._asking: tuple[int, float] | None = None  # the process, since when
        self._answered = threading.Event()
        if cache is not None and restore is not None:
            kept = cache.load(time.time())
            try:
                self._rates = None if kept is None else restore(*kept)
            except (ValueError, TypeError, KeyError):
                pass  # of another version, or damaged

    def want(self) -> None:
        """Asks, unless the rates are fresh, a request is under way, or one has just failed."""
        asking = self._asking
        if asking is not None and asking[0] == os.getpid():
            return
        if time.monotonic() < self._next or (self._rates is not None and self._rates.is_fresh(time.time())):
            return
        self._asking = (os.getpid(), time.monotonic())
        self._answered.clear()
        try:
            threading.Thread(target=self._run, name="zeus-rates", daemon=True).start()
        except RuntimeError as error:  # in an exit handler, from Python 3.12 on
            self._failure = f"the provider cannot be asked: {error}"
            self._asking = None
            self._answered.set()

    def wait(self, seconds: float) -> None:
        """Until the request that is under way has ended."""
        if self._asking is not None:
            self._answered.wait(seconds)

    def at(self, moment: float) -> Rate:
        rates, asking = self._rates, self._asking
        rate = Rate(None, "the provider has not been asked yet") if rates is None else rates.at(moment)
        if rate.value is not None:
            return rate
        if self._failure:
            return Rate(None, self._failure if rates is None else f"{rate.text}; {self._failure}")
        if rates is None and asking is not None:
            return Rate(None, f"the provider has not answered for {_age(time.monotonic() - asking[1])}")
        return rate

    def _run(self) -> None:
        try:
            rates = self._ask(self._rates)
            self._rates, self._failure = rates, ""
            # Rates that do not cover this moment are asked for again, but not at each window.
            self._next = time.monotonic() + _PAUSE
            if self._cache is not None:
                self._cache.save(time.time(), rates.as_json())
        except Exception as error:  # noqa: BLE001  a provider's own class may raise anything
            self._next = time.monotonic() + _PAUSE
            self._failure = f"the provider failed: {error or type(error).__name__}"
            self._logger.warning("%s", self._failure)
        finally:
            self._asking = None
            self._answered.set()

