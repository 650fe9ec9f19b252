"""What windows cost: their energies times the price of electricity, hour by hour in local time."""

from __future__ import annotations

import abc
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from zeus_cpp._http import Server, ServerError
from zeus_cpp._installation import public_name
from zeus_cpp._logger import logger_of
from zeus_cpp.exception import ZeusBaseError
from zeus_cpp.monitor._dated_file import period_of, read_dated
from zeus_cpp.monitor._rated import AmountDetail, AmountDetails, Op, Rated, RatedWindows, Source
from zeus_cpp.monitor._rates import QUARTER, Cache, DatedRates, Feed, Rates, Tariff
from zeus_cpp.monitor.energy import Key, ZeusMonitor
from zeus_cpp.utils.multiprocessing import warn_if_global_in_subprocess

if TYPE_CHECKING:
    from typing import Literal

__all__ = [
    "AmountDetail", "AmountDetails", "ElectricityPriceFile", "ElectricityPriceProvider", "EnergyCostMeasurement",
    "EnergyCostMonitor", "OpenEIClient", "Op", "ZeusElectricityPriceHTTPError", "ZeusElectricityPriceNotFoundError", "get_time_info",
]

logger = logger_of(__name__)

# A place's civil time is at most this far (hours) from that of its longitude, daylight saving included.
_FARTHEST_FROM_THE_SUN = 3.5


def get_time_info() -> tuple[str, str, int]:
    """This machine's month by name, "Weekday" or "Weekend", and hour."""
    now = time.localtime()
    return time.strftime("%B", now), "Weekend" if now.tm_wday >= 5 else "Weekday", now.tm_hour


class ZeusElectricityPriceHTTPError(ZeusBaseError):
    """The provider's server cannot be reached, or refuses."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class ZeusElectricityPriceNotFoundError(ZeusBaseError):
    """The provider has no such price."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class ElectricityPriceProvider(abc.ABC):
    """Knows the price of electricity. Monitors call it in a thread of their own.

    `timezone` is that of the tariff's hours; None is that of this machine. `currency` is the unit of its prices.
    """

    timezone: tzinfo | None = None
    currency: str = "$"

    @abc.abstractmethod
    def get_current_electricity_prices(self) -> dict[str, list[Any]]:
        """The tariff: `energy_rate_structure` has for each period its tiers, each with a `rate` per kWh;
        `energy_weekday_schedule` and `energy_weekend_schedule` have the period for each month and hour."""


class OpenEIClient(ElectricityPriceProvider):
    """Tariffs of utilities in the United States, from OpenEI.

    Args:
        location: Latitude and longitude.
        label: Of the tariff.
        sector: Of the customer.
        radius: Of the search around the location, in miles.
        timezone: Of the tariff's hours, for example zoneinfo.ZoneInfo("America/Detroit"); by default that of this machine.
        api_key: Of an account; by default that of the variable ZEUS_OPENEI_API_KEY. It appears in no message.
        url: Of another server with this interface; by default that of the variable ZEUS_OPENEI_URL, if there is one.
        timeout: Seconds for a whole request.
    """

    def __init__(
        self,
        location: tuple[float, float],
        label: str,
        sector: Literal["Residential", "Commercial", "Industrial", "Lighting"] = "Residential",
        radius: int = 0,
        *,
        timezone: tzinfo | None = None,
        api_key: str | None = None,
        url: str | None = None,
        timeout: float = 10.0,
    ) -> None:
        self.lat, self.long = location
        self.label = label
        self.sector = sector
        self.radius = radius
        self.timezone = timezone
        self._api_key = api_key or os.environ.get("ZEUS_OPENEI_API_KEY")
        self._server = Server(url or os.environ.get("ZEUS_OPENEI_URL") or "https://api.openei.org", timeout=timeout, attempts=1)

    def _source(self) -> str:
        return f"price {self._server.url} {self.lat} {self.long} {self.label} {self.sector} {self.radius}"

    def search_json(self, data: Any, key_name: str, target_value: Any, return_value: str) -> list[Any]:
        """The member `return_value` (or None) of each object in `data`, at any depth, whose `key_name` is `target_value`."""
        found: list[Any] = []
        if isinstance(data, dict):
            if key_name in data and data[key_name] == target_value:
                found.append(data.get(return_value))
            for inner in data.values():
                found += self.search_json(inner, key_name, target_value, return_value)
        elif isinstance(data, list):
            for inner in data:
                found += self.search_json(inner, key_name, target_value, return_value)
        return found

    def get_current_electricity_prices(self) -> dict[str, list[Any]]:
        query = {"version": "latest", "format": "json", **({"api_key": self._api_key} if self._api_key else {}), "lat": self.lat,
                 "lon": self.long, "radius": self.radius, "detail": "full", "sector": self.sector}
        try:
            data = self._server.request("GET", "/utility_rates", query=query, repeatable=True)
        except ServerError as error:
            advice = "" if self._api_key else " (without a key: set ZEUS_OPENEI_API_KEY)"
            raise ZeusElectricityPriceHTTPError(f"cannot get electricity prices: {error}{advice}") from None
        wanted = {"energy_rate_structure": "energyratestructure", "energy_weekday_schedule": "energyweekdayschedule",
                  "energy_weekend_schedule": "energyweekendschedule"}
        candidates = {name: self.search_json(data, "label", self.label, member) for name, member in wanted.items()}
        for choice in zip(*candidates.values()):
            if all(isinstance(part, list) for part in choice):
                return dict(zip(candidates, choice))
        raise ZeusElectricityPriceNotFoundError(
            f"OpenEI has no tariff with the label {self.label!r} and prices by the hour at ({self.lat}, {self.long}) "
            f"for sector {self.sector!r}")


