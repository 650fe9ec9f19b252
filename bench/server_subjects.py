"""The servers under test: `zeus serve` in a folder of its own, and a client connection that costs next to nothing itself."""

import os
import pathlib
import re
import socket
import subprocess
import time


class Server:
    """`zeus serve` as a process; ends with its `with`."""

    def __init__(self, build: pathlib.Path, folder: pathlib.Path, database: str) -> None:
        self.folder, self.database = folder, database
        self._program = build / "bin" / "zeus"
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        command = [self._program, "serve", "--listen", "127.0.0.1:0", "--database", self.database]
        with open(self.folder / "server.log", "ab") as log:
            self._process = subprocess.Popen(command, env={"PATH": os.environ["PATH"], "HOME": str(self.folder)}, cwd=self.folder,
                                             stdout=subprocess.PIPE, stderr=log, text=True)
        said = self._process.stdout.readline()
        found = re.search(r":(\d+)\s*$", said)
        if found is None:
            raise RuntimeError(f"the server did not start: {said}{(self.folder / 'server.log').read_text()[-2000:]}")
        self.port = int(found[1])

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()
            self._process = None

    def __enter__(self) -> "Server":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


class Connection:
    """One connection that is kept."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=600)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> tuple:
        """(body of the answer, milliseconds); a RuntimeError if the request is refused."""
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        request = head.encode() + body
        began = time.perf_counter()
        self._socket.sendall(request)
        received = bytearray()
        end, length = -1, 0
        while end < 0 or len(received) < end + 4 + length:
            piece = self._socket.recv(1 << 20)
            if not piece:
                raise RuntimeError("the server has hung up")
            received += piece
            if end < 0 and (end := received.find(b"\r\n\r\n")) >= 0:
                length = int(re.search(rb"content-length: *(\d+)", received[:end], re.IGNORECASE)[1])
        took = (time.perf_counter() - began) * 1e3
        answer = bytes(received[end + 4:])
        if not received.startswith(b"HTTP/1.1 2"):
            raise RuntimeError(f"{method} {path}: {answer[:500]!r}")
        return answer, took

    def close(self) -> None:
        self._socket.close()
