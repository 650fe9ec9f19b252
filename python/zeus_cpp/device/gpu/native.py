"""GPUs of this machine, through the native library."""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from zeus_cpp import _native
from zeus_cpp._logger import logger_of
from zeus_cpp.device.common import has_sys_admin
from zeus_cpp.device.daemon import named_daemon
from zeus_cpp.device.gpu.common import (
    GPU,
    GPUs,
    ZeusGPUInitError,
    ZeusGPUInvalidArgError,
    ZeusGPUNotFoundError,
    ZeusGPUNotSupportedError,
)
from zeus_cpp.device.gpu.failure import gpu_errors
from zeus_cpp.device.gpu.lease import GPULease

if TYPE_CHECKING:
    from zeus_cpp.utils.zeusd import ZeusdClient

logger = logger_of(__name__)

# Settings of a script without a lease of its own last as long as its process, or a year.
_AS_LONG_AS_THE_PROCESS = 365 * 24 * 3600.0


# The GPUs that this process, or the process it was forked from, has set.
_set_gpus: list[NativeGPU] = []


@atexit.register
def _end_with_the_process() -> None:
    ending = [gpu for gpu in _set_gpus if gpu.is_set]
    changed = "; ".join(f"{gpu}: {gpu.changed}" for gpu in ending if gpu.changed)
    if changed:
        # Not to the log, which most scripts that only set something do not configure.
        print(f"zeus: the settings of this script end with it and are put back ({changed}); for later programs, set them there, or "
              "with the vendor's tool, such as `nvidia-smi -pl`", file=sys.stderr)
    for gpu in ending:
        gpu.put_back()


class NativeGPU(GPU):
    """One GPU of this machine.

    Setters take a lease of the GPU that lasts until the process ends; `lease()` returns one with its own end.
    """

    _term = _AS_LONG_AS_THE_PROCESS

    def __init__(self, gpu_index: int) -> None:
        super().__init__(gpu_index)
        known = _native.gpus()
        if not 0 <= gpu_index < len(known):
            raise ZeusGPUInitError(f"there is no GPU {gpu_index}; {len(known)} can be seen here")
        self._native = known[gpu_index]
        self._held: dict[int, GPULease] = {}  # by process: a forked child holds nothing
        self._found_limit: int | None = None  # in mW, before the first set
        self._changed: set[str] = set()  # what is not as it was found
        self._disable_sys_admin_warning = False
        self._logged: set[str] = set()

    @property
    def uuid(self) -> str:
        """The name of this GPU in every process of every program."""
        return self._native.uuid

    @property
    def pci_address(self) -> str:
        return self._native.pci_address

    @property
    def driver_index(self) -> int:
        """The position in the driver's own order, which nvidia-smi uses too."""
        return self._native.driver_index

    def lease(self, term: float = 60.0) -> GPULease:
        """The right to set this GPU for a time; what was found is put back when it ends."""
        return GPULease(self._native, term)

    def _set(self, change: Callable[[GPULease], object]) -> None:
        """Sets something that lasts until the process ends. If it is refused, no lease is kept that could block other processes."""
        had = self.is_set
        lease = self._setting()
        try:
            change(lease)
        except Exception:
            if not had:
                self.put_back()
            raise

    def _setting(self) -> GPULease:
        if not has_sys_admin() and not self._disable_sys_admin_warning:
            self._disable_sys_admin_warning = True
            warnings.warn(
                f"setting {self} usually takes the capability SYS_ADMIN, which this process lacks",
                stacklevel=5,
            )
        process = os.getpid()
        held = self._held.get(process)
        if held is None:
            # If two threads come here at once, both use the first one's lease, and the other lease ends unused.
            held = self._held.setdefault(process, GPULease(self._native, self._term))
            self._changed.clear()
            _set_gpus.append(self)
        return held

    def _mark(self, what: str, changed: bool) -> None:
        (self._changed.add if changed else self._changed.discard)(what)

    @property
    def changed(self) -> str:
        """Which settings are not as this process found them; empty when all are."""
        return ", ".join(sorted(self._changed))

    @property
    def is_set(self) -> bool:
        """Whether this process has a setting on this GPU that is still to be put back."""
        return os.getpid() in self._held

    def put_back(self) -> None:
        """Withdraws what this object has set, now instead of at the end of the process."""
        if self in _set_gpus:
            _set_gpus.remove(self)
        self._changed.clear()
        self._found_limit = None
        held = self._held.pop(os.getpid(), None)
        if held is not None:
            try:
                held.release()
            except Exception as error:  # the guardian goes on trying
                logger.error("%s could not be put back at once: %s", self, error)

    def get_name(self) -> str:
        with gpu_errors():
            return self._native.name

    def get_power_management_limit_constraints(self) -> tuple[int, int]:
        with gpu_errors():
            return self._native.power_limit_mw("minimum"), self._native.power_limit_mw("maximum")

    def get_power_management_limit(self) -> int:
        with gpu_errors():
            return self._native.power_limit_mw("current")

    def get_enforced_power_limit(self) -> int:
        """The limit in force: lower than the limit that was set if something else limits as well."""
        with gpu_errors():
            return self._native.power_limit_mw("enforced")

    def set_power_management_limit(self, power_limit_mw: int, block: bool = True) -> None:
        present = self.get_power_management_limit()
        if present != power_limit_mw or self._native.is_leased:
            found = self._found_limit if self.is_set and self._found_limit is not None else present
            self._set(lambda lease: lease.set_power_limit(power_limit_mw / 1000.0))
            self._found_limit = found
            self._mark("power limit", power_limit_mw != found)

    def reset_power_management_limit(self, block: bool = True) -> None:
        with gpu_errors():
            standard = self._native.power_limit_mw("standard")
        self.set_power_management_limit(standard, block)

    def set_persistence_mode(self, enabled: bool, block: bool = True) -> None:
        if self.get_persistence_mode() != enabled or self._native.is_leased:
            self._set(lambda lease: lease.set_persistence_mode(enabled))

    def get_persistence_mode(self) -> bool:
        with gpu_errors():
            return self._native.persistence_mode()

    def get_supported_memory_clocks(self) -> list[int]:
        with gpu_errors():
            return self._native.supported_memory_clocks_mhz()

    def set_memory_locked_clocks(self, min_clock_mhz: int, max_clock_mhz: int, block: bool = True) -> None:
        self._set(lambda lease: lease.lock_clocks(min_clock_mhz, max_clock_mhz, "memory"))
        self._mark("memory clocks", True)

    def reset_memory_locked_clocks(self, block: bool = True) -> None:
        self._set(lambda lease: lease.unlock_clocks("memory"))
        self._mark("memory clocks", False)

    def get_supported_graphics_clocks(self, memory_clock_mhz: int | None = None) -> list[int]:
        memory = max(self.get_supported_memory_clocks()) if memory_clock_mhz is None else memory_clock_mhz
        try:
            with gpu_errors():
                return self._native.supported_graphics_clocks_mhz(memory)
        except ZeusGPUInvalidArgError as error:  # as the existing package names it
            raise ZeusGPUNotFoundError(f"the memory clock {memory} MHz: {error}") from None

    def set_gpu_locked_clocks(self, min_clock_mhz: int, max_clock_mhz: int, block: bool = True) -> None:
        self._set(lambda lease: lease.lock_clocks(min_clock_mhz, max_clock_mhz, "graphics"))
        self._mark("graphics clocks", True)

    def reset_gpu_locked_clocks(self, block: bool = True) -> None:
        self._set(lambda lease: lease.unlock_clocks("graphics"))
        self._mark("graphics clocks", False)

    def power_quantity(self, kind: str) -> tuple[str, str]:
        """Which reading (kind, scope) gives this GPU's "instant" or "average" power; a NotSupported error if there is none.

        On a superchip without a reading for the GPU alone, it is the module's, which is logged once. If the driver has no
        reading of that name, its oldest one is as instant as it gets.
        """
        candidates = [(kind, "gpu"), (kind, "module")]
        if kind == "instant":
            candidates.insert(1, ("plain", "gpu"))
        failure = None
        for candidate in candidates:
            try:
                with gpu_errors():
                    self._native.power_mw(*candidate)
            except ZeusGPUNotSupportedError as error:
                failure = failure or error
                continue
            if candidate[1] == "module" and kind not in self._logged:
                self._logged.add(kind)
                logger.warning("%s has no power reading of its own: the reading is that of its whole module, with the CPU",
                               self)
            return candidate
        raise failure or ZeusGPUNotSupportedError(f"{self} has no power reading")

    def _power(self, kind: str) -> int:
        try:
            with gpu_errors():
                return self._native.power_mw(kind, "gpu")
        except ZeusGPUNotSupportedError:
            quantity = self.power_quantity(kind)
        with gpu_errors():
            return self._native.power_mw(*quantity)

    def get_average_power_usage(self) -> int:
        return self._power("average")

    def get_instant_power_usage(self) -> int:
        return self._power("instant")

    def get_average_memory_power_usage(self) -> int:
        with gpu_errors():
            return self._native.power_mw("average", "memory")

    def supports_get_total_energy_consumption(self) -> bool:
        try:
            self.get_total_energy_consumption()
        except ZeusGPUNotSupportedError:
            return False
        return True

    def get_total_energy_consumption(self) -> int:
        with gpu_errors():
            return self._native.energy_mj()

    def get_gpu_temperature(self) -> int:
        with gpu_errors():
            return int(self._native.temperature_c())

    def get_throttle_reasons(self) -> str:
        """What keeps the clocks down, such as "power cap"; "none" if nothing does."""
        with gpu_errors():
            return self._native.throttle_reasons()


