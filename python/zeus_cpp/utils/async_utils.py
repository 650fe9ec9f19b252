"""Tasks whose failures do not get lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from zeus_cpp._logger import logger_of

T = TypeVar("T")


def create_task(coroutine: Coroutine[Any, Any, T], logger: logging.Logger | None = None) -> asyncio.Task[T]:
    """A task of the running loop. Its exception is logged when it ends, whether or not it is awaited."""

    def log_failure(task: asyncio.Task[T]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            (logger or logger_of(__name__)).error("a task failed", exc_info=error)

    task = asyncio.create_task(coroutine)
    task.add_done_callback(log_failure)
    return task
