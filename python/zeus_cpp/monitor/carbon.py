"""The carbon emissions of windows: their energies times the carbon intensity of the grid, hour by hour."""

from __future__ import annotations

import abc
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Any

from zeus_cpp._http import Server, ServerError, ServerRefused
from zeus_cpp._installation import public_name
from zeus_cpp._logger import logger_of
from zeus_cpp.exception import ZeusBaseError
from zeus_cpp.monitor._dated_file import moment_of, period_of, read_dated
from zeus_cpp.monitor._rated import AmountDetail, AmountDetails, Op, Rated, RatedWindows, Source
from zeus_cpp.monitor._rates import QUARTER, Cache, DatedRates, Feed, is_number
from zeus_cpp.monitor.energy import Key, ZeusMonitor
from zeus_cpp.utils.multiprocessing import warn_if_global_in_subprocess

if TYPE_CHECKING:
    from typing import Literal

__all__ = [
    "AmountDetail", "AmountDetails", "CarbonEmissionMeasurement", "CarbonEmissionMonitor", "CarbonIntensityFile",
    "CarbonIntensityProvider", "ElectrictyMapsClient", "Op", "ZeusCarbonIntensityHTTPError", "ZeusCarbonIntensityNotFoundError",
]

logger = logger_of(__name__)

_UNIT = "g/kWh"


class ZeusCarbonIntensityHTTPError(ZeusBaseError):
    """The provider's server cannot be reached, or fails."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class ZeusCarbonIntensityNotFoundError(ZeusBaseError):
    """The provider has no carbon intensity for this place and time."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class CarbonIntensityProvider(abc.ABC):
    """Knows the carbon intensity of a grid, in grams of CO2 equivalent per kWh. Monitors call it in a thread of their own."""

    @abc.abstractmethod
    def get_current_carbon_intensity(self) -> float:
        """The present value."""

    @abc.abstractmethod
    def get_recent_carbon_intensity(self) -> dict[datetime, float]:
        """The recent values, by the time from which each holds."""

    @property
    @abc.abstractmethod
    def update_period(self) -> timedelta:
        """How long each value holds."""

    @property
    @abc.abstractmethod
    def history_length(self) -> int:
        """How many recent values there are."""


