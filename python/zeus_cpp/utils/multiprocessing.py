"""Finds out whether an object was made while a spawned process imported its program again."""

from __future__ import annotations

import inspect
import warnings


def warn_if_global_in_subprocess(self: object) -> None:
    """Warns if the caller's object is made at the top level of a program that a spawned process is importing.

    Nothing of this package needs it: its monitors work in threads, and may be made anywhere.
    """
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__mp_main__":
            warnings.warn(
                f"{type(self).__name__} is made by a spawned process that imports the program again; put what the program "
                'does below `if __name__ == "__main__":`',
                stacklevel=3,
            )
            return
        frame = frame.f_back
