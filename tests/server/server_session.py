"""Shared by the tests of `zeus serve`: a server in its own folder, requests to it, and jobs for it."""

import base64
import contextlib
import dataclasses
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.parse
from typing import Any

PATIENCE = 60.0
KEY = b"a key of the test, of more than thirty-two bytes"

DEVICE = {"model": "NVIDIA A100", "gpus": 1, "max_power_w": 300.0, "power_limits_w": [150.0, 300.0]}
OWNER = {"host": "node1", "place": "elsewhere", "pid": 4711, "started": 1, "command": "train"}


def free_ports(count: int) -> list[int]:
    """Below those that the kernel gives to connections, and others than a test beside this one gets."""
    ports: list[int] = []
    for port in range(20_000 + os.getpid() % 700 * 16, 32_000):
        with contextlib.suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            ports.append(port)
        if len(ports) == count:
            break
    return ports


def free_port() -> int:
    """The same at random, for one that is not bound at all times."""
    while True:
        port = random.randrange(20_000, 32_000)
        with contextlib.suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            return port


def definition(**changes: Any) -> dict[str, Any]:
    """A job of three batch sizes, under the policy `zeus`."""
    whole = {"batch_sizes": [32, 64, 128], "default_batch_size": 64, "target": {"metric": 0.9, "higher_is_better": True},
             "max_epochs": 20, "eta": 0.5, "beta": 2.0, "window": 0, "policy": "zeus", "seed": 7, "max_slowdown": None,
             "device": DEVICE}
    return whole | changes


def gpus(joules: float) -> list[dict[str, Any]]:
    energy = {"value": joules, "uncertainty": 0.0, "systematic": None, "method": "counter"}
    return [{"gpu": "GPU-1", "energy_j": energy}]


def environment() -> dict[str, str]:
    """This process's environment, without variables that affect the server."""
    gone = ("XDG_DATA_HOME", "XDG_RUNTIME_DIR", "PYTHONPATH", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID")
    return {name: value for name, value in os.environ.items() if name not in gone}


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """`zeus serve` as a process; ends with its `with`."""

    def __init__(self, zeus: str, folder: pathlib.Path, *options: str, database: str = "", port: int = 0,
                 listen: str = "", variables: dict[str, str] | None = None) -> None:
        self.zeus = zeus
        self.folder = folder
        self.options = options
        self.database = database or str(folder / "jobs.sqlite")
        # Another test's server could take a port of the kernel's choice while this one is restarted.
        self.port = port or free_port()
        self.listen = listen
        self.variables = variables or {}
        self.log = folder / "server.log"
        self.process: subprocess.Popen[str] | None = None
        self.start()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        listen = self.listen or f"127.0.0.1:{self.port}"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.zeus, "serve", "--listen", listen, "--database", self.database, *self.options],
                stdout=subprocess.PIPE, stderr=log, text=True, env=environment() | self.variables)
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            self.process.wait(PATIENCE)
            self.process.stdout.close()
            raise RuntimeError(f"the server did not start: {line}{self.log.read_text(encoding='utf-8')}")
        self.address = line.removeprefix("listening on ").strip()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if found:
            self.port = int(found[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    def end(self) -> int:
        """SIGTERM, and the exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        self.process = None
        return code

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        """One request on a new connection; a body other than bytes is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            return ask_on(connection, method, path, body, headers)

    def get(self, path: str, headers: dict[str, str] | None = None) -> Any:
        answer = self.ask("GET", path, headers=headers)
        assert answer.status == 200, (path, answer)
        return answer.json()

    def log_lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]


def ask_on(connection: http.client.HTTPConnection, method: str, path: str, body: Any = None,
           headers: dict[str, str] | None = None) -> Answer:
    sent = dict(headers or {})
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        sent.setdefault("Content-Type", "application/json")
    connection.request(method, path, body=body, headers=sent)
    answer = connection.getresponse()
    return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


def job_path(name: str, *rest: Any) -> str:
    return "/".join(["/api/v1/jobs", urllib.parse.quote(name, safe=""), *map(str, rest)])


class Recurrence:
    """A recurrence carried out by this client."""

    def __init__(self, server: Server, job: str, headers: dict[str, str] | None = None) -> None:
        self.server = server
        self.job = job
        self.headers = headers
        begun = server.ask("POST", job_path(job, "recurrences"), {"device": DEVICE, "owner": OWNER}, headers)
        assert begun.status == 201, begun
        self.number = begun.json()["recurrence"]

    def say(self, what: str, body: Any, **headers: str) -> Answer:
        return self.server.ask("POST", job_path(self.job, "recurrences", self.number, what), body,
                               (self.headers or {}) | headers)

    def must(self, what: str, body: Any, **headers: str) -> Any:
        answer = self.say(what, body, **headers)
        assert answer.status == 200, (what, answer)
        return answer.json()

    def train(self, joules: float = 1000.0, seconds: float = 10.0, epochs: int = 3, outcome: str = "reached") -> Any:
        """Until there is a model, or the recurrence is given up; returns the last step."""
        while True:
            step = self.must("next", {})
            if step["kind"] == "give_up":
                return step
            if step["kind"] == "profile":
                limits = [{"limit_w": limit, "epoch_time_s": seconds / epochs, "average_power_w": limit / 2}
                          for limit in step["limits_w"]]
                self.must("profiled", {"batch_size": step["batch_size"], "limits": limits, "charged": [], "time_s": 0.0})
                continue
            self.must("finished", {"try": step["try"], "outcome": outcome, "epochs": epochs, "gpus": gpus(joules),
                                   "time_s": seconds, "limit_w": 300.0, "metric": 0.95, "exit_code": 0, "left_out": None})
            if outcome == "reached":
                return step


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token(user: str, scopes: list[str], expires: float | None = None, key: bytes = KEY, algorithm: str = "HS256") -> str:
    """As made by any holder of the key."""
    claims: dict[str, Any] = {"sub": user, "scopes": scopes}
    if expires is not None:
        claims["exp"] = int(time.time() + expires)
    signed = ".".join(base64url(json.dumps(part).encode()) for part in ({"typ": "JWT", "alg": algorithm}, claims))
    signature = b"" if algorithm == "none" else hmac.new(key, signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64url(signature)}"


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def write_key(folder: pathlib.Path) -> pathlib.Path:
    file = folder / "key"
    file.write_bytes(KEY)
    file.chmod(0o600)
    return file


class EventReader:
    """Reads server-sent events on a separate thread: (id, data) of each, and comments."""

    def __init__(self, port: int, path: str, headers: dict[str, str] | None = None) -> None:
        self.events: list[tuple[str, Any]] = []
        self.comments = 0
        self.ended = threading.Event()
        self.changed = threading.Condition()
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        lines = [f"GET {path} HTTP/1.0", "Host: localhost", *(f"{name}: {value}" for name, value in (headers or {}).items())]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        identity = ""
        with contextlib.suppress(OSError, ValueError, IndexError), self.socket.makefile("r", encoding="utf-8", newline="\n") as lines:
            self.status = int(lines.readline().split()[1])
            while lines.readline().strip():
                pass
            for line in lines:
                with self.changed:
                    if line.startswith("id:"):
                        identity = line[3:].strip()
                    elif line.startswith("data:") and line.endswith("\n"):
                        self.events.append((identity, json.loads(line[5:])))
                    elif line.startswith(":"):
                        self.comments += 1
                    self.changed.notify_all()
        with self.changed:
            self.ended.set()
            self.changed.notify_all()

    def wait_for(self, count: int, patience: float = PATIENCE) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: len(self.events) >= count, patience)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(PATIENCE)
        self.socket.close()
