"""The existing Python package's own servers, in their own virtual environment, for tests of our clients.

    with existing_servers.batch_size(build_folder) as server:
        BatchSizeOptimizer(monitor, server.url, job)
        server.stop(); server.start()     # as a server that was away for a while
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment  # noqa: E402

BATCH_SIZE = """
import os, sys
port, folder = int(sys.argv[1]), sys.argv[2]
os.environ["ZEUS_BSO_DATABASE_URL"] = f"sqlite+aiosqlite:///{folder}/jobs.db"
import sqlalchemy, uvicorn
from zeus.optimizer.batch_size.server.database.schema import Base
Base.metadata.create_all(sqlalchemy.create_engine(f"sqlite:///{folder}/jobs.db"))
uvicorn.run("zeus.optimizer.batch_size.server.router:app", port=port, log_level="warning")
"""

PIPELINE = """
import os, sys
port, folder = int(sys.argv[1]), sys.argv[2]
os.environ["ZEUS_PFO_SCHEDULER_ARGS"] = '{"solution_path": "%s/plan.py"}' % folder
os.environ["ZEUS_PFO_DUMP_DIR"] = folder
os.environ["ZEUS_PFO_LOG_LEVEL"] = "WARNING"
import uvicorn
uvicorn.run("zeus.optimizer.pipeline_frequency.server.router:app", port=port, log_level="warning")
"""


def _free_port() -> int:
    """Below those that the system gives to connections, so that no other program's takes it before it is bound."""
    while True:
        port = random.randrange(20000, 32000)
        with contextlib.suppress(OSError), socket.socket() as taken:
            taken.bind(("127.0.0.1", port))
            return port


class ExistingServer:
    def __init__(self, python: pathlib.Path, program: str, folder: pathlib.Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._command = [str(python), "-c", program, str(self.port), str(folder)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        # A plain environment: neither our package nor the virtual driver is the server's business.
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        self._log = open(self.folder / "server.log", "ab")
        self._process = subprocess.Popen(self._command, env=environment, cwd=self.folder, stdout=self._log, stderr=self._log)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/openapi.json", timeout=5).read()
                return
            time.sleep(0.1)
        said = (self.folder / "server.log").read_text(errors="replace")
        raise RuntimeError(f"the server did not start: {said[-2000:]}")

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self._log.close()

    def ask(self, method: str, path: str, body: object = None):
        """(status, answer) of a request made outside of the client under test."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


@contextlib.contextmanager
def _running(build: pathlib.Path, program: str, files: dict[str, str]):
    python = python_environment.interpreter(build, "existing")
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (pathlib.Path(folder) / name).write_text(content, encoding="utf-8")
        server = ExistingServer(python, program, pathlib.Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.stop()


def batch_size(build: pathlib.Path):
    return _running(build, BATCH_SIZE, {})


def pipeline_frequency(build: pathlib.Path, plan: list):
    return _running(build, PIPELINE, {"plan.py": repr(plan)})
