"""The CPU packages of this machine."""

from __future__ import annotations

import threading

from zeus_cpp.device.cpu.common import (
    CPU,
    CPUs,
    CpuDramMeasurement,
    EmptyCPUs,
    ZeusCPUInitError,
    ZeusCPUNoPermissionError,
    ZeusCPUNotFoundError,
)
from zeus_cpp.device.cpu.emi import EMICPUs, emi_is_available
from zeus_cpp.device.cpu.rapl import RAPLCPUs, get_current_cpu_index, rapl_is_available

__all__ = [
    "CPU",
    "CPUs",
    "CpuDramMeasurement",
    "EMICPUs",
    "EmptyCPUs",
    "RAPLCPUs",
    "ZeusCPUInitError",
    "ZeusCPUNoPermissionError",
    "ZeusCPUNotFoundError",
    "emi_is_available",
    "get_cpus",
    "get_current_cpu_index",
    "rapl_is_available",
]

_cpus: CPUs | None = None
_lock = threading.Lock()


def get_cpus() -> CPUs:
    """All CPU packages whose energy can be read, made once per process.

    A ZeusCPUNoPermissionError if there are some but this user may not read them, a ZeusCPUInitError if there are none.
    """
    global _cpus
    cpus = _cpus
    if cpus is None:  # once they exist, no thread takes the lock, which a fork might find locked
        with _lock:
            cpus = _cpus = _cpus or RAPLCPUs()
    return cpus
