"""Samples of power as files, one for each epoch and GPU: `Time,Power` in UTC and milliwatts."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from zeus_cpp._logger import logger_of

logger = logger_of(__name__)

_FLUSH_EVERY = 20.0


class PowerLog:
    """The power samples of each epoch and GPU, as files. If they cannot be written, that is logged once, and no more are."""

    def __init__(self, monitor: Any, gpus: list[int], folder: Path, batch_size: int) -> None:
        self._monitor = monitor
        self._gpus = gpus
        self._folder = folder
        self._batch_size = batch_size
        self._listening: Any = None
        self._files: dict[int, Any] = {}
        self._since: dict[int, float] = {}
        self._flushed = 0.0
        self._broken = False

    def begin(self, epoch: int) -> None:
        self.end()
        if self._broken:
            return
        self._listening = self._listening or self._monitor.listen()
        now = time.monotonic()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for gpu in self._gpus:
                path = self._folder / f"bs{self._batch_size}+e{epoch}+gpu{gpu}.power.log"
                self._files[gpu] = open(path, "w", encoding="utf-8")
                self._files[gpu].write("Time,Power\n")
                self._since[gpu] = now
        except OSError as error:
            self._give_up(error)
        self._flushed = now

    def keep_up(self) -> None:
        """Must be called often: the library keeps samples for some minutes only."""
        if self._files and time.monotonic() - self._flushed > _FLUSH_EVERY:
            self._flush()

    def end(self) -> None:
        self._flush()
        for file in self._files.values():
            file.close()
        self._files = {}

    def _flush(self) -> None:
        self._flushed = time.monotonic()
        offset = time.time_ns() - time.monotonic_ns()
        try:
            for gpu, file in self._files.items():
                samples = self._monitor.power_timeline(gpu, self._since[gpu])
                for at, watts in samples:
                    file.write(f"{_utc(round(at * 1e9) + offset)},{round(watts * 1000)}\n")
                if samples:
                    self._since[gpu] = samples[-1][0]
                file.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        logger.warning("power samples are not written: %s", error)
        self._broken = True
        self._files = {}


def _utc(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M:%S}.{rest:09d}"