class ElectrictyMapsClient(CarbonIntensityProvider):
    """Carbon intensities of ElectricityMaps. (The name is spelled as in the existing package.)

    Args:
        location: Latitude and longitude.
        estimate: Whether estimated values will do where nothing was measured.
        emission_factor_type: Whether to count the emissions of operation alone, or those of the whole life of a power plant.
        token: Of an account; by default that of the variable ZEUS_ELECTRICITYMAPS_TOKEN. It appears in no message.
        url: Of another server with this interface; by default that of the variable ZEUS_ELECTRICITYMAPS_URL, if there is one.
        timeout: Seconds for a whole request.
    """

    def __init__(
        self,
        location: tuple[float, float],
        estimate: bool = False,
        emission_factor_type: Literal["direct", "lifecycle"] = "direct",
        *,
        token: str | None = None,
        url: str | None = None,
        timeout: float = 10.0,
    ) -> None:
        self.lat, self.long = location
        self.estimate = estimate
        self.emission_factor_type = emission_factor_type
        token = token or os.environ.get("ZEUS_ELECTRICITYMAPS_TOKEN")
        url = url or os.environ.get("ZEUS_ELECTRICITYMAPS_URL") or "https://api.electricitymap.org"
        self._server = Server(url, timeout=timeout, attempts=1, secret={"auth-token": token} if token else None)

    def _query(self) -> dict[str, Any]:
        return {"lat": self.lat, "lon": self.long, "disableEstimations": not self.estimate,
                "emissionFactorType": self.emission_factor_type}

    def _source(self) -> str:
        return f"carbon {self._server.url} {self._query()}"

    def _ask(self, what: str) -> Any:
        try:
            answer = self._server.request("GET", f"/v3/carbon-intensity/{what}", query=self._query(), repeatable=True)
        except ServerRefused as error:
            if error.status in (400, 404, 422):
                raise self._not_found(what, error.reason) from None
            raise ZeusCarbonIntensityHTTPError(f"cannot get the {what} carbon intensity: {error}") from None
        except ServerError as error:
            raise ZeusCarbonIntensityHTTPError(f"cannot get the {what} carbon intensity: {error}") from None
        return answer if isinstance(answer, dict) else {}

    def _not_found(self, what: str, reason: str) -> ZeusCarbonIntensityNotFoundError:
        return ZeusCarbonIntensityNotFoundError(
            f"ElectricityMaps has no {what} carbon intensity at ({self.lat}, {self.long}) with estimate={self.estimate} and "
            f"emission_factor_type={self.emission_factor_type!r}: {reason}")

    def _latest(self) -> tuple[datetime, float]:
        """The latest value and its time, which may be hours ago; without one in the answer, it is now."""
        answer = self._ask("latest")
        try:
            moment = moment_of(answer["datetime"]) if "datetime" in answer else datetime.fromtimestamp(time.time(), timezone.utc)
            value = answer["carbonIntensity"]
            if not is_number(value):
                raise ValueError
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self._not_found("latest", str(answer)[:200]) from None
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc), value

    def get_current_carbon_intensity(self) -> float:
        return self._latest()[1]

    def get_recent_carbon_intensity(self) -> dict[datetime, float]:
        answer = self._ask("history")
        try:
            entries = [(moment_of(entry["datetime"]), entry["carbonIntensity"]) for entry in answer["history"]]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self._not_found("history", str(answer)[:200]) from None
        found = {moment: value for moment, value in entries if value is not None}
        if not found:
            raise self._not_found("history", "it is empty")
        return found

    @property
    def update_period(self) -> timedelta:
        return timedelta(hours=1)

    @property
    def history_length(self) -> int:
        return 24


class CarbonIntensityFile(CarbonIntensityProvider):
    """Carbon intensities of a file: CSV with the columns `time` and `value`, or TOML with a table `values`.

        time,value
        2026-10-25T00:00Z,412
        2026-10-25T01:00Z,398

    Args:
        path: Of the file, which is read once.
        timezone: Of times that are written without an offset.
        update_period: How long each value holds; by default the shortest distance of two times.
    """

    def __init__(self, path: str | os.PathLike[str], *, timezone: tzinfo | None = None,
                 update_period: timedelta | None = None) -> None:
        self.path = os.fspath(path)
        self._values = read_dated(path, timezone, negative=False)
        self._update_period = period_of(self._values, update_period)

    def get_current_carbon_intensity(self) -> float:
        now = time.time()
        rate = DatedRates.of(self._values, self._update_period, timedelta(0), _UNIT, negative=False).at(now)
        if rate.value is None:
            raise ZeusCarbonIntensityNotFoundError(f"{self.path}: {rate.text}")
        return rate.value

    def get_recent_carbon_intensity(self) -> dict[datetime, float]:
        return dict(self._values)

    @property
    def update_period(self) -> timedelta:
        return self._update_period

    @property
    def history_length(self) -> int:
        return len(self._values)


@dataclass
class CarbonEmissionMeasurement(Rated):
    """The time, energies (J) and emissions (g of CO2 equivalent) of a window. An unknown emission is NaN, with the reason in
    `details`."""

    time: float
    gpu_energy: dict[int, float]
    gpu_carbon_emission: dict[int, float]
    cpu_energy: dict[int, float] | None = None
    cpu_carbon_emission: dict[int, float] | None = None
    dram_energy: dict[int, float] | None = None
    dram_carbon_emission: dict[int, float] | None = None


CarbonEmissionMeasurement.__module__ = public_name("zeus_cpp.monitor.carbon")


