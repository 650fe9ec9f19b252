"""Shared by the tests of faults: clients that set at random, the driver's log of calls, followed while a test runs, the
comparison of that log with the audit log, and what a daemon has open."""

import argparse
import collections
import contextlib
import ctypes
import dataclasses
import datetime
import json
import os
import pathlib
import random
import re
import signal
import sys
import threading
import time
import unittest

import daemon_session
from daemon_session import SOMEBODY, Daemon, DriverCall, ask, connection_to, guardians_of, until

GPUS = 4
CLIENTS = 8
TERM = 1.0  # of explicit leases: the shortest possible
SETTERS = {b"nvmlDeviceSetPowerManagementLimit": "power_limit", b"nvmlDeviceSetPersistenceMode": "persistence_mode",
           b"nvmlDeviceSetGpuLockedClocks": "graphics_clocks", b"nvmlDeviceResetGpuLockedClocks": "graphics_clocks",
           b"nvmlDeviceSetMemoryLockedClocks": "memory_clocks", b"nvmlDeviceResetMemoryLockedClocks": "memory_clocks"}
options = argparse.Namespace()


def play(where, bearer: str | None, seed: int, implicit: bool, gpus) -> None:
    """A client that runs until it is killed: takes a lease of a GPU, or sets without one, at random. After a refusal it goes
    on."""
    chance = random.Random(seed)
    connection = connection_to(where, 5.0)
    gpu, lease = chance.choice(gpus), None
    while True:
        try:
            limit = chance.randrange(150, 290) * 1000
            if implicit:
                target = chance.choice([
                    f"/gpu/set_power_limit?gpu_ids={gpu}&block=true&power_limit_mw={limit}",
                    f"/gpu/set_persistence_mode?gpu_ids={gpu}&block=true&enabled=true",
                    f"/gpu/set_gpu_locked_clocks?gpu_ids={gpu}&block=true&min_clock_mhz=600&max_clock_mhz=900"])
                answer = ask(where, "POST", target, bearer=bearer, connection=connection)
            elif lease is None:
                answer = ask(where, "POST", f"/v1/leases/take?gpu_ids={gpu}&term_s={TERM}", bearer=bearer,
                             connection=connection)
                lease = answer.json["id"] if answer.status == 200 else None
            else:
                answer = ask(where, "POST", f"/v1/leases/set_power_limit?lease={lease}&gpu_ids={gpu}&power_limit_mw={limit}",
                             bearer=bearer, connection=connection)
            if answer.status != 200:
                lease, gpu = None, chance.choice(gpus)
            time.sleep(chance.uniform(0.0, 0.02))
        except (OSError, ValueError, daemon_session.http.client.HTTPException):
            connection.close()
            lease = None
            time.sleep(0.02)


def become_somebody() -> None:
    os.setgroups([])
    os.setresgid(SOMEBODY, SOMEBODY, SOMEBODY)
    os.setresuid(SOMEBODY, SOMEBODY, SOMEBODY)


