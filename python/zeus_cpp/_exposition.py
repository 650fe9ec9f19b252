"""Numbers for Prometheus, in its text form (version 0.0.4), as zeusd and the service have them. docs/metrics.md lists all names.

Any thread may call anything here.
"""

from __future__ import annotations

import atexit
import base64
import bisect
import contextlib
import http.server
import os
import re
import socket
import threading
import time
import urllib.parse
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, NamedTuple

from zeus_cpp._http import Server
from zeus_cpp._logger import logger_of

logger = logger_of("zeus_cpp.metric")

TYPE = "text/plain; version=0.0.4; charset=utf-8"
# How long the end of a program waits for its last numbers to reach a gateway (s), and a push for its answer.
_AT_EXIT = 3.0
_TIMEOUT = 5.0
# Between two pushes, and before one that failed is tried again (s). Each takes milliseconds of the interpreter's lock.
_PACE = 0.5
_PAUSE = 5.0


class Metric(NamedTuple):
    name: str
    kind: str
    help: str


CATALOGUE = {metric.name: metric for metric in (
    *(Metric(f"energy_monitor_{device}_energy_joules", "histogram", f"Energy of each window, of one {what}")
      for device, what in (("gpu", "GPU"), ("cpu", "CPU package"), ("dram", "CPU package's memory"))),
    *(Metric(f"energy_monitor_{device}_energy_joules_total", "counter", f"Energy within windows so far, of one {what}")
      for device, what in (("gpu", "GPU"), ("cpu", "CPU package"), ("dram", "CPU package's memory"))),
    Metric("power_monitor_gpu_power_watts", "gauge", "Power of a GPU, as last read in a window"),
)}

Labels = tuple[str, str]  # window, index
# Prometheus cannot read a page with any other name, and keeps __ at the beginning for itself.
_LABEL = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*")


def _escaped(text: str) -> str:
    printable = text.encode(errors="replace").decode()  # a file's name, for example, may have bytes that are not UTF-8
    return printable.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _sample(name: str, labels: Iterable[tuple[str, str]], value: float) -> str:
    inner = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
    return f"{name}{{{inner}}} {value!r}"


class Locked:
    """Has a lock of its own, which is open in a forked child: there, no thread is left that would open it."""

    _all: ClassVar[weakref.WeakSet[Locked]] = weakref.WeakSet()

    def __init__(self) -> None:
        self._renew()
        self._all.add(self)

    def _renew(self) -> None:
        self.lock = threading.Lock()

    @classmethod
    def renew_all(cls) -> None:
        for each in list(cls._all):
            each._renew()


class Family:
    """One metric's series."""

    def __init__(self, metric: Metric, registry: Registry, buckets: Sequence[float]) -> None:
        self.metric = metric
        self.buckets = tuple(sorted(float(each) for each in buckets))
        self._registry = registry
        self._values: dict[Labels, float] = {}  # of a histogram, the sum
        self._counts: dict[Labels, list[int]] = {}

    def set(self, labels: Labels, value: float) -> None:
        with self._registry.lock:
            self._values[labels] = float(value)

    def add(self, labels: Labels, amount: float) -> None:
        with self._registry.lock:
            self._values[labels] = self._values.get(labels, 0.0) + amount

    def observe(self, labels: Labels, value: float) -> None:
        with self._registry.lock:
            self._values[labels] = self._values.get(labels, 0.0) + value
            self._counts.setdefault(labels, [0] * (len(self.buckets) + 1))[bisect.bisect_left(self.buckets, value)] += 1

    def samples(self, more: Mapping[str, str]) -> list[str]:
        """Its lines; under the registry's lock."""
        lines = []
        for (window, index), value in sorted(self._values.items()):
            labels = [*more.items(), ("window", window), ("index", index)]
            if self.metric.kind != "histogram":
                lines.append(_sample(self.metric.name, labels, value))
                continue
            below = 0
            for bound, count in zip((*map(repr, self.buckets), "+Inf"), self._counts[(window, index)]):
                below += count
                lines.append(_sample(f"{self.metric.name}_bucket", [*labels, ("le", bound)], below))
            lines += [_sample(f"{self.metric.name}_count", labels, below), _sample(f"{self.metric.name}_sum", labels, value)]
        return lines