class CarbonEmissionMonitor:
    """Measures the time, energy and carbon emission of windows, like ZeusMonitor.

    The provider is asked in a thread, so a window never waits for it. Every method may be called from any thread.

    Args:
        carbon_intensity_provider: Where the carbon intensity comes from.
        gpu_indices: As of ZeusMonitor, and so are `cpu_indices` and `sync_execution_with`.
        max_age: For how long after its end the latest value is used, with its age as a remark, if the provider has no later one.
    """

    def __init__(
        self,
        carbon_intensity_provider: CarbonIntensityProvider,
        gpu_indices: Sequence[int] | None = None,
        cpu_indices: Sequence[int] | None = None,
        sync_execution_with: Literal["torch", "jax", "cupy"] = "torch",
        *,
        max_age: timedelta = timedelta(hours=3),
    ) -> None:
        warn_if_global_in_subprocess(self)
        self.zeus_monitor = ZeusMonitor(gpu_indices, cpu_indices, sync_execution_with=sync_execution_with)
        self.carbon_intensity_provider = carbon_intensity_provider
        self._max_age = max_age
        own = isinstance(carbon_intensity_provider, ElectrictyMapsClient)
        period = carbon_intensity_provider.update_period.total_seconds()
        self._windows = RatedWindows(
            CarbonEmissionMeasurement, "carbon emission", self.zeus_monitor,
            Feed(self._ask, logger, Cache(carbon_intensity_provider._source()), self._restore) if own  # type: ignore[attr-defined]
            else Feed(self._ask, logger),
            "g", min(QUARTER, period) if period > 0.0 else QUARTER)

    @property
    def current_keys(self) -> set[Key]:
        """The names of the open windows."""
        return self._windows.keys()

    def _rates(self, dated: object) -> DatedRates:
        return DatedRates.of(dated, self.carbon_intensity_provider.update_period, self._max_age, _UNIT, negative=False)

    def _ask(self, earlier: DatedRates | None) -> DatedRates:
        """The provider's recent values, and the present one if they do not reach so far."""
        provider = self.carbon_intensity_provider
        failure: Exception | None = None
        rates = None
        try:
            rates = self._rates(provider.get_recent_carbon_intensity()).joined(earlier)
        except Exception as error:  # noqa: BLE001  a provider's own class may raise anything
            failure = error
        now = time.time()
        if rates is None or not rates.is_fresh(now):
            try:
                if isinstance(provider, ElectrictyMapsClient):
                    moment, value = provider._latest()
                else:
                    moment, value = datetime.fromtimestamp(now, timezone.utc), provider.get_current_carbon_intensity()
                seconds = provider.update_period.total_seconds()
                began = datetime.fromtimestamp(moment.timestamp() // seconds * seconds, timezone.utc)
                rates = self._rates({began: value}).joined(rates or earlier)
            except Exception:  # noqa: BLE001
                if rates is None:
                    raise failure or AssertionError from None
        return rates

    def _restore(self, received: float, kept: dict[str, Any]) -> DatedRates:
        return self._rates({datetime.fromtimestamp(since, timezone.utc): value for since, value in kept["values"]})

    def begin_window(self, key: Key, sync_execution: bool = True) -> None:
        """Opens a window; a ValueError if one with this name is open."""
        self._windows.begin(key, sync_execution)

    def end_window(self, key: Key, sync_execution: bool = True) -> CarbonEmissionMeasurement:
        """Closes a window and returns its measurement, as good as it can be at once (see `settle`)."""
        return self._windows.measurement(self._windows.end(key, sync_execution))

    def settle(self, measurement: CarbonEmissionMeasurement, patience: float = 2.0) -> CarbonEmissionMeasurement:
        """The best possible measurement, after waiting for the counters and for the provider, `patience` seconds at most."""
        source: Source | None = getattr(measurement, "_source", None)
        return measurement if source is None else self._windows.measurement(self._windows.settled(source, patience))
