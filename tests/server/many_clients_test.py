"""With many and slow clients: the same threads, little more memory, and reports that are answered.

1,000 follow events, 300 send a byte a second, 100 never read their answers. In turns with the reporter alone, in one run.

  many_clients_test.py ZEUS [--reports N] [--most RATIO]    with a report's time among them at most RATIO of its time alone
"""

import argparse
import contextlib
import http.client
import json
import pathlib
import resource
import socket
import statistics
import sys
import tempfile
import threading
import time
import unittest

import server_session as session

MOST_MEMORY_KIB = 64 * 1024
ENDED_WITHIN_S = 60.0  # 10 s for a head, 30 s for a client that does not read, and the delays of a busy machine


class Crowd:
    """Simultaneous clients; each of the slow ones is a socket."""

    def __init__(self, port: int, followed: str, long: str, followers: int, tricklers: int, silent: int) -> None:
        self.port = port
        self.followers = [self.ask(followed) for _ in range(followers)]
        self.silent = [self.ask(long, receives=4096) for _ in range(silent)]
        self.tricklers = [socket.create_connection(("127.0.0.1", port)) for _ in range(tricklers)]
        self.over = threading.Event()
        self.trickling = threading.Thread(target=self.trickle)
        self.trickling.start()

    def ask(self, path: str, receives: int = 0) -> socket.socket:
        one = socket.socket()
        if receives:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
        one.connect(("127.0.0.1", self.port))
        one.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return one

    def trickle(self) -> None:
        head = b"GET /healthz HTTP/1.1\r\nX-Slow: " + b"x" * 100000
        sent = 0
        while not self.over.wait(1.0):
            for one in self.tricklers:
                with contextlib.suppress(OSError):
                    one.sendall(head[sent:sent + 1])
            sent += 1

    def close(self) -> None:
        self.over.set()
        self.trickling.join()
        for one in self.followers + self.silent + self.tricklers:
            one.close()


class ManyClients(unittest.TestCase):
    def test_take_no_thread_and_little_memory_each(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        with tempfile.TemporaryDirectory() as text, session.Server(ARGUMENTS.zeus, pathlib.Path(text)) as server:
            for name in ("followed", "reported"):
                server.ask("PUT", session.job_path(name), session.definition())
            self.import_long_job(server)
            recurrence = session.Recurrence(server, "reported")
            recurrence.must("next", {})
            self.epochs = 0
            self.report(server)
            with_crowd, without = [], []
            for _ in range(5):
                without.append(self.report(server))
                threads, memory = self.now(server, "Threads"), self.now(server, "VmRSS")
                crowd = Crowd(server.port, session.job_path("followed", "events"), session.job_path("long", "events?after=0"),
                              1000, 300, 100)
                try:
                    self.wait_until(lambda: self.followers(server) >= 1100)
                    with_crowd.append(self.report(server))
                    self.assertEqual(self.now(server, "Threads"), threads)
                    more = self.now(server, "VmRSS") - memory
                    self.assertLessEqual(more, MOST_MEMORY_KIB)
                    if len(without) == 5:
                        # The slow connections are closed, those of followers stay.
                        self.wait_until(lambda: self.connections(server) <= 1010, ENDED_WITHIN_S)
                        self.assertEqual(server.ask("GET", "/healthz").status, 200)
                        self.assertGreaterEqual(self.followers(server), 1000)
                finally:
                    crowd.close()
                self.wait_until(lambda: self.followers(server) == 0)
            ratio = statistics.median(one / other for one, other in zip(with_crowd, without))
            print(f"a report: {1e3 * statistics.median(without):.2f} ms, with 1,400 others {1e3 * statistics.median(with_crowd):.2f} ms"
                  f" ({ratio:.2f} times), {more / 1024:.0f} MiB more")
            self.assertLessEqual(ratio, ARGUMENTS.most)

    def import_long_job(self, server: session.Server) -> None:
        server.ask("PUT", session.job_path("short"), session.definition())
        recurrence = session.Recurrence(server, "short")
        step = recurrence.must("next", {})
        recurrence.must("epochs", {"try": step["try"], "epochs": 1, "metric": None, "gpus": session.gpus(1), "time_s": 1.0})
        lines = [json.loads(line) for line in server.ask("GET", session.job_path("short", "export")).body.splitlines()]
        last = lines.pop()
        for number in range(2, 20001):
            epochs = lines[-1] | {"epochs": number, "sequence": lines[-1]["sequence"] + 1}
            lines.append(epochs)
        last["end"] = len(lines) - 1
        text = "".join(json.dumps(line) + "\n" for line in [*lines, last]).encode()
        answer = server.ask("POST", session.job_path("long", "import"), text)
        self.assertEqual(answer.status, 201, answer)

    def report(self, server: session.Server) -> float:
        """The median of a report's time."""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=session.PATIENCE)
        times = []
        with contextlib.closing(connection):
            for _ in range(ARGUMENTS.reports):
                self.epochs += 1
                body = {"try": 1, "epochs": self.epochs, "metric": None, "gpus": [], "time_s": float(self.epochs)}
                began = time.perf_counter()
                answer = session.ask_on(connection, "POST", session.job_path("reported", "recurrences", 1, "epochs"), body)
                times.append(time.perf_counter() - began)
                self.assertEqual(answer.status, 200, answer)
        return statistics.median(times)

    def followers(self, server: session.Server) -> int:
        text = server.ask("GET", "/metrics").body.decode()
        return next(int(float(line.split()[1])) for line in text.splitlines() if line.startswith("zeus_server_event_readers "))

    def now(self, server: session.Server, what: str) -> int:
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{what}:"))

    def wait_until(self, holds, patience: float = session.PATIENCE) -> None:
        until = time.monotonic() + patience
        while not holds():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)

    def connections(self, server: session.Server) -> int:
        text = server.ask("GET", "/metrics").body.decode()
        return next(int(float(line.split()[1])) for line in text.splitlines() if line.startswith("zeus_server_connections "))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("zeus")
    parser.add_argument("--reports", type=int, default=100)
    parser.add_argument("--most", type=float, default=float("inf"))
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