class Process:
    """`work` in a separate process, as a user without rights."""

    def __init__(self, work, *arguments) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setpgid(0, 0)
                become_somebody()
                work(*arguments)
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
            finally:
                os._exit(1)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def sweep(self) -> None:
        """Ends the children that it has left."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Client(Process):
    """A client that sets at random; `children` keep its connection."""

    def __init__(self, where, seed: int, implicit: bool, bearer: str | None = None, children: int = 0,
                 gpus=range(GPUS)) -> None:
        super().__init__(self.live, where, seed, implicit, bearer, children, gpus)

    @staticmethod
    def live(where, seed: int, implicit: bool, bearer: str | None, children: int, gpus) -> None:
        kept = connection_to(where, 5.0)
        if children:
            ask(where, "GET", "/time", connection=kept)
            for _ in range(children):
                if os.fork() == 0:
                    time.sleep(600)
                    os._exit(0)
        play(where, bearer, seed, implicit, gpus)


@dataclasses.dataclass
class Setter:
    gpu: int
    process: int
    begun: float  # on the monotonic clock
    took: float  # at least
    what: str
    done: bool


class DriverLog:
    """Each setter call of the driver since this began, also by a guardian. The driver itself only remembers the last 4,096
    calls of all processes, so they are fetched continually."""

    REMEMBERED = 4096

    def __init__(self, driver: daemon_session.Driver) -> None:
        self.driver = driver
        self.calls = (DriverCall * self.REMEMBERED)()
        self.lock = threading.Lock()
        self.setters: dict[int, Setter] = {}  # by the number of the call
        self.next = driver.next_call()
        self.awaited: dict[int, float] = {}  # calls that are still being written, and since when; a killed process writes no more
        self.latest, self.forgotten = 0.0, 0
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self) -> None:
        with contextlib.suppress(OSError):  # before all others, whose calls it must not miss
            os.sched_setscheduler(threading.get_native_id(), os.SCHED_FIFO, os.sched_param(1))
        while True:
            self.fetch()
            time.sleep(0.02)

    def fetch(self) -> bool:
        """False while a call before the last one is still being written; those after it are read meanwhile, because the driver
        forgets them within the second that it is awaited."""
        with self.lock:
            count = ctypes.c_uint(self.REMEMBERED)
            now = time.monotonic()
            self.awaited = {number: since for number, since in self.awaited.items() if now < since + 1.0}
            assert self.driver.library.zeus_virtual_read_calls(ctypes.c_uint64(min(self.awaited, default=self.next)),
                                                               self.calls, ctypes.byref(count)) == 0
            for call in self.calls[:count.value]:
                if call.number >= self.next:
                    missing = range(self.next, call.number)
                    self.forgotten += len(missing) > 16
                    self.awaited.update((number, now) for number in missing[:16])
                    self.next = call.number + 1
                elif self.awaited.pop(call.number, None) is None:
                    continue
                self.latest = max(self.latest, call.time)
                if (what := SETTERS.get(call.entry_point)) is not None:
                    self.setters[call.number] = Setter(call.gpu, call.process, call.time, self.latest - call.time, what,
                                                       call.result == 0)
            return not self.awaited

    def all(self) -> list[Setter]:
        until(self.fetch, "the driver's log is whole")
        assert not self.forgotten, "the driver's log was not read in time"
        with self.lock:
            return [self.setters[number] for number in sorted(self.setters)]


@dataclasses.dataclass
class Run:
    """One start of a daemon: its setter, and the end of the audit log at that time."""

    process: int
    begun: float
    audit: int


class WatchedDaemon(Daemon):
    """A daemon whose starts are remembered."""

    def __init__(self, *arguments, **more) -> None:
        super().__init__(*arguments, **more)
        self.runs: list[Run] = []

    def start(self, wait: bool = True) -> "WatchedDaemon":
        self.runs.append(Run(0, time.monotonic(), self.audit_log.stat().st_size if self.audit_log.exists() else 0))
        try:
            super().start(wait)
        finally:
            self.runs[-1].process = self.setter() if self.process else 0
        return self

    def lines_of_runs(self) -> list[list[dict]]:
        text = self.audit_log.read_bytes() if self.audit_log.exists() else b""
        ends = [run.audit for run in self.runs[1:]] + [len(text)]
        return [[json.loads(line) for line in text[run.audit:end].splitlines()] for run, end in zip(self.runs, ends)]


def noted_in(lines: list[dict], uuid: str) -> collections.Counter:
    return collections.Counter(one["what"] for one in lines if one["gpu"] == uuid and one["outcome"] == "noted")


def seconds_of(line: dict) -> float:
    return datetime.datetime.fromisoformat(line["time"]).timestamp()


def expect_audited(case: unittest.TestCase, daemon: WatchedDaemon, log: DriverLog, uuids: list[str]) -> dict[str, int]:
    """The setters in the driver's log match the audit log one to one and in order, except for the last one before a kill and
    what a guardian has put back: the daemon notes those afterwards."""
    setters = log.all()
    lines = daemon.lines_of_runs()
    offset = time.time() - time.monotonic()
    counted = collections.Counter()
    for number, run in enumerate(daemon.runs):
        is_last = number + 1 == len(daemon.runs)
        following = [] if is_last else lines[number + 1]
        until_when = float("inf") if is_last else daemon.runs[number + 1].begun
        # The kernel gives the process ID to another one after a while, also to a setter of another run.
        called = collections.defaultdict(list)
        by_others = collections.defaultdict(list)
        for one in setters:
            if run.begun <= one.begun < until_when:
                if one.process == run.process:
                    called[one.gpu].append(one)
                elif one.process != os.getpid() and one.done:
                    by_others[one.gpu].append(one)
        for gpu, uuid in enumerate(uuids):
            calls = called[gpu]
            written = [one for one in lines[number] if one["gpu"] == uuid and one["outcome"] != "noted"]
            case.assertLessEqual(len(written), len(calls), "each line is of a call")
            case.assertEqual([(one.what, one.done) for one in calls[:len(written)]],
                             [(one["what"], one["outcome"] == "done") for one in written])
            for call, line in zip(calls, written):
                began = call.begun + offset
                case.assertTrue(began - 1.5 <= seconds_of(line) <= began + call.took + 30.0, f"{call} {line}")
            unwritten = calls[len(written):]
            case.assertLessEqual(len(unwritten), int(not is_last), f"each call has a line: {unwritten}")
            of_next = noted_in(following, uuid)
            case.assertLessEqual({one.what for one in unwritten}, set(of_next), "the last before a kill is noted")
            noted = noted_in(lines[number], uuid)
            back = by_others[gpu]
            case.assertLessEqual(collections.Counter(one.what for one in back), noted + of_next,
                                 f"what a guardian has put back is noted: {back}")
            counted.update(lines=len(written), unwritten=len(unwritten), by_guardians=len(back), noted=noted.total())
    return dict(counted)


@dataclasses.dataclass
class Held:
    """A process's open descriptors by kind, its threads and its children."""

    descriptors: collections.Counter
    threads: int
    children: int

    @classmethod
    def by(cls, process: int) -> "Held":
        proc = pathlib.Path(f"/proc/{process}")
        kinds = collections.Counter()
        for one in (proc / "fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # it has just been closed
                kinds[re.sub(r":\[\d+\]$", "", os.readlink(one))] += 1
        threads, children = 0, 0
        for task in (proc / "task").iterdir():
            with contextlib.suppress(OSError):  # it has just ended
                children += len((task / "children").read_text().split())
                threads += 1
        return cls(kinds, threads, children)

    def beyond(self, fresh: "Held") -> dict[str, int]:
        more = {kind: count - fresh.descriptors[kind] for kind, count in self.descriptors.items()
                if count > fresh.descriptors[kind]}
        if self.threads > fresh.threads:
            more["threads"] = self.threads - fresh.threads
        if self.children > fresh.children:
            more["children"] = self.children - fresh.children
        return more


class FaultCase(unittest.TestCase):
    """A daemon with clients; afterwards every GPU must have the operator's settings."""

    driver: daemon_session.Driver
    log: DriverLog

    def setUp(self):
        self.driver.clear_faults()
        self.random = random.Random(options.seed)
        self.found = self.driver.settings()
        self.changed, self.slowest = 0, 0.0
        self.clients: list[Process] = []
        self.addCleanup(self.end_clients)

    def end_clients(self):
        for client in self.clients:
            client.sweep()
            try:
                client.kill()
            except (ProcessLookupError, ChildProcessError):
                pass
        self.clients = []

    def start(self, **more) -> WatchedDaemon:
        daemon = WatchedDaemon(options.zeusd, **more).start()
        self.addCleanup(lambda: daemon.__exit__())
        return self.look_at(daemon)

    def look_at(self, daemon: WatchedDaemon) -> WatchedDaemon:
        """Remembers the state of a fresh daemon."""
        self.fresh = [Held.by(process) for process in (daemon.process.pid, daemon.setter())]
        self.uuids = uuids_of(daemon)
        return daemon

    def crowd(self, daemon: Daemon, kinds=(True, False), children: int = 0) -> None:
        """Eight clients, half of them with leases."""
        for number in range(CLIENTS):
            implicit = kinds[number % len(kinds)]
            self.clients.append(Client(daemon.socket, self.random.getrandbits(32), implicit, children=children))

    def at_a_random_moment(self):
        time.sleep(self.random.uniform(0.05, 0.35))
        self.changed += self.driver.settings() != self.found

    def expect_put_back(self, since: float, gpus=range(GPUS), is_bound: bool = True):
        def is_back():
            settings = self.driver.settings(gpus)
            return settings == [self.found[gpu] for gpu in gpus]
        until(is_back, f"put back: {self.found}, {self.driver.settings(gpus)}")
        took = time.monotonic() - since
        self.slowest = max(self.slowest, took)
        if options.bound and is_bound:
            self.assertLessEqual(took, options.bound)

    def report(self, what: str, rounds: int | None = None):
        rounds = rounds or options.rounds
        print(f"{what}: {rounds} times, of which {self.changed} with settings changed; put back within "
              f"{max(self.slowest, 0):.3f} s", flush=True)
        if rounds >= 20:
            self.assertGreater(self.changed, rounds // 3, "nothing was set at that moment")

    def expect_nothing_left(self, daemon: Daemon):
        """Like a fresh daemon, except for the guardian that its setter's first lease has started, and the connection to it."""
        for process, fresh, more in ((daemon.process.pid, self.fresh[0], {}), (daemon.setter(), self.fresh[1], {"socket": 1})):
            deadline = time.monotonic() + daemon_session.PATIENCE
            while (left := Held.by(process).beyond(fresh)) not in ({}, more):
                self.assertLess(time.monotonic(), deadline, f"nothing is left: {left}")
                time.sleep(0.01)
        # One that goes into the background counts twice for a moment.
        until(lambda: len(guardians_of(daemon.state)) <= 1, "the daemon has one guardian")

    def expect_audited(self, daemon: WatchedDaemon):
        until(lambda: not list(daemon.state.glob("*.lease.json")), "the guardian is done as well")
        self.assertEqual(daemon.stop(), 0)
        daemon.start()
        print(f"  audit log: {expect_audited(self, daemon, self.log, self.uuids)}", flush=True)


def uuids_of(daemon: Daemon) -> list[str]:
    gpus = daemon.get("/v1/readings").json["gpus"]
    return [one["uuid"] for one in sorted(gpus, key=lambda one: one["id"])]


class Point0(unittest.TestCase):
    def test_0_users_are_refused_by_the_driver_without_the_daemon(self):
        FaultCase.driver.expect_refused_without_the_daemon()


def main(**extra) -> None:
    """Runs the tests of the program. `extra` are further options, by name, with their defaults."""
    parser = argparse.ArgumentParser()
    parser.add_argument("zeusd")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--bound", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    for name, default in extra.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    rest = parser.parse_known_args(namespace=options)[1]
    daemon_session.skip_without_root()
    FaultCase.driver = daemon_session.Driver()
    FaultCase.log = DriverLog(FaultCase.driver)
    FaultCase.driver.tell("nvmlDeviceSetPersistenceMode", 0, 1)
    print(f"seed {options.seed}; patience {daemon_session.PATIENCE} s", flush=True)
    unittest.main(argv=[sys.argv[0], *rest])