class Registry(Locked):
    """The metrics of one job, which all objects of this process with that job share: a gateway keeps what was pushed last."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        super().__init__()
        self.labels = dict(labels)
        self._families: dict[str, Family] = {}

    def family(self, name: str, buckets: Sequence[float] = ()) -> Family:
        """A ValueError if it is there with other buckets."""
        with self.lock:
            found = self._families.setdefault(name, Family(CATALOGUE[name], self, buckets))
        if found.buckets != tuple(sorted(float(each) for each in buckets)):
            raise ValueError(f"the job {self.labels['job']!r} has a histogram {name} with the buckets {list(found.buckets)}; "
                             "use the same ones, or another job")
        return found

    def samples(self, name: str, more: Mapping[str, str]) -> list[str]:
        with self.lock:
            return self._families[name].samples(more) if name in self._families else []


def text_of(registries: Sequence[Registry], with_labels: bool) -> str:
    lines: list[str] = []
    for metric in CATALOGUE.values():
        samples = [line for registry in registries for line in registry.samples(metric.name, registry.labels if with_labels else {})]
        if samples:
            lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}", *samples]
    return "".join(f"{line}\n" for line in lines)


class Pusher(Locked):
    """Keeps a gateway up to date from a thread. Of several changes while a push is under way, the next push has all."""

    def __init__(self, url: str, registry: Registry) -> None:
        parts = [f"/{name}{_path_value(value)}" for name, value in registry.labels.items()]
        self._server = Server(url if "://" in url else f"http://{url}", timeout=_TIMEOUT, attempts=1)
        self._path = "/metrics" + "".join(parts)
        self._registry = registry
        super().__init__()

    def _renew(self) -> None:
        super()._renew()
        self._changed = threading.Condition(self.lock)
        self._has_thread = False
        self._wanted = 0
        self._done = 0
        self._failing = False
        self._hurried = 0  # how many wait for it

    def push(self) -> None:
        """Soon; does not wait, unless no thread can be started any more."""
        with self._changed:
            if not self._has_thread:
                with contextlib.suppress(RuntimeError):  # in an exit handler, from Python 3.12 on
                    threading.Thread(target=self._run, name="zeus-push", daemon=True).start()
                    self._has_thread = True
            self._wanted += 1
            self._changed.notify_all()
            by_itself = self._has_thread or self._failing
        if not by_itself:
            self._push_once()

    def flush(self, seconds: float) -> bool:
        """Waits until everything was pushed, or a push has failed."""
        with self._changed:
            self._hurried += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._done == self._wanted or self._failing, seconds)
            self._hurried -= 1
            return self._done == self._wanted

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._done != self._wanted)
            self._push_once()
            with self._changed:
                if self._failing:
                    self._changed.wait_for(lambda: False, _PAUSE)
                else:
                    self._changed.wait_for(lambda: self._hurried > 0, _PACE)

    def _push_once(self) -> None:
        with self._changed:
            wanted = self._wanted
        try:
            self._server.request("PUT", self._path, body=text_of([self._registry], False), headers={"Content-Type": TYPE},
                                 repeatable=True)
            failure = ""
        except Exception as error:  # noqa: BLE001  without its thread, nothing would be pushed any more
            failure = str(error)
        with self._changed:
            if failure and not self._failing:
                logger.warning("cannot push metrics, and will try again: %s", failure)
            self._failing = bool(failure)
            if not failure:
                self._done = wanted
            self._changed.notify_all()


def _path_value(value: str) -> str:
    if value and "/" not in value:
        return "/" + urllib.parse.quote(value, safe="")
    # An empty one is a single padding character.
    return "@base64/" + (base64.urlsafe_b64encode(value.encode()).decode() or "=")


_shared = Locked()
_registries: dict[tuple[tuple[str, str], ...], Registry] = {}
_pushers: dict[tuple[str, tuple[tuple[str, str], ...]], Pusher] = {}


def registry_of(job: str, grouping_key: Mapping[str, str] | None) -> Registry:
    more = {str(name): str(value) for name, value in sorted((grouping_key or {}).items())}
    for name in more:
        if name in ("job", "window", "index", "le"):
            raise ValueError(f"the grouping key must not have the label {name!r}, which Zeus sets; choose another name")
        if not _LABEL.fullmatch(name):
            raise ValueError(f"the grouping key's {name!r} is not a label: use letters of ASCII, digits and _, no digit at the beginning "
                             "and no __")
    labels = {"job": str(job), **more}
    with _shared.lock:
        return _registries.setdefault(tuple(labels.items()), Registry(labels))


def pusher_of(url: str, registry: Registry) -> Pusher:
    with _shared.lock:
        key = (url, tuple(registry.labels.items()))
        if key not in _pushers:
            _pushers[key] = Pusher(url, registry)
        return _pushers[key]


def flush(seconds: float = _AT_EXIT) -> None:
    deadline = time.monotonic() + seconds
    for pusher in list(_pushers.values()):
        pusher.flush(max(0.0, deadline - time.monotonic()))


atexit.register(flush)
os.register_at_fork(after_in_child=Locked.renew_all)


class Page:
    """All metrics of this process at `url`, for Prometheus to scrape, until `close()` or the end of the process."""

    def __init__(self, port: int, address: str) -> None:
        self._server = _PageServer(port, address)
        host = f"[{address}]" if ":" in address else address
        self.url = f"http://{host}:{self._server.server_port}/metrics"
        threading.Thread(target=self._server.serve_forever, name="zeus-metrics", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _PageServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, address: str) -> None:
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, port), _PageHandler)


class _PageHandler(http.server.BaseHTTPRequestHandler):
    timeout = 10.0  # of a client that sends nothing

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404, "the metrics are at /metrics")
            return
        with _shared.lock:
            registries = list(_registries.values())
        content = text_of(registries, True).encode()
        self.send_response(200)
        self.send_header("Content-Type", TYPE)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        pass
