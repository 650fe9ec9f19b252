"""Exceptions of a training script that uses the server of batch sizes."""

from zeus_cpp.exception import ZeusBaseError


class ZeusBSORuntimError(ZeusBaseError):
    """The server cannot be reached, refuses, or gives a useless answer."""


class ZeusBSOTrainFailError(ZeusBaseError):
    """This batch size did not reach the target within its allowed cost; the next run gets another one."""


class ZeusBSOConfigError(ZeusBaseError):
    """Training on these GPUs cannot be optimized: there are none, or they differ."""


class ZeusBSOOperationOrderError(ZeusBaseError):
    """A method was called before the one that must come first."""


class ZeusBSOBadOperationError(ZeusBaseError):
    """A method was called by a process that may not call it."""