class ElectricityPriceFile(ElectricityPriceProvider):
    """Prices of a file: CSV with the columns `time` and `value`, or TOML with a table `values`. They may be negative.

    Args:
        path: Of the file, which is read once.
        currency: Of the prices, which are per kWh.
        timezone: Of times that are written without an offset.
        update_period: How long each price holds; by default the shortest distance of two times.
    """

    def __init__(self, path: str | os.PathLike[str], *, currency: str = "$", timezone: tzinfo | None = None,
                 update_period: timedelta | None = None) -> None:
        self.path = os.fspath(path)
        self.currency = currency
        self.timezone = timezone
        self.values = read_dated(path, timezone, negative=True)
        self.update_period = period_of(self.values, update_period)

    def get_current_electricity_prices(self) -> dict[str, list[Any]]:
        """The present price as a tariff that knows no other."""
        rate = DatedRates.of(self.values, self.update_period, timedelta(0), f"{self.currency}/kWh", negative=True).at(time.time())
        if rate.value is None:
            raise ZeusElectricityPriceNotFoundError(f"{self.path}: {rate.text}")
        always = [[0] * 24 for _ in range(12)]
        return {"energy_rate_structure": [[{"rate": rate.value}]], "energy_weekday_schedule": always,
                "energy_weekend_schedule": always}


@dataclass
class EnergyCostMeasurement(Rated):
    """The time, energies (J) and costs of a window, in the provider's currency. An unknown cost is NaN, with the reason in
    `details`."""

    time: float
    gpu_energy: dict[int, float]
    gpu_energy_cost: dict[int, float]
    cpu_energy: dict[int, float] | None = None
    cpu_energy_cost: dict[int, float] | None = None
    dram_energy: dict[int, float] | None = None
    dram_energy_cost: dict[int, float] | None = None


EnergyCostMeasurement.__module__ = public_name("zeus_cpp.monitor.price")


class EnergyCostMonitor:
    """Measures the time, energy and cost of windows, like ZeusMonitor.

    The provider is asked in a thread, so a window never waits for it. Every method may be called from any thread.

    Args:
        electricity_price_provider: Where the prices come from.
        gpu_indices: As of ZeusMonitor, and so are `cpu_indices` and `sync_execution_with`.
        max_age: For how long after its end the latest of a file's dated prices is used, with its age as a remark.
    """

    def __init__(
        self,
        electricity_price_provider: ElectricityPriceProvider,
        gpu_indices: Sequence[int] | None = None,
        cpu_indices: Sequence[int] | None = None,
        sync_execution_with: Literal["torch", "jax", "cupy"] = "torch",
        *,
        max_age: timedelta = timedelta(hours=3),
    ) -> None:
        warn_if_global_in_subprocess(self)
        self.zeus_monitor = ZeusMonitor(gpu_indices, cpu_indices, approx_instant_energy=True, sync_execution_with=sync_execution_with)
        self.electricity_price_provider = electricity_price_provider
        self._max_age = max_age
        step = QUARTER
        feed = Feed(self._ask, logger)
        if isinstance(electricity_price_provider, ElectricityPriceFile):
            step = min(step, electricity_price_provider.update_period.total_seconds())
        if isinstance(electricity_price_provider, OpenEIClient):
            feed = Feed(self._ask, logger, Cache(electricity_price_provider._source()), self._restore)
        self._remark = _doubt_of_zone(electricity_price_provider)
        if self._remark:
            logger.warning("%s; pass timezone= to OpenEIClient", self._remark)
        self._windows = RatedWindows(EnergyCostMeasurement, "cost", self.zeus_monitor, feed, electricity_price_provider.currency, step)

    @property
    def current_keys(self) -> set[Key]:
        """The names of the open windows."""
        return self._windows.keys()

    def _ask(self, earlier: Rates | None) -> Rates:
        provider = self.electricity_price_provider
        if isinstance(provider, ElectricityPriceFile):
            return DatedRates.of(provider.values, provider.update_period, self._max_age, f"{provider.currency}/kWh", negative=True)
        return Tariff(provider.get_current_electricity_prices(), provider.timezone, time.time(), self._remark)

    def _restore(self, received: float, kept: dict[str, Any]) -> Rates:
        return Tariff(kept["tariff"], self.electricity_price_provider.timezone, received, self._remark)

    def begin_window(self, key: Key, sync_execution: bool = True) -> None:
        """Opens a window; a ValueError if one with this name is open."""
        self._windows.begin(key, sync_execution)

    def end_window(self, key: Key, sync_execution: bool = True) -> EnergyCostMeasurement:
        """Closes a window and returns its measurement, as good as it can be at once (see `settle`)."""
        return self._windows.measurement(self._windows.end(key, sync_execution))

    def settle(self, measurement: EnergyCostMeasurement, patience: float = 2.0) -> EnergyCostMeasurement:
        """The best possible measurement, after waiting for the counters and for the provider, `patience` seconds at most."""
        source: Source | None = getattr(measurement, "_source", None)
        return measurement if source is None else self._windows.measurement(self._windows.settled(source, patience))


def _doubt_of_zone(provider: ElectricityPriceProvider) -> str:
    """Why this machine's time zone cannot be that of the tariff; empty if it can."""
    if not isinstance(provider, OpenEIClient) or provider.timezone is not None:
        return ""
    offset = datetime.now().astimezone().utcoffset() or timedelta(0)
    apart = abs((offset.total_seconds() / 3600.0 - provider.long / 15.0 + 12.0) % 24.0 - 12.0)
    if apart <= _FARTHEST_FROM_THE_SUN:
        return ""
    return f"the tariff's hours are taken from this machine's clock, {apart:.0f} h from the sun at longitude {provider.long:g}"
