"""The readings and settings of GPUs, and their exceptions. Units: mW, mJ, MHz, degrees Celsius."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

from zeus_cpp.device.common import DeprecatedAliasABCMeta, deprecated_alias
from zeus_cpp.device.exception import ZeusBaseGPUError


class ZeusGPUInitError(ZeusBaseGPUError):
    """No GPU can be used here."""


class ZeusGPUInvalidArgError(ZeusBaseGPUError):
    """A value that the GPU does not allow."""


class ZeusGPUNotSupportedError(ZeusBaseGPUError):
    """This GPU, or its driver, does not have it."""


class ZeusGPUNoPermissionError(ZeusBaseGPUError):
    """This user has no permission."""


class ZeusGPUAlreadyInitializedError(ZeusBaseGPUError):
    """The library is in use already."""


class ZeusGPUNotFoundError(ZeusBaseGPUError, IndexError):
    """There is no such GPU."""


class ZeusGPUInsufficientSizeError(ZeusBaseGPUError):
    """The driver returned more than there was room for."""


class ZeusGPUInsufficientPowerError(ZeusBaseGPUError):
    """The GPU lacks its external power."""


class ZeusGPUDriverNotLoadedError(ZeusBaseGPUError):
    """The driver is not loaded."""


class ZeusGPUTimeoutError(ZeusBaseGPUError):
    """The GPU did not answer in time."""


class ZeusGPUIRQError(ZeusBaseGPUError):
    """The kernel has a problem with the GPU's interrupts."""


class ZeusGPULibraryNotFoundError(ZeusBaseGPUError):
    """The vendor's library is not installed."""


class ZeusGPUFunctionNotFoundError(ZeusBaseGPUError):
    """The vendor's library is too old."""


class ZeusGPUCorruptedInfoROMError(ZeusBaseGPUError):
    """The GPU's information memory is damaged."""


class ZeusGPULostError(ZeusBaseGPUError):
    """The GPU is gone."""


class ZeusGPUResetRequiredError(ZeusBaseGPUError):
    """The GPU has to be reset."""


class ZeusGPUOperatingSystemError(ZeusBaseGPUError):
    """The operating system blocks it."""


class ZeusGPULibRMVersionMismatchError(ZeusBaseGPUError):
    """Driver and library have different versions."""


class ZeusGPUMemoryError(ZeusBaseGPUError):
    """There is not enough memory."""


class ZeusGPUUnknownError(ZeusBaseGPUError):
    """The driver failed without saying why."""


class ZeusGPUHeterogeneousError(ZeusBaseGPUError):
    """GPUs that must be of one model are not."""


