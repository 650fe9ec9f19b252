"""Streams of bytes that are almost requests, cut into pieces at random places and ended at random: zeusd answers complete
requests, refuses the rest, and is afterwards in the same state as before.

  zeus virtual '2xA100@root-only@limit=300' --shared --load constant:200W -- cut_streams_test.py ZEUSD [--streams N]
  [--growth MB]

ZEUSD may be a sanitized build: reports of its sanitizers are in its log, and fail the test. The sanitizers' own memory grows
(--growth), so growth is checked with a plain build, and leaks by the sanitizers at the end.
"""

import argparse
import os
import pathlib
import random
import socket
import tempfile
import unittest

import daemon_session
from daemon_session import Daemon, until

AT_ONCE = 100
TARGETS = ("GET /gpu/get_power", "GET /gpu/get_power?gpu_ids=0,1", "GET /discover", "GET /time", "GET /v1/readings",
           "GET /v1/leases", "GET /v1/outcomes?after=3", "GET /metrics", "GET /cpu/get_power", "HEAD /time", "PUT /time",
           "POST /gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=250000",
           "POST /gpu/set_gpu_locked_clocks?gpu_ids=1&block=false&min_clock_mhz=600&max_clock_mhz=900",
           "POST /gpu/reset_locked_clocks?gpu_ids=0,1&block=true", "POST /gpu/set_persistence_mode?gpu_ids=1&block=true&enabled=true",
           "POST /v1/leases/take?gpu_ids=0&term_s=1", "POST /v1/leases/release?lease=0123456789abcdef", "GET /%00%ff?a=%zz")
HEADERS = (b"Host: localhost", b"Connection: close", b"Expect: 100-continue", b"Content-Length: 7", b"Content-Length: 0",
           b"Transfer-Encoding: chunked", b"Authorization: Bearer a.b.c", b"Origin: null", b"X: " + b"y" * 5000)
BODIES = (b"", b"", b"abcdefg", b"3\r\nabc\r\n0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"\x00\xff\r\n\r\n")
options = argparse.Namespace()
driver: daemon_session.Driver


def stream_of(chance: random.Random) -> bytes:
    text = b""
    for _ in range(chance.randrange(1, 4)):
        text += chance.choice(TARGETS).encode() + chance.choice((b" HTTP/1.1", b" HTTP/1.1", b" HTTP/1.1", b" HTTP/1.0")) + b"\r\n"
        text += b"".join(header + b"\r\n" for header in chance.sample(HEADERS, chance.randrange(0, 3)) + [HEADERS[0]])
        text += b"\r\n" + chance.choice(BODIES)
    if chance.random() < 0.4:
        text = text[: chance.randrange(len(text) + 1)]
    if chance.random() < 0.4 and text:
        mutated = bytearray(text)
        for _ in range(chance.randrange(1, 5)):
            mutated[chance.randrange(len(mutated))] = chance.randrange(256)
        text = bytes(mutated)
    return text


def pieces_of(text: bytes, chance: random.Random) -> list[bytes]:
    cuts = sorted({0, len(text), *(chance.randrange(len(text) + 1) for _ in range(chance.randrange(0, 6)))})
    return [text[begin:end] for begin, end in zip(cuts, cuts[1:])]


class CutStreams(unittest.TestCase):
    def send_some(self, path: str, chance: random.Random) -> None:
        """Feeds this many connections in turn, one piece each; some are dropped, the others read to their end."""
        connections = []
        for _ in range(AT_ONCE):
            one = socket.socket(socket.AF_UNIX)
            one.connect(path)
            one.settimeout(60)
            connections.append((one, pieces_of(stream_of(chance), chance), chance.random() < 0.2))
        while any(pieces for _, pieces, _ in connections):
            for one, pieces, _ in connections:
                if pieces:
                    try:
                        one.sendall(pieces.pop(0))
                    except OSError:
                        pieces.clear()  # it has been refused and closed
        for one, _, is_dropped in connections:
            try:
                if not is_dropped:
                    one.shutdown(socket.SHUT_WR)
                    while one.recv(1 << 16):
                        pass
            except OSError:
                pass
            one.close()

    def test_nothing_is_left_of_them(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="zeusd-") as folder:
            found = driver.settings()
            # Freed memory is returned to the system, so that leaks show.
            sanitizers = {"ASAN_OPTIONS": "quarantine_size_mb=1:malloc_context_size=3"}
            daemon = Daemon(options.zeusd, folder=folder, environment=sanitizers)
            daemon.words = [word for word in daemon.words if word != "--log-requests"]
            daemon.start()
            self.addCleanup(lambda: daemon.__exit__())
            proc = pathlib.Path(f"/proc/{daemon.process.pid}")
            chance = random.Random(1)
            self.assertEqual(daemon.get("/time").status, 200)
            held, sent, early = self.held(proc), 0, None

            def is_as_before() -> bool:
                descriptors, threads = self.held(proc)
                # A thread may keep that of its latest peer.
                return descriptors <= held[0] + threads and threads <= held[1]

            while sent < options.streams:
                self.send_some(daemon.socket, chance)
                sent += AT_ONCE
                self.assertIsNone(daemon.process.poll(), daemon.log())
                # By half of them, its heap has taken what that many connections at a time need.
                if early is None and sent >= options.streams / 2:
                    until(is_as_before, f"descriptors and threads as before the first stream: {held}")
                    early = self.resident(proc)
            self.assertEqual(daemon.get("/time").status, 200)
            until(is_as_before, f"descriptors and threads as before the first stream: {held}")
            grown = (self.resident(proc) - early) / 1e6
            print(f"{sent} streams: {grown:+.2f} MB since the first half, of {early / 1e6:.1f} MB; {held[0]} descriptors, "
                  f"{held[1]} threads", flush=True)
            self.assertLess(grown, options.growth)
            self.assertEqual(daemon.stop(), 0)
            self.assertNotRegex(daemon.log(), "Sanitizer|runtime error")
            self.assertEqual(driver.settings(), found)
            daemon.__exit__()

    @staticmethod
    def held(proc: pathlib.Path) -> tuple[int, int]:
        return len(os.listdir(proc / "fd")), len(os.listdir(proc / "task"))

    @staticmethod
    def resident(proc: pathlib.Path) -> int:
        return 1024 * int((proc / "status").read_text().partition("VmRSS:")[2].split()[0])


if __name__ == "__main__":
    driver, words = daemon_session.begin(options, ("--streams", {"type": int, "default": 2000}),
                                         ("--growth", {"type": float, "default": 2.0}))
    unittest.main(argv=words)
