"""Batch-size servers for tests: ours (`zeus serve`, with its own store) and the existing package's, with the same interface.

    with existing_session.ours(program) as server, existing_session.theirs(build_folder) as other:
        status, answer = server.ask("GET", "/jobs/batch_size?job_id=mnist")
        server.kill(); server.start()     # on the same store and port
"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import existing_servers  # noqa: E402

STARTS_WITHIN = 60


class Asked:
    """A server with JSON over HTTP, on one connection as long as it lasts; one thread."""

    url: str
    folder: pathlib.Path
    _connection: http.client.HTTPConnection | None = None

    def another(self) -> "Asked":
        """The same, on a separate connection: for another thread."""
        asked = Asked()
        asked.url, asked.folder = self.url, self.folder
        return asked

    def ask(self, method: str, path: str, body: object = None, headers: dict | None = None) -> tuple:
        """(status, answer): the answer parsed as JSON, or else as text. `body`: JSON, or raw bytes."""
        status, _, answer = self.ask_whole(method, path, body, headers)
        return status, answer

    def ask_whole(self, method: str, path: str, body: object = None, headers: dict | None = None) -> tuple:
        """(status, headers, answer)"""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        for again in (True, False):
            kept = self._connection is not None
            try:
                if self._connection is None:
                    self._connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=60)
                self._connection.request(method, path, data, headers or {})
                answer = self._connection.getresponse()
                content = answer.read()
                break
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                # A kept connection may have been closed meanwhile, before any of this was read.
                self.hang_up()
                if not (kept and again):
                    raise
        try:
            return answer.status, answer.headers, json.loads(content)
        except ValueError:
            return answer.status, answer.headers, content.decode(errors="replace")

    def hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class Theirs(Asked):
    def __init__(self, server: existing_servers.ExistingServer) -> None:
        self.url, self.folder = server.url, server.folder


class Ours(Asked):
    """`zeus serve`, with `options` besides address and store; `clocks`: the library that sets its clocks (stepped_time.cpp)."""

    def __init__(self, program: str, folder: pathlib.Path, *options: str, store: pathlib.Path | None = None,
                 clocks: str | None = None) -> None:
        self.folder = folder
        self.store = store or folder / "jobs.db"
        self._program, self._options, self._clocks = program, options, clocks
        self._address = "127.0.0.1:0"
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        command = [self._program, "serve", "--listen", self._address, "--database", str(self.store), *self._options]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        if self._clocks is not None:
            # A copy, because LD_PRELOAD ends a path at a space.
            clocks = shutil.copy(self._clocks, self.folder)
            environment |= {"LD_PRELOAD": str(clocks), "ZEUS_TEST_STEP": str(self.folder / "civil"),
                            "ZEUS_TEST_MONOTONIC_STEP": str(self.folder / "monotonic")}
        self._log = open(self.folder / "server.log", "ab")
        self._process = subprocess.Popen(command, env=environment, cwd=self.folder, stdout=subprocess.PIPE, stderr=self._log)
        self.url = self._said()
        self._address = urllib.parse.urlsplit(self.url).netloc

    def _said(self) -> str:
        """The address, which it prints when it is ready."""
        assert self._process is not None and self._process.stdout is not None
        said = b""
        deadline = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < deadline:
            if select.select([self._process.stdout], [], [], 1.0)[0]:
                piece = os.read(self._process.stdout.fileno(), 4096)
                said += piece
                if found := re.search(rb"(?:http://)?(127\.0\.0\.1:\d+)\S*\n", said):
                    return "http://" + found[1].decode()
                if not piece:
                    break
        log = (self.folder / "server.log").read_text(errors="replace")
        raise RuntimeError(f"the server did not start: {said.decode(errors='replace')} {log[-2000:]}")

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def step(self, clock: str, seconds: int) -> None:
        """From now on its `civil` or `monotonic` clock is this far ahead of the machine's."""
        partial = self.folder / f"{clock}.partial"
        partial.write_text(str(seconds), encoding="ascii")
        partial.replace(self.folder / clock)

    def log(self) -> str:
        return (self.folder / "server.log").read_text(errors="replace")

    def stop(self, by: int = signal.SIGTERM) -> int:
        self.hang_up()
        if self._process is None:
            return 0
        self._process.send_signal(by)
        code = self._process.wait(60)
        self._process.stdout.close()
        self._log.close()
        self._process = None
        return code

    def kill(self) -> None:
        self.stop(signal.SIGKILL)


@contextlib.contextmanager
def ours(program: str, *options: str, **more):
    with tempfile.TemporaryDirectory() as folder:
        server = Ours(program, pathlib.Path(folder), "--log-level", "debug", *options, **more)
        try:
            server.start()
            yield server
        finally:
            server.kill()


@contextlib.contextmanager
def theirs(build: pathlib.Path):
    """Skips the test if the registry does not have that server."""
    with existing_servers.batch_size(build) as server:
        asked = Theirs(server)
        try:
            yield asked
        finally:
            asked.hang_up()
