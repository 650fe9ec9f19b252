"""What devices, and the daemon that may stand before them, fail with."""

from __future__ import annotations

from zeus_cpp.exception import ZeusBaseError, ZeusBaseGPUError

__all__ = ["ZeusBaseCPUError", "ZeusBaseGPUError", "ZeusBaseSoCError", "ZeusdError"]


class ZeusBaseCPUError(ZeusBaseError):
    """A CPU package, or whatever leads to it."""


class ZeusBaseSoCError(ZeusBaseError):
    """A system on a chip, or whatever leads to it."""


class ZeusdError(ZeusBaseGPUError):
    """The daemon refused or failed."""
