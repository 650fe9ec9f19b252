"""The messages between zeusd and its setter, with the other side replaced: a hostile zeusd sends a real setter whatever bytes,
and a real zeusd gets a setter that ends, lies or answers with whatever bytes. What was set is put back, and no process crashes or
stays.

  zeus virtual '2xA100@root-only@limit=300' --shared --load constant:200W -- setter_test.py ZEUSD
    [--rounds N] [--seed S] [-k NAME]
"""

import argparse
import array
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import daemon_session
from daemon_session import Daemon, end_with_parent, guardians_of, until

options = argparse.Namespace()
TAKE, SET, RENEW, RESTORE, RELEASE, PUT_BACK, OVERRULED = range(7)
GPU, READY, FAILED = range(3)
GREETING = struct.Struct("=QQ128sdQQ4096sQ1024s")
REQUEST = struct.Struct("=QQdqqQQQ512sQQddQQ256s")
ANSWER_BEGINS = struct.Struct("=QQQQ4096s")  # kind, calls, the error's kind and message
LINE = struct.Struct("=QQ1024sQ128sQ512sQ512s")


def request(kind: int, lease: int = 1, term: float = 60.0, setting: int = 0, domain: int = 0, first: float = 0.0,
            second: float = 0.0, enabled: int = 0) -> bytes:
    return REQUEST.pack(kind, lease, term, os.getuid(), 0, 0, 0, 0, b"", setting, domain, first, second, enabled, 0, b"")


class HostileZeusd:
    """Starts a setter as zeusd does, and has zeusd's ends of its sockets."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.audit_log = folder / "audit.log"
        self.state = folder / "state"
        self.state.mkdir(mode=0o700, exist_ok=True)
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        number = theirs.fileno()

        def prepare() -> None:
            end_with_parent()
            os.dup2(number, 3)

        self.process = subprocess.Popen([options.setter, "auto", "sets", "info", str(self.audit_log)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=(3, number), preexec_fn=prepare,
                                        env={**os.environ, "ZEUS_STATE_DIR": str(self.state)})
        theirs.close()
        self.gpus: list[socket.socket] = []
        while True:
            data, ancillary, _, _ = self.ours.recvmsg(GREETING.size, socket.CMSG_SPACE(4))
            kind = GREETING.unpack(data)[0]
            assert kind != FAILED, data
            numbers = array.array("i")
            numbers.frombytes(ancillary[0][2])
            channel = socket.socket(fileno=numbers[0])
            if kind == READY:
                self.audit = channel
                return
            self.gpus.append(channel)

    def ask(self, message: bytes, gpu: int = 0) -> tuple[int, str] | None:
        """The answer's error, 0 if there is none; nothing if the channel has ended."""
        try:
            self.gpus[gpu].sendall(message)
            answer = self.gpus[gpu].recv(65536)
        except OSError:
            return None
        if not answer:
            return None
        _, _, error, size, text = ANSWER_BEGINS.unpack_from(answer)
        return error, text[:size].decode()

    def end(self) -> int:
        """Ends like a zeusd that was killed; the setter's exit code."""
        for one in (self.ours, self.audit, *self.gpus):
            one.close()
        code = self.process.wait(daemon_session.PATIENCE)
        self.said = self.process.stdout.read().decode()
        self.process.stdout.close()
        until(lambda: not guardians_of(self.state), "the guardian ends")
        return code


