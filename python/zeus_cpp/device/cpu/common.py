"""The readings of CPU packages, and their exceptions. Energies are in mJ."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zeus_cpp.device.common import DeprecatedAliasABCMeta, deprecated_alias
from zeus_cpp.device.exception import ZeusBaseCPUError


class ZeusCPUInitError(ZeusBaseCPUError):
    """No CPU package can be measured here."""


class ZeusCPUNoPermissionError(ZeusBaseCPUError):
    """This user may not read the energy of CPU packages."""


class ZeusCPUNotFoundError(ZeusBaseCPUError, IndexError):
    """There is no such CPU package."""


@dataclass
class CpuDramMeasurement:
    """The energy of a CPU package, and of the memory behind it if the machine counts it."""

    cpu_mj: float
    dram_mj: float | None = None

    def __sub__(self, other: CpuDramMeasurement) -> CpuDramMeasurement:
        """The energy since `other`; memory that only one of the two counts is taken as 0 in the other."""
        if not isinstance(other, CpuDramMeasurement):
            return NotImplemented
        dram = None
        if self.dram_mj is not None or other.dram_mj is not None:
            dram = (self.dram_mj or 0.0) - (other.dram_mj or 0.0)
        return CpuDramMeasurement(self.cpu_mj - other.cpu_mj, dram)

    def __truediv__(self, divisor: float) -> CpuDramMeasurement:
        if not isinstance(divisor, (int, float)):
            return NotImplemented
        return CpuDramMeasurement(self.cpu_mj / divisor, None if self.dram_mj is None else self.dram_mj / divisor)


class CPU(abc.ABC, metaclass=DeprecatedAliasABCMeta):
    """One CPU package."""

    def __init__(self, cpu_index: int) -> None:
        self.cpu_index = cpu_index

    @deprecated_alias("getTotalEnergyConsumption")
    @abc.abstractmethod
    def get_total_energy_consumption(self) -> CpuDramMeasurement:
        """A counter of energy, which never wraps."""

    @deprecated_alias("supportsGetDramEnergyConsumption")
    @abc.abstractmethod
    def supports_get_dram_energy_consumption(self) -> bool:
        """Whether the memory behind the package is counted."""


class CPUs(abc.ABC, metaclass=DeprecatedAliasABCMeta):
    """All CPU packages whose energy can be read; each method is that of one package and takes its index first."""

    @abc.abstractmethod
    def __init__(self) -> None:
        """Looks for them; a ZeusCPUInitError if there are none."""

    @property
    @abc.abstractmethod
    def cpus(self) -> Sequence[CPU]:
        """Each of them."""

    def __len__(self) -> int:
        return len(self.cpus)

    def _one(self, index: int) -> CPU:
        if not 0 <= index < len(self.cpus):
            raise ZeusCPUNotFoundError(f"there is no CPU package {index}; there are {len(self.cpus)}")
        return self.cpus[index]

    @deprecated_alias("getTotalEnergyConsumption")
    def get_total_energy_consumption(self, index: int) -> CpuDramMeasurement:
        return self._one(index).get_total_energy_consumption()

    @deprecated_alias("supportsGetDramEnergyConsumption")
    def supports_get_dram_energy_consumption(self, index: int) -> bool:
        return self._one(index).supports_get_dram_energy_consumption()


class EmptyCPUs(CPUs):
    """Stands for CPU packages if there are none: reading any of them is a ValueError."""

    def __init__(self) -> None:
        pass

    @property
    def cpus(self) -> Sequence[CPU]:
        return []

    def _one(self, index: int) -> Any:
        raise ValueError("No CPUs available.")
