"""AMD's GPUs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from zeus_cpp import _native
from zeus_cpp.device.gpu.native import NativeGPU, NativeGPUs
from zeus_cpp.device.gpu.zeusd import ZeusdGPU


class AMDGPU(NativeGPU):
    """One of AMD's GPUs."""

    @cached_property
    def handle(self) -> Any:
        """The amdsmi handle of this GPU, for your own calls; needs `pip install amdsmi`."""
        import amdsmi

        amdsmi.amdsmi_init()
        return amdsmi.amdsmi_get_processor_handle_from_bdf(self.pci_address)


class ZeusdAMDGPU(ZeusdGPU, AMDGPU):
    """One of AMD's GPUs, set through the daemon."""


class AMDGPUs(NativeGPUs):
    """The GPUs of a machine that has AMD's and none of NVIDIA's."""


def amdsmi_is_available() -> bool:
    """Whether a GPU of AMD's can be seen."""
    return any(gpu.vendor == "amd" for gpu in _native.gpus())
