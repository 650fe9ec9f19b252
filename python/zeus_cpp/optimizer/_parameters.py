"""Constructors with the parameters of another class's constructor, so that the parameters are written in one place.

    class Callback(TrainersCallback):
        @with_parameters_of(Optimizer)
        def __init__(self, make: Callable[[], Optimizer]) -> None:
            self.optimizer = make()

    Callback(monitor, pl_step=50)      # makes an Optimizer(monitor, pl_step=50)
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, TypeVar

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

Self = TypeVar("Self")
T = TypeVar("T")


def with_parameters_of(
    other: Callable[P, T],
) -> Callable[[Callable[[Self, Callable[[], T]], None]], Callable[Concatenate[Self, P], None]]:
    """Turns a constructor that takes a function making an `other` into one with the parameters of `other`."""

    def decorate(construct: Callable[[Self, Callable[[], T]], None]) -> Callable[Concatenate[Self, P], None]:
        def __init__(self: Self, /, *args: P.args, **kwargs: P.kwargs) -> None:
            construct(self, lambda: other(*args, **kwargs))

        # Only the signature of `other`, for tools that look at it.
        functools.update_wrapper(__init__, other.__init__, assigned=())
        return __init__

    return decorate
