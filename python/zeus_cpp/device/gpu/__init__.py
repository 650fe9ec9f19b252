"""The GPUs that this program sees."""

from __future__ import annotations

import threading

from zeus_cpp.device.common import has_sys_admin as has_sys_admin
from zeus_cpp.device.gpu.amd import AMDGPUs as AMDGPUs, amdsmi_is_available as amdsmi_is_available
from zeus_cpp.device.gpu.common import *  # noqa: F403
from zeus_cpp.device.gpu.common import EmptyGPUs, GPUs, ZeusGPUInitError
from zeus_cpp.device.gpu.lease import GPULease
from zeus_cpp.device.gpu.native import NativeGPU
from zeus_cpp.device.gpu.nvidia import NVIDIAGPUs as NVIDIAGPUs, nvml_is_available as nvml_is_available

_gpus: GPUs | None = None
_lock = threading.Lock()


def get_gpus(ensure_homogeneous: bool = False) -> GPUs:
    """All GPUs that this program sees, made once per process; a ZeusGPUInitError if there are none.

    With `ensure_homogeneous`, GPUs of different models are a ZeusGPUHeterogeneousError.
    """
    global _gpus
    gpus = _gpus
    if gpus is None:  # once they exist, no thread takes the lock, which a fork might find locked
        with _lock:
            gpus = _gpus = _gpus or (
                AMDGPUs() if not nvml_is_available() and amdsmi_is_available() else NVIDIAGPUs())
    if ensure_homogeneous:
        gpus._ensure_homogeneous()
    return gpus
