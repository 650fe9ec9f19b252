"""AMD's GPUs."""

from __future__ import annotations

from zeus import _native
from zeus.device.gpu.native import NativeGPU, NativeGPUs
from zeus.device.gpu.zeusd import ZeusdGPU


class AMDGPU(NativeGPU):
    """One of AMD's GPUs."""


class ZeusdAMDGPU(ZeusdGPU):
    """One of AMD's GPUs that the daemon sets."""


class AMDGPUs(NativeGPUs):
    """The GPUs of a machine that has AMD's and none of NVIDIA's."""


def amdsmi_is_available() -> bool:
    """Whether a GPU of AMD's can be seen."""
    return any(gpu.vendor == "amd" for gpu in _native.gpus())