class GPU(abc.ABC, metaclass=DeprecatedAliasABCMeta):
    """One GPU.

    Setters keep their settings until this process ends; then what was found before comes back. `block` is for GPUs behind a
    daemon: setting one of this machine always waits.
    """

    def __init__(self, gpu_index: int) -> None:
        self.gpu_index = gpu_index

    def __str__(self) -> str:
        """The GPU's name in messages: the number that programs know it by, and its model."""
        return f"GPU {self.gpu_index} ({self.get_name()})"

    @property
    def supports_nonblocking_setters(self) -> bool:
        """Whether setters can return before their setting is in force."""
        return False

    @deprecated_alias("getName")
    @abc.abstractmethod
    def get_name(self) -> str:
        """The model's name."""

    @deprecated_alias("getPowerManagementLimitConstraints")
    @abc.abstractmethod
    def get_power_management_limit_constraints(self) -> tuple[int, int]:
        """The lowest and the highest power limit that may be set."""

    @abc.abstractmethod
    def get_power_management_limit(self) -> int:
        """The power limit."""

    @deprecated_alias("setPowerManagementLimit")
    @abc.abstractmethod
    def set_power_management_limit(self, power_limit_mw: int, block: bool = True) -> None:
        """Sets the power limit."""

    @deprecated_alias("resetPowerManagementLimit")
    @abc.abstractmethod
    def reset_power_management_limit(self, block: bool = True) -> None:
        """Sets the power limit to the model's default."""

    @deprecated_alias("setPersistenceMode")
    @abc.abstractmethod
    def set_persistence_mode(self, enabled: bool, block: bool = True) -> None:
        """Sets whether the driver stays loaded while no process uses the GPU."""

    @abc.abstractmethod
    def get_persistence_mode(self) -> bool:
        """Whether the driver stays loaded."""

    @deprecated_alias("getSupportedMemoryClocks")
    @abc.abstractmethod
    def get_supported_memory_clocks(self) -> list[int]:
        """The memory's clocks, highest first."""

    @deprecated_alias("setMemoryLockedClocks")
    @abc.abstractmethod
    def set_memory_locked_clocks(self, min_clock_mhz: int, max_clock_mhz: int, block: bool = True) -> None:
        """Locks the memory's clock to a range."""

    @deprecated_alias("resetMemoryLockedClocks")
    @abc.abstractmethod
    def reset_memory_locked_clocks(self, block: bool = True) -> None:
        """Leaves the memory's clock to the driver."""

    @deprecated_alias("getSupportedGraphicsClocks")
    @abc.abstractmethod
    def get_supported_graphics_clocks(self, memory_clock_mhz: int | None = None) -> list[int]:
        """The clocks for a memory clock, by default for its highest; highest first."""

    @deprecated_alias("setGpuLockedClocks")
    @abc.abstractmethod
    def set_gpu_locked_clocks(self, min_clock_mhz: int, max_clock_mhz: int, block: bool = True) -> None:
        """Locks the GPU's clock to a range."""

    @deprecated_alias("resetGpuLockedClocks")
    @abc.abstractmethod
    def reset_gpu_locked_clocks(self, block: bool = True) -> None:
        """Leaves the GPU's clock to the driver."""

    def reset_locked_clocks(self, block: bool = True) -> None:
        """Leaves both clocks to the driver."""
        self.reset_memory_locked_clocks(block)
        self.reset_gpu_locked_clocks(block)

    @deprecated_alias("getAveragePowerUsage")
    @abc.abstractmethod
    def get_average_power_usage(self) -> int:
        """Power over about the last second."""

    @deprecated_alias("getInstantPowerUsage")
    @abc.abstractmethod
    def get_instant_power_usage(self) -> int:
        """Power over the sensor's own short window."""

    @deprecated_alias("getAverageMemoryPowerUsage")
    @abc.abstractmethod
    def get_average_memory_power_usage(self) -> int:
        """Power of the GPU's memory alone."""

    @deprecated_alias("supportsGetTotalEnergyConsumption")
    @abc.abstractmethod
    def supports_get_total_energy_consumption(self) -> bool:
        """Whether the GPU counts its energy."""

    @deprecated_alias("getTotalEnergyConsumption")
    @abc.abstractmethod
    def get_total_energy_consumption(self) -> int:
        """The GPU's energy counter."""

    @deprecated_alias("getGpuTemperature")
    @abc.abstractmethod
    def get_gpu_temperature(self) -> int:
        """The GPU's temperature."""


