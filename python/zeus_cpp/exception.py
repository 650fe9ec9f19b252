"""Every exception of this package is a ZeusBaseError.

Those without a device in their name are raised by the native library, one for each kind of failure.
"""

from __future__ import annotations


class ZeusBaseError(Exception):
    """What happened, to what, and what to do about it."""

    # What to do, if that is known apart from the message.
    advice: str = ""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ZeusInvalidArgumentError(ZeusBaseError, ValueError):
    """The request makes no sense; the same request cannot work later."""


class ZeusNotFoundError(ZeusBaseError, IndexError, ValueError):
    """The thing named does not exist."""


class ZeusAlreadyExistsError(ZeusBaseError, ValueError):
    """The name is taken."""


class ZeusFileError(ZeusBaseError, OSError, ValueError):
    """The named file cannot be written."""


class ZeusPermissionError(ZeusBaseError, PermissionError):
    """The system refuses this user."""


class ZeusUnavailableError(ZeusBaseError, RuntimeError):
    """It exists but cannot be used now."""


class ZeusBaseGPUError(ZeusBaseError):
    """A failure of a GPU, or of the way to it."""


class ZeusConflictError(ZeusBaseGPUError, RuntimeError):
    """Another process, which the message names, sets this GPU."""


class ZeusTimeoutError(ZeusBaseError, TimeoutError):
    """It did not answer in time."""


class ZeusCorruptDataError(ZeusBaseError, ValueError):
    """What was read is not what its format promises."""


class ZeusInternalError(ZeusBaseError, RuntimeError):
    """A bug in Zeus."""
