"""Environment variables as typed values."""

from __future__ import annotations

import os
from typing import Callable, TypeVar, cast

T = TypeVar("T")


def get_env(name: str, valtype: Callable[..., T], default: T | None = None) -> T:
    """The variable as a `valtype`, or the default if it is not set; without either, a ValueError.

    A bool is `true` or `false`, in any case.
    """
    text = os.environ.get(name)
    if text is None:
        if default is None:
            raise ValueError(f"the environment variable {name} is not set, and it has no default")
        return default
    if valtype is cast(object, bool):
        if text.lower() not in ("true", "false"):
            raise ValueError(f"the environment variable {name} is {text!r}; it must be true or false")
        return cast(T, text.lower() == "true")
    try:
        return valtype(text)
    except ValueError as error:
        raise ValueError(f"the environment variable {name} is {text!r}: {error}") from error
