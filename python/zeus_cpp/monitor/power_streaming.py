"""Power of other machines' GPUs and CPUs, streamed by their daemons.

Each stream has a thread of its own. It reconnects, after growing pauses, whenever its daemon goes away or falls silent. Any
thread may ask for the latest readings at any time.
"""

from __future__ import annotations

import asyncio
import copy
import http.client
import json
import socket
import statistics
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable

from zeus_cpp._logger import logger_of
from zeus_cpp.exception import ZeusBaseError
from zeus_cpp.utils.zeusd import ZeusdClient, ZeusdConfig, require_capabilities

logger = logger_of(__name__)

# Our daemon sends each second; the existing one only when power changes.
_SILENCE_S = 5.0
_SILENCE_OF_OTHERS_S = 60.0
_LONGEST_PAUSE_S = 30.0
_LONGEST_LINE = 64 * 1024
_STOP_S = 5.0


@dataclass
class CpuPowerReading:
    """Watts of one CPU package, and of its memory if that is counted."""

    cpu_w: float = 0.0
    dram_w: float | None = None


@dataclass
class PowerReadings:
    """The latest readings of one daemon's devices; the time is that of the newest, in seconds since 1970 on this machine's clock."""

    timestamp_s: float = 0.0
    gpu_power_w: dict[int, float] = field(default_factory=dict)
    cpu_power_w: dict[int, CpuPowerReading] = field(default_factory=dict)


class _Ended(Exception):
    """The daemon will never stream this to us."""


