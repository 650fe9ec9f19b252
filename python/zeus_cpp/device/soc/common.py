"""The readings of a system on a chip, and their exceptions. Energies are in mJ."""

from __future__ import annotations

import abc
from typing import Any

from zeus_cpp.device.common import DeprecatedAliasABCMeta, deprecated_alias
from zeus_cpp.device.exception import ZeusBaseSoCError


class ZeusSoCInitError(ZeusBaseSoCError):
    """There is no system on a chip that can be measured here."""


class SoCMeasurement(abc.ABC, metaclass=DeprecatedAliasABCMeta):
    """The energies of a system on a chip."""

    @abc.abstractmethod
    def __sub__(self, other: Any) -> SoCMeasurement:
        """The energy since `other`."""

    @deprecated_alias("zeroAllFields")
    @abc.abstractmethod
    def zero_all_fields(self) -> None:
        """Sets every energy to 0."""


class SoC(abc.ABC, metaclass=DeprecatedAliasABCMeta):
    """A system on a chip. This package has none of its own; users may derive one."""

    @deprecated_alias("getAvailableMetrics")
    @abc.abstractmethod
    def get_available_metrics(self) -> set[str]:
        """The names of what it measures."""

    @deprecated_alias("getTotalEnergyConsumption")
    @abc.abstractmethod
    def get_total_energy_consumption(self) -> SoCMeasurement:
        """Its counters."""

    @deprecated_alias("beginWindow")
    @abc.abstractmethod
    def begin_window(self, key: str, restart: bool = False) -> None:
        """Opens a window."""

    @deprecated_alias("endWindow")
    @abc.abstractmethod
    def end_window(self, key: str) -> SoCMeasurement:
        """Closes it."""


class EmptySoC(SoC):
    """Stands for a system on a chip if there is none: reading it is a ValueError."""

    def get_available_metrics(self) -> set[str]:
        return set()

    def get_total_energy_consumption(self) -> SoCMeasurement:
        raise ValueError("No SoC is available.")

    def begin_window(self, key: str, restart: bool = False) -> None:
        raise ValueError("No SoC is available.")

    def end_window(self, key: str) -> SoCMeasurement:
        raise ValueError("No SoC is available.")