class Case(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(options.seed)
        self.found = driver.settings()
        temporary = tempfile.TemporaryDirectory(prefix="zeus-setter-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def zeusd(self) -> HostileZeusd:
        made = HostileZeusd(self.folder)
        self.addCleanup(lambda: made.process.poll() is None and made.end())
        return made


class AHostileZeusd(Case):
    def test_can_do_what_the_messages_allow_and_each_setting_is_logged(self):
        zeusd = self.zeusd()
        self.assertEqual(zeusd.ask(request(SET, first=200.0))[0] != 0, True, "there is no lease")
        self.assertEqual(zeusd.ask(request(TAKE)), (0, ""))
        self.assertEqual(zeusd.ask(request(SET, first=200.0)), (0, ""))
        self.assertEqual(driver.limit(0), 200_000)
        error, text = zeusd.ask(request(SET, first=100_000.0))
        self.assertTrue(error and text, "the driver's range is the bound")
        self.assertNotEqual(zeusd.ask(request(TAKE, lease=2, term=3601.0))[0], 0, "an hour is the longest term")
        self.assertEqual(zeusd.end(), 0)
        self.assertEqual(driver.settings(), self.found)
        lines = [json.loads(line) for line in zeusd.audit_log.read_text().splitlines()]
        self.assertEqual([(one["what"], one["outcome"] == "done", one["why"]) for one in lines],
                         [("power_limit", True, "set"), ("power_limit", False, "set"),
                          ("power_limit", True, "put back: zeusd has ended")])
        self.assertIn(f"user {os.getuid()}", lines[0]["who"])

    def test_sends_any_bytes(self):
        ended = 0
        for _ in range(options.rounds):
            zeusd = self.zeusd()
            self.assertEqual(zeusd.ask(request(TAKE), gpu=1), (0, ""))
            self.assertEqual(zeusd.ask(request(SET, first=220.0), gpu=1), (0, ""))
            for _ in range(self.random.randrange(1, 40)):
                if zeusd.ask(self.any_message()) is None:
                    ended += 1
                    break
            self.assertEqual(zeusd.ask(request(RENEW), gpu=1), (0, ""), "another GPU is not affected")
            self.assertEqual(driver.limit(1), 220_000)
            zeusd.audit.send(self.random.choice((b"x", os.urandom(LINE.size), LINE.pack(9, 0, b"", 0, b"", 0, b"", 0, b""))))
            self.assertIsNone(zeusd.process.poll())
            self.assertEqual(zeusd.end(), 0, zeusd.process)
            self.assertEqual(driver.settings(), self.found, "all is put back")
            self.assertNotRegex(zeusd.said, "Sanitizer|runtime error|terminate")
        print(f"{options.rounds} setters, of which {ended} ended a GPU's channel for bytes that are no message", flush=True)

    def any_message(self) -> bytes:
        chance = self.random.random()
        if chance < 0.1:
            return self.random.randbytes(self.random.choice((1, 8, REQUEST.size - 1, REQUEST.size, REQUEST.size + 1, 60_000)))
        message = request(self.random.randrange(7), self.random.randrange(3), self.random.choice((60.0, 1.0, 3600.0)),
                          self.random.randrange(4), self.random.randrange(3), self.random.choice((0.0, 50.0, 150.0, 200.0, 1410.0)),
                          self.random.choice((0.0, 900.0, 1410.0, 1e300)), self.random.randrange(2))
        if chance > 0.95:
            at = self.random.randrange(len(message))
            message = message[:at] + self.random.randbytes(1) + message[at + 1:]
        return message

    def test_writes_refusals_that_are_text_alone_and_few(self):
        zeusd = self.zeusd()
        text = b'"}\n{"what": "forged"'
        begun = time.monotonic()
        for _ in range(500):
            zeusd.audit.send(LINE.pack(0, len(text), text, 3, b"/gp", 0, b"", 3, b"403"))
        zeusd.audit.send(LINE.pack(1, 0, b"", 0, b"", 0, b"", 0, b""))  # answered when all before it are done
        self.assertEqual(struct.unpack_from("=Q", zeusd.audit.recv(65536)), (0,))
        took = time.monotonic() - begun
        self.assertEqual(zeusd.end(), 0)
        lines = [json.loads(line) for line in zeusd.audit_log.read_text().splitlines()]
        self.assertEqual({(one["why"], one["what"], one["who"]) for one in lines}, {("refused", "/gp", text.decode())})
        self.assertLessEqual(len(lines), 300 + 100 * took, "100 a second")


# Takes the place of a setter, and changes some answers of a real one on their way to zeusd.
CHANGES_ANSWERS = """
import array, random, subprocess, threading
chance = random.Random({seed})
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
kept = os.dup(3)
os.dup2(theirs.fileno(), 3)
child = subprocess.Popen([{setter!r}, *sys.argv[1:]], stdin=subprocess.DEVNULL, pass_fds=(3,))
os.dup2(kept, 3)
os.close(kept)
theirs.close()

def changed(answer):
    if chance.random() < 0.9:
        return [answer]
    at = chance.randrange(len(answer) if chance.random() < 0.5 else 32)
    size = chance.choice((1, 8, len(answer) - 1, len(answer), len(answer) + 1, 60000))
    return chance.choice(([answer[:at] + chance.randbytes(1) + answer[at + 1:]], [chance.randbytes(size)], [bytes(size)],
                          [chance.randbytes(size), answer], [answer, answer]))

def forward(source, sink, change):
    try:
        while message := source.recv(65536):
            for one in change(message):
                sink.send(one)
    except OSError:
        pass
    sink.shutdown(socket.SHUT_RDWR)

def begin(source, sink, change):
    threading.Thread(target=forward, args=(source, sink, change), daemon=True).start()

while True:
    greeting, numbers, _, _ = socket.recv_fds(ours, 65536, 1)
    if not greeting:
        sys.exit(1)
    its, (mine, zeusds) = socket.socket(fileno=numbers[0]), socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    begin(mine, its, lambda message: [message])
    begin(its, mine, changed)
    socket.send_fds(zeusd, [greeting], [zeusds.fileno()])
    zeusds.close()
    if greeting[0] == {ready}:
        break
while zeusd.recv(1):
    pass
ours.close()
sys.exit(child.wait())
"""


class AForeignSetter(Case):
    """zeusd with a program beside it that takes the setter's place."""

    def with_setter(self, script: str) -> Daemon:
        beside = self.folder / "bin"
        beside.mkdir(exist_ok=True)
        shutil.copy(options.zeusd, beside / "zeusd")
        (beside / "zeus_setter").write_text(f"#!{sys.executable}\nimport os, socket, struct, sys, time\n"
                                            f"zeusd = socket.socket(fileno=3)\n{script}\n")
        (beside / "zeus_setter").chmod(0o755)
        daemon = Daemon(str(beside / "zeusd"))
        self.addCleanup(daemon.close)
        return daemon

    def refused(self, script: str) -> str:
        daemon = self.with_setter(script).start(wait=False)
        self.assertEqual(daemon.process.wait(daemon_session.PATIENCE), 1)
        self.assertNotRegex(daemon.log(), "Sanitizer|runtime error|terminate")
        self.assertFalse(pathlib.Path(daemon.socket).exists())
        return daemon.log()

    def test_ends_at_once(self):
        self.assertIn("the setter, which sets GPUs for zeusd, ended before it was ready", self.refused("sys.exit(3)"))

    def test_greets_with_any_bytes(self):
        for script in ("zeusd.send(b'hello')", f"zeusd.send(bytes({GREETING.size}))", f"zeusd.send(os.urandom({GREETING.size}))"):
            self.assertIn("ended before it was ready", self.refused(script))

    def test_sees_other_gpus(self):
        script = (f"a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                  f"ready = bytearray({GREETING.size})\nready[0] = {READY}\n"
                  f"socket.send_fds(zeusd, [bytes(ready)], [a.fileno()])\ntime.sleep(60)")
        self.assertIn("zeusd sees 2 GPUs, and its setter others (0)", self.refused(script))

    def test_answers_with_any_bytes(self):
        statuses = collections.Counter()
        for _ in range(max(3, options.rounds // 5)):
            script = CHANGES_ANSWERS.format(seed=self.random.getrandbits(32), setter=options.setter, ready=READY)
            with self.with_setter(script) as daemon:
                lease = "none"
                for _ in range(60):
                    target = self.any_target(lease)
                    answer = daemon.post(target)
                    statuses[answer.status] += 1
                    lease = answer.json["id"] if answer.status == 200 and "/take" in target else lease
                    if self.random.random() < 0.05:
                        daemon.process.send_signal(signal.SIGHUP)  # opens the audit log again
                self.assertEqual(daemon.get("/discover").status, 200)
                self.assertEqual(daemon.stop(), 0)
                self.assertNotRegex(daemon.log(), "Sanitizer|runtime error|terminate")
                until(lambda: driver.settings() == self.found, "all is put back")
        print(f"answers of zeusd by status: {dict(statuses)}", flush=True)
        self.assertLessEqual({200, 500}, set(statuses))

    def any_target(self, lease: str) -> str:
        which, gpu = f"lease={lease}", self.random.randrange(2)
        limit = self.random.randrange(150, 290) * 1000
        return self.random.choice((
            f"/v1/leases/take?gpu_ids={gpu}&term_s=60", "/v1/leases/take?gpu_ids=0,1&term_s=60", f"/v1/leases/renew?{which}",
            f"/v1/leases/set_power_limit?{which}&gpu_ids={gpu}&power_limit_mw={limit}",
            f"/v1/leases/lock_clocks?{which}&gpu_ids={gpu}&domain=graphics&min_clock_mhz=600&max_clock_mhz=900",
            f"/v1/leases/restore?{which}", f"/v1/leases/release?{which}",
            f"/gpu/set_power_limit?gpu_ids={gpu}&block=true&power_limit_mw={limit}"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("zeusd")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    rest = parser.parse_known_args(namespace=options)[1]
    daemon_session.skip_without_root()
    options.zeusd = str(pathlib.Path(options.zeusd).resolve())
    options.setter = str(pathlib.Path(options.zeusd).with_name("zeus_setter"))
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    driver = daemon_session.Driver()
    main()