class GPUs(abc.ABC, metaclass=DeprecatedAliasABCMeta):
    """All GPUs that this program sees; each method is that of one GPU and takes its index first."""

    _disable_sys_admin_warning = False

    @abc.abstractmethod
    def __init__(self, ensure_homogeneous: bool = False) -> None:
        """Looks for GPUs; a ZeusGPUInitError if there are none."""

    @property
    @abc.abstractmethod
    def gpus(self) -> Sequence[GPU]:
        """Each of them."""

    def __len__(self) -> int:
        return len(self.gpus)

    def _ensure_homogeneous(self) -> None:
        names = list(dict.fromkeys(gpu.get_name() for gpu in self.gpus))
        if len(names) > 1:
            raise ZeusGPUHeterogeneousError(f"the GPUs are of different models: {', '.join(names)}")

    def _one(self, gpu_index: int) -> GPU:
        if not 0 <= gpu_index < len(self.gpus):
            raise ZeusGPUNotFoundError(f"there is no GPU {gpu_index}; there are {len(self.gpus)}")
        return self.gpus[gpu_index]

    @deprecated_alias("getName")
    def get_name(self, gpu_index: int) -> str:
        return self._one(gpu_index).get_name()

    @deprecated_alias("getPowerManagementLimitConstraints")
    def get_power_management_limit_constraints(self, gpu_index: int) -> tuple[int, int]:
        return self._one(gpu_index).get_power_management_limit_constraints()

    def get_power_management_limit(self, gpu_index: int) -> int:
        return self._one(gpu_index).get_power_management_limit()

    @deprecated_alias("setPowerManagementLimit")
    def set_power_management_limit(self, gpu_index: int, power_limit_mw: int, block: bool = True) -> None:
        self._one(gpu_index).set_power_management_limit(power_limit_mw, block)

    @deprecated_alias("resetPowerManagementLimit")
    def reset_power_management_limit(self, gpu_index: int, block: bool = True) -> None:
        self._one(gpu_index).reset_power_management_limit(block)

    @deprecated_alias("setPersistenceMode")
    def set_persistence_mode(self, gpu_index: int, enabled: bool, block: bool = True) -> None:
        self._one(gpu_index).set_persistence_mode(enabled, block)

    def get_persistence_mode(self, gpu_index: int) -> bool:
        return self._one(gpu_index).get_persistence_mode()

    @deprecated_alias("getSupportedMemoryClocks")
    def get_supported_memory_clocks(self, gpu_index: int) -> list[int]:
        return self._one(gpu_index).get_supported_memory_clocks()

    @deprecated_alias("setMemoryLockedClocks")
    def set_memory_locked_clocks(self, gpu_index: int, min_clock_mhz: int, max_clock_mhz: int,
                                 block: bool = True) -> None:
        self._one(gpu_index).set_memory_locked_clocks(min_clock_mhz, max_clock_mhz, block)

    @deprecated_alias("resetMemoryLockedClocks")
    def reset_memory_locked_clocks(self, gpu_index: int, block: bool = True) -> None:
        self._one(gpu_index).reset_memory_locked_clocks(block)

    @deprecated_alias("getSupportedGraphicsClocks")
    def get_supported_graphics_clocks(self, gpu_index: int, memory_clock_mhz: int | None = None) -> list[int]:
        return self._one(gpu_index).get_supported_graphics_clocks(memory_clock_mhz)

    @deprecated_alias("setGpuLockedClocks")
    def set_gpu_locked_clocks(self, gpu_index: int, min_clock_mhz: int, max_clock_mhz: int,
                              block: bool = True) -> None:
        self._one(gpu_index).set_gpu_locked_clocks(min_clock_mhz, max_clock_mhz, block)

    @deprecated_alias("resetGpuLockedClocks")
    def reset_gpu_locked_clocks(self, gpu_index: int, block: bool = True) -> None:
        self._one(gpu_index).reset_gpu_locked_clocks(block)

    def reset_locked_clocks(self, gpu_index: int, block: bool = True) -> None:
        self._one(gpu_index).reset_locked_clocks(block)

    @deprecated_alias("getAveragePowerUsage")
    def get_average_power_usage(self, gpu_index: int) -> int:
        return self._one(gpu_index).get_average_power_usage()

    @deprecated_alias("getInstantPowerUsage")
    def get_instant_power_usage(self, gpu_index: int) -> int:
        return self._one(gpu_index).get_instant_power_usage()

    @deprecated_alias("getAverageMemoryPowerUsage")
    def get_average_memory_power_usage(self, gpu_index: int) -> int:
        return self._one(gpu_index).get_average_memory_power_usage()

    @deprecated_alias("supportsGetTotalEnergyConsumption")
    def supports_get_total_energy_consumption(self, gpu_index: int) -> bool:
        return self._one(gpu_index).supports_get_total_energy_consumption()

    @deprecated_alias("getTotalEnergyConsumption")
    def get_total_energy_consumption(self, gpu_index: int) -> int:
        return self._one(gpu_index).get_total_energy_consumption()

    @deprecated_alias("getGpuTemperature")
    def get_gpu_temperature(self, gpu_index: int) -> int:
        return self._one(gpu_index).get_gpu_temperature()


class EmptyGPUs(GPUs):
    """Stands for GPUs if there are none: reading any of them is a ValueError."""

    def __init__(self, ensure_homogeneous: bool = False) -> None:
        pass

    @property
    def gpus(self) -> Sequence[GPU]:
        return []

    def _one(self, gpu_index: int) -> Any:
        raise ValueError("No GPUs available.")