class _Stream:
    """One stream of one daemon, and the thread that reads it."""

    def __init__(self, client: ZeusdClient, config: ZeusdConfig, kind: str, ids: Sequence[int] | None, delay_s: float,
                 heard: Callable[[dict[str, Any], float], None]) -> None:
        self._client = client
        self._config = config
        self._path = f"/{kind}/stream_power"
        if ids is not None:
            self._path += f"?{kind}_ids={','.join(str(each) for each in ids)}"
        self._delay_s = delay_s
        self._heard = heard
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._offset_s = 0.0
        self._thread = threading.Thread(target=self._run, name=f"{kind}-power-stream-{client.endpoint}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Does not wait."""
        self._stopped.set()
        with self._lock:
            if self._socket is not None:
                try:
                    self._socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it is gone already

    def join(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)

    def _run(self) -> None:
        pause = self._delay_s
        while not self._stopped.is_set():
            said = False
            try:
                for event in self._events():
                    said = self._take(event) or said
                why = "it ended the stream"
            except _Ended as reason:
                logger.error("Zeusd at %s streams no power: %s", self._client.endpoint, reason)
                return
            except socket.timeout:
                why = "it fell silent"
            except (OSError, http.client.HTTPException, ZeusBaseError) as error:
                why = str(error)
            if self._stopped.is_set():
                return
            pause = self._delay_s if said else pause
            logger.warning("the stream of %s is lost: %s; reconnecting in %.3g s", self._client.endpoint, why, pause)
            self._stopped.wait(pause)
            pause = min(max(pause * 2, 0.1), max(_LONGEST_PAUSE_S, self._delay_s))

    def _events(self) -> Iterator[str]:
        silence_s = _SILENCE_OF_OTHERS_S if self._client.api is None else _SILENCE_S
        connection = self._config.make_client(_SILENCE_S)
        try:
            connection.connect()
            assert connection.sock is not None
            connection.sock.settimeout(silence_s)
            with self._lock:
                # The answer takes the socket from the connection.
                self._socket = connection.sock
            if self._stopped.is_set():
                return
            self._offset_s = _clock_offset(self._client)
            connection.request("GET", self._path, headers=self._config.headers())
            answer = connection.getresponse()
            if answer.status in (401, 403, 404):
                raise _Ended(f"HTTP {answer.status}: {answer.read(_LONGEST_LINE).decode(errors='replace')}")
            if answer.status != 200:
                raise http.client.HTTPException(f"HTTP {answer.status}")
            data: list[str] = []
            while line := answer.readline(_LONGEST_LINE + 1):
                if len(line) > _LONGEST_LINE:
                    raise http.client.HTTPException("a line of the stream is longer than 64 KiB")
                text = line.decode(errors="replace").rstrip("\r\n")
                if text.startswith("data:"):
                    data.append(text[5:].lstrip(" "))
                elif not text and data:
                    yield "\n".join(data)
                    data.clear()
        finally:
            with self._lock:
                self._socket = None
            connection.close()

    def _take(self, text: str) -> bool:
        """Takes an event of the stream; false if it is not a reading."""
        try:
            event = json.loads(text)
            self._heard(event, event["timestamp_ms"] / 1000.0 + self._offset_s)
        except (ValueError, KeyError, TypeError) as error:
            logger.warning("Zeusd at %s streams something that is not power: %r (%s)", self._client.endpoint, text[:200], error)
            return False
        return True


def _clock_offset(client: ZeusdClient) -> float:
    """How many seconds this machine's clock is ahead of the daemon's."""
    offsets = []
    for _ in range(5):
        asked = time.time()
        there = client.get_time()
        offsets.append((asked + time.time()) / 2 - there)
    return statistics.median(offsets)


class PowerStreamingClient:
    """Reads the power of GPUs and CPUs from several daemons at once.

        client = PowerStreamingClient([ZeusdConfig.tcp("node1", 4938), ZeusdConfig.tcp("node2", 4938)])
        for readings in client:  # or `async for`
            print(readings["node1:4938"].gpu_power_w)

    Args:
        servers: Where the daemons are. `gpu_indices` and `cpu_indices` choose devices; None: all that may be read; empty:
            none.
        reconnect_delay_s: The first pause before a lost stream is reconnected; each further one is twice as long, up to half
            a minute.
    """

    def __init__(self, servers: Sequence[ZeusdConfig], reconnect_delay_s: float = 1.0) -> None:
        endpoints = [config.endpoint for config in servers]
        twice = sorted({each for each in endpoints if endpoints.count(each) > 1})
        if twice:
            raise ValueError(f"servers are named twice: {', '.join(twice)}")
        self._changed = threading.Condition()
        self._number = 0
        self._stopped = False
        self._readings: dict[str, PowerReadings] = {}
        self._streams: list[_Stream] = []
        for config in servers:
            client = ZeusdClient(config)
            if self._is_wanted("GPU", config.gpu_indices, client.gpu_ids, client.can_read_gpu, client):
                self._streams.append(_Stream(client, config, "gpu", config.gpu_indices, reconnect_delay_s,
                                             self._gpu_listener(config.endpoint)))
            if self._is_wanted("CPU", config.cpu_indices, client.cpu_ids, client.can_read_cpu, client):
                self._streams.append(_Stream(client, config, "cpu", config.cpu_indices, reconnect_delay_s,
                                             self._cpu_listener(config.endpoint)))
        for stream in self._streams:
            stream.start()

    @staticmethod
    def _is_wanted(kind: str, wanted: list[int] | None, there: list[int], may_read: bool, client: ZeusdClient) -> bool:
        if wanted is None:
            return may_read and bool(there)
        if not wanted:
            return False
        require_capabilities(client, read_gpu=kind == "GPU", read_cpu=kind == "CPU")
        missing = [each for each in wanted if each not in there]
        if missing:
            raise ValueError(f"{kind} indices {missing} are not among those of Zeusd at {client.endpoint}: {there}")
        return True

    def _gpu_listener(self, endpoint: str) -> Callable[[dict[str, Any], float], None]:
        def heard(event: dict[str, Any], at: float) -> None:
            gpu, watts = int(event["gpu_id"]), event["power_mw"] / 1000.0
            with self._changed:
                self._newer(endpoint, at).gpu_power_w[gpu] = watts
        return heard

    def _cpu_listener(self, endpoint: str) -> Callable[[dict[str, Any], float], None]:
        def heard(event: dict[str, Any], at: float) -> None:
            dram = event.get("dram_mw")
            cpu, reading = int(event["cpu_id"]), CpuPowerReading(event["cpu_mw"] / 1000.0, None if dram is None else dram / 1000.0)
            with self._changed:
                self._newer(endpoint, at).cpu_power_w[cpu] = reading
        return heard

    def _newer(self, endpoint: str, at: float) -> PowerReadings:
        """Called with the condition held."""
        readings = self._readings.setdefault(endpoint, PowerReadings())
        readings.timestamp_s = max(readings.timestamp_s, at)
        self._number += 1
        self._changed.notify_all()
        return readings

    def get_power(self) -> dict[str, PowerReadings]:
        """The latest readings by endpoint: a socket's path or HOST:PORT. Empty before the first."""
        with self._changed:
            return copy.deepcopy(self._readings)

    def stop(self) -> None:
        """Stops reading; iterations end. The readings stay."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        for stream in self._streams:
            stream.stop()
        end = time.monotonic() + _STOP_S
        for stream in self._streams:
            stream.join(max(0.0, end - time.monotonic()))

    def _next(self, number: int, patience_s: float | None) -> tuple[int, dict[str, PowerReadings] | None]:
        """(the number of the last event, the readings by then) once there is an event after `number`; no readings if it has
        been stopped, or there was no event for so long."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._number > number, patience_s)
            if self._stopped or self._number <= number:
                return number, None
            return self._number, copy.deepcopy(self._readings)

    def __iter__(self) -> Iterator[dict[str, PowerReadings]]:
        number = 0
        while not self._stopped:
            number, readings = self._next(number, 1.0)
            if readings is not None:
                yield readings

    async def __aiter__(self) -> AsyncIterator[dict[str, PowerReadings]]:
        number = 0
        while not self._stopped:
            number, readings = await asyncio.to_thread(self._next, number, 1.0)
            if readings is not None:
                yield readings
