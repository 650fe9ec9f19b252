"""Failures of the native library as the exceptions of GPUs."""

from __future__ import annotations

from types import TracebackType

from zeus_cpp import _native
from zeus_cpp.device.exception import ZeusBaseGPUError
from zeus_cpp.device.gpu import common
from zeus_cpp.exception import (
    ZeusBaseError,
    ZeusInvalidArgumentError,
    ZeusNotFoundError,
    ZeusPermissionError,
    ZeusTimeoutError,
    ZeusUnavailableError,
)

_OF_REASON: dict[str, type[ZeusBaseGPUError]] = {
    "unsupported": common.ZeusGPUNotSupportedError,
    "permission": common.ZeusGPUNoPermissionError,
    "lost": common.ZeusGPULostError,
    "timeout": common.ZeusGPUTimeoutError,
    "unreliable": common.ZeusGPUUnknownError,
    "out_of_range": common.ZeusGPUInvalidArgError,
    "unknown": common.ZeusGPUUnknownError,
}

# For setters. Conflicts and unavailability keep their own classes, except for features that the device lacks.
_NOT_SUPPORTED = ": not supported"
_OF_KIND: dict[type[ZeusBaseError], type[ZeusBaseGPUError]] = {
    ZeusInvalidArgumentError: common.ZeusGPUInvalidArgError,
    ZeusNotFoundError: common.ZeusGPUNotFoundError,
    ZeusPermissionError: common.ZeusGPUNoPermissionError,
    ZeusTimeoutError: common.ZeusGPUTimeoutError,
}


class gpu_errors:
    """Within the block, exceptions of the native library become the GPU exceptions with that meaning."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if isinstance(error, _native.ReadingError):
            reason, text = error.args
            raise _OF_REASON[reason](text) from None
        if isinstance(error, ZeusUnavailableError) and _NOT_SUPPORTED in error.message:
            raise common.ZeusGPUNotSupportedError(error.message) from error
        if isinstance(error, ZeusBaseError) and type(error) in _OF_KIND:
            raise _OF_KIND[type(error)](error.message) from error
