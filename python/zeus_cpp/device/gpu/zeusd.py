"""GPUs that are read here and set by the daemon, for users who may not set them."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from zeus_cpp._logger import logger_of
from zeus_cpp.device.exception import ZeusdError
from zeus_cpp.device.gpu.native import NativeGPU
from zeus_cpp.exception import ZeusBaseError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from zeus_cpp.utils.zeusd import ZeusdClient

logger = logger_of(__name__)

# The longest term that the daemon gives. It is renewed much earlier, which also shows when the daemon is restarted.
_TERM = 3600.0
_BETWEEN_RENEWALS = 1.0
_RENEWALS_UNASKED = 5  # after so many renewals, checks whether the lease is still there


class _Keeper:
    """Renews the leases behind setters as long as this process lives, so that scripts need not."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.gpus: dict[int, ZeusdGPU] = {}  # by the object's id
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._keep, name="zeusd-leases", daemon=True)
        self.thread.start()

    def _keep(self) -> None:
        renewals = 0
        while not self.stopping.wait(_BETWEEN_RENEWALS):
            renewals += 1
            for key, gpu in list(self.gpus.items()):
                if not gpu._keep_lease(renewals % _RENEWALS_UNASKED == 0):
                    self.gpus.pop(key, None)

    def stop(self) -> None:
        self.stopping.set()
        self.thread.join(10)


_keeper: _Keeper | None = None
_keeping = threading.Lock()


def _keep(gpu: ZeusdGPU) -> None:
    global _keeper
    with _keeping:
        if _keeper is None or _keeper.process != os.getpid():
            _keeper = _Keeper()
        _keeper.gpus[id(gpu)] = gpu


# Before the interpreter shuts down. This module is imported after native, whose leases therefore end later.
@atexit.register
def _stop_keeping() -> None:
    if _keeper is not None and _keeper.process == os.getpid():
        _keeper.stop()


def _new_lock() -> None:
    global _keeping
    _keeping = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)  # a thread may have held the parent's


class ZeusdGPU(NativeGPU):
    """One GPU whose setters go to the daemon, which is contacted at the first setting.

    Without `block`, setters return before their setting is in force, and a refusal is logged. Under zeusd of this package
    they hold a lease. It ends with this process; if the daemon is restarted, it is taken again and its settings are set
    again. What other daemons set stays when the process ends.
    """

    _term = _TERM

    def __init__(self, gpu_index: int, client: ZeusdClient) -> None:
        super().__init__(gpu_index)
        self._client = client
        self._id: int | None = None
        self._disable_sys_admin_warning = True
        self._workers: dict[int, ThreadPoolExecutor] = {}  # by process: a forked child has no threads

    @property
    def gives_leases(self) -> bool:
        """Whether the daemon puts back what was found when this process ends, however it ends."""
        return self._client.gives_leases

    @property
    def supports_nonblocking_setters(self) -> bool:
        return True

    def _ids(self) -> list[int]:
        """The daemon's number of this GPU, matched by the PCI address, or else by the driver's order."""
        if self._id is None:
            from zeus_cpp.utils.zeusd import require_capabilities

            require_capabilities(self._client, control_gpu=True)
            here = self.pci_address.lower()
            ids = [gpu.id for gpu in self._client.gpus
                   if (gpu.pci_address.lower() == here if gpu.pci_address else gpu.id == self.driver_index)]
            if len(ids) != 1:
                raise ZeusdError(f"Zeusd at {self._client.endpoint} has {len(ids)} GPUs at {here}, where GPU "
                                 f"{self.gpu_index} is")
            self._id = ids[0]
        return [self._id]

    def _under_lease(self, setter: Callable[[], None], block: bool) -> None:
        """Calls a setter after those still running: here, or without `block` on a thread of its own."""
        self._ids()
        process = os.getpid()
        if block and process not in self._workers:
            self._and_keep(setter)
            return
        if process not in self._workers:
            from concurrent.futures import ThreadPoolExecutor

            self._workers[process] = ThreadPoolExecutor(1, f"zeusd-gpu{self.gpu_index}")
        done = self._workers[process].submit(self._and_keep, setter)
        if block:
            done.result()
        else:
            done.add_done_callback(lambda ended: self._log(ended.exception()))

    def _and_keep(self, setter: Callable[[], None]) -> None:
        setter()
        if self.is_set:
            _keep(self)

    def _log(self, error: BaseException | None) -> None:
        if error is not None:
            logger.error("%s could not be set: %s", self, error)

    def _keep_lease(self, is_asked: bool) -> bool:
        """Renews the lease behind the settings, or first checks it; false if there is none any more."""
        held = self._held.get(os.getpid())
        if held is None:
            return False
        try:
            if is_asked:
                held.overruled  # noqa: B018: asking finds out whether it is there
            held.renew()
        except ZeusBaseError as error:
            if self._held.get(os.getpid()) is not held:
                return False
            logger.warning("the settings of %s are no longer in force: %s", self, error)
            self.put_back()
            return False
        return True

    def set_power_management_limit(self, power_limit_mw: int, block: bool = True) -> None:
        if self.gives_leases:
            setter = super().set_power_management_limit
            self._under_lease(lambda: setter(power_limit_mw), block)
        elif self.get_power_management_limit() != power_limit_mw:
            self._client.set_power_limit(self._ids(), power_limit_mw, block)

    def set_persistence_mode(self, enabled: bool, block: bool = True) -> None:
        if self.gives_leases:
            setter = super().set_persistence_mode
            self._under_lease(lambda: setter(enabled), block)
        else:
            self._client.set_persistence_mode(self._ids(), enabled, block)

    def set_memory_locked_clocks(self, min_clock_mhz: int, max_clock_mhz: int, block: bool = True) -> None:
        if self.gives_leases:
            setter = super().set_memory_locked_clocks
            self._under_lease(lambda: setter(min_clock_mhz, max_clock_mhz), block)
        else:
            self._client.set_mem_locked_clocks(self._ids(), min_clock_mhz, max_clock_mhz, block)

    def reset_memory_locked_clocks(self, block: bool = True) -> None:
        if self.gives_leases:
            self._under_lease(super().reset_memory_locked_clocks, block)
        else:
            self._client.reset_mem_locked_clocks(self._ids(), block)

    def set_gpu_locked_clocks(self, min_clock_mhz: int, max_clock_mhz: int, block: bool = True) -> None:
        if self.gives_leases:
            setter = super().set_gpu_locked_clocks
            self._under_lease(lambda: setter(min_clock_mhz, max_clock_mhz), block)
        else:
            self._client.set_gpu_locked_clocks(self._ids(), min_clock_mhz, max_clock_mhz, block)

    def reset_gpu_locked_clocks(self, block: bool = True) -> None:
        if self.gives_leases:
            self._under_lease(super().reset_gpu_locked_clocks, block)
        else:
            self._client.reset_gpu_locked_clocks(self._ids(), block)

    def reset_locked_clocks(self, block: bool = True) -> None:
        if any(gpu.pci_address for gpu in self._client.gpus) and not self.gives_leases:
            self._client.reset_locked_clocks(self._ids(), block)
        else:  # a daemon without this call
            self.reset_memory_locked_clocks(block)
            self.reset_gpu_locked_clocks(block)
