"""CPU packages by Windows' interface, which does not exist on the systems that this package runs on."""

from __future__ import annotations

from zeus_cpp.device.exception import ZeusBaseCPUError


class ZeusEMINotSupportedError(ZeusBaseCPUError):
    """This machine has no such interface."""


class ZeusEMIInitError(ZeusBaseCPUError):
    """It cannot be opened."""


def emi_is_available() -> bool:
    """Always false: the interface belongs to Windows."""
    return False


class _OfWindows:
    """Cannot be created here."""

    def __init__(self, *_: object) -> None:
        raise ZeusEMINotSupportedError("the Energy Meter Interface belongs to Windows; this package measures CPUs on Linux")


class EMIFile(_OfWindows):
    """One meter."""


class EMICPU(_OfWindows):
    """One package."""


class EMICPUs(_OfWindows):
    """All packages."""


def get_current_emi_cpu_index() -> int:
    """Always a ZeusEMINotSupportedError."""
    raise ZeusEMINotSupportedError("the Energy Meter Interface belongs to Windows; for RAPL use get_current_rapl_zone_id()")
