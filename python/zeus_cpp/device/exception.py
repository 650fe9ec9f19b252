"""Exceptions of devices, and of the daemon that may stand in front of them."""

from __future__ import annotations

from zeus_cpp.exception import ZeusBaseError, ZeusBaseGPUError

__all__ = ["ZeusBaseCPUError", "ZeusBaseGPUError", "ZeusBaseSoCError", "ZeusdError"]


class ZeusBaseCPUError(ZeusBaseError):
    """A failure of a CPU package, or of the way to it."""


class ZeusBaseSoCError(ZeusBaseError):
    """A failure of a system on a chip, or of the way to it."""


class ZeusdError(ZeusBaseGPUError):
    """The daemon refused or failed."""
