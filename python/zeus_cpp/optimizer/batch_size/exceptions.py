"""What can go wrong between a training script and the server of batch sizes."""

from zeus_cpp.exception import ZeusBaseError


class ZeusBSORuntimError(ZeusBaseError):
    """The server cannot be reached, refuses, or answers with something of no use."""


class ZeusBSOTrainFailError(ZeusBaseError):
    """This batch size did not reach the target within what it may cost; the next run gets another one."""


class ZeusBSOConfigError(ZeusBaseError):
    """Training on these GPUs cannot be optimized: there are none, or they differ."""


class ZeusBSOOperationOrderError(ZeusBaseError):
    """A method was called before the one that must come first."""


class ZeusBSOBadOperationError(ZeusBaseError):
    """A method was called by a process that may not."""