def _names_a_gpu(visible: str) -> bool:
    """Whether that value of a visibility variable selects GPUs; otherwise it is there to hide them."""
    return visible.strip() != "" and not visible.strip().startswith("-")


class NativeGPUs(GPUs):
    """The GPUs of this machine that the visibility variables leave this program, in their order."""

    def __init__(self, ensure_homogeneous: bool = False) -> None:
        known = _native.gpus()
        if not known:
            problems = _native.device_problems()
            for variable, what, fix in problems:
                if variable.endswith("_VISIBLE_DEVICES") and _names_a_gpu(os.environ.get(variable, "")):
                    raise ZeusGPUInvalidArgError(f"{variable} {what}; {fix}")
            why = "; ".join(f"{device}: {what}" for device, what, _ in problems if not device.startswith("CPU"))
            raise ZeusGPUInitError(f"no GPU can be used here ({why or 'none is installed'})")
        client = named_daemon()
        self._gpus = [self._make(gpu.index, gpu.vendor, client) for gpu in known]
        if ensure_homogeneous:
            self._ensure_homogeneous()

    @staticmethod
    def _make(index: int, vendor: str, client: ZeusdClient | None) -> NativeGPU:
        from zeus_cpp.device.gpu.amd import AMDGPU, ZeusdAMDGPU
        from zeus_cpp.device.gpu.nvidia import NVIDIAGPU, ZeusdNVIDIAGPU

        if client is not None:
            return ZeusdAMDGPU(index, client) if vendor == "amd" else ZeusdNVIDIAGPU(index, client)
        return AMDGPU(index) if vendor == "amd" else NVIDIAGPU(index)

    @property
    def gpus(self) -> Sequence[NativeGPU]:
        return self._gpus
