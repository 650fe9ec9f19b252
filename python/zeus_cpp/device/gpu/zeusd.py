"""GPUs that are read here and set by the daemon, for users who may not set them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zeus_cpp.device.exception import ZeusdError
from zeus_cpp.device.gpu.native import NativeGPU

if TYPE_CHECKING:
    from zeus_cpp.utils.zeusd import ZeusdClient


class ZeusdGPU(NativeGPU):
    """One GPU whose setters go to the daemon, which is first asked when something is set.

    Without `block`, setters return before what they set holds. Under zeusd of this package they take a lease, which ends
    with this process; what other daemons set stays when it ends.
    """

    def __init__(self, gpu_index: int, client: ZeusdClient) -> None:
        super().__init__(gpu_index)
        self._client = client
        self._id: int | None = None

    @property
    def gives_leases(self) -> bool:
        """Whether the daemon puts back what was found when this process ends, however it ends."""
        return self._client.gives_leases

    @property
    def supports_nonblocking_setters(self) -> bool:
        return True

    def _ids(self) -> list[int]:
        """What the daemon calls this GPU: the two agree on where it sits on the bus, or else on the driver's order."""
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

    def set_power_management_limit(self, power_limit_mw: int, block: bool = True) -> None:
        if self.get_power_management_limit() != power_limit_mw:
            self._client.set_power_limit(self._ids(), power_limit_mw, block)

    def set_persistence_mode(self, enabled: bool, block: bool = True) -> None:
        self._client.set_persistence_mode(self._ids(), enabled, block)

    def set_memory_locked_clocks(self, min_clock_mhz: int, max_clock_mhz: int, block: bool = True) -> None:
        self._client.set_mem_locked_clocks(self._ids(), min_clock_mhz, max_clock_mhz, block)

    def reset_memory_locked_clocks(self, block: bool = True) -> None:
        self._client.reset_mem_locked_clocks(self._ids(), block)

    def set_gpu_locked_clocks(self, min_clock_mhz: int, max_clock_mhz: int, block: bool = True) -> None:
        self._client.set_gpu_locked_clocks(self._ids(), min_clock_mhz, max_clock_mhz, block)

    def reset_gpu_locked_clocks(self, block: bool = True) -> None:
        self._client.reset_gpu_locked_clocks(self._ids(), block)

    def reset_locked_clocks(self, block: bool = True) -> None:
        if any(gpu.pci_address for gpu in self._client.gpus):
            self._client.reset_locked_clocks(self._ids(), block)
        else:  # a daemon that has no such call
            self.reset_memory_locked_clocks(block)
            self.reset_gpu_locked_clocks(block)
