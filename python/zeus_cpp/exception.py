"""Every exception that this package raises of its own is a ZeusBaseError.

Those without a device in their name are raised by the native library, one for each kind of failure.
"""

from __future__ import annotations


class ZeusBaseError(Exception):
    """What went wrong, to what, and what to do about it."""

    # What to do, where that is known apart from the message.
    advice: str = ""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ZeusInvalidArgumentError(ZeusBaseError, ValueError):
    """What was asked for makes no sense; asking again the same way cannot work."""


class ZeusNotFoundError(ZeusBaseError, IndexError, ValueError):
    """The thing named does not exist."""


class ZeusAlreadyExistsError(ZeusBaseError, ValueError):
    """The name is taken."""


class ZeusFileError(ZeusBaseError, OSError, ValueError):
    """A file that was named cannot be written."""


class ZeusPermissionError(ZeusBaseError, PermissionError):
    """The system refuses this user."""


class ZeusUnavailableError(ZeusBaseError, RuntimeError):
    """It exists but cannot be used now."""


class ZeusBaseGPUError(ZeusBaseError):
    """A GPU, or whatever leads to it."""


class ZeusConflictError(ZeusBaseGPUError, RuntimeError):
    """Another process sets this GPU, which is named."""


class ZeusTimeoutError(ZeusBaseError, TimeoutError):
    """It did not answer in time."""


class ZeusCorruptDataError(ZeusBaseError, ValueError):
    """What was read is not what its format promises."""


class ZeusInternalError(ZeusBaseError, RuntimeError):
    """A defect in Zeus."""
