"""Kills, stops and starves zeusd and its clients at random moments, and sees that every GPU is put back to what an operator
had set: neither the default nor the maximum.

  zeus virtual '4xA100@root-only@limit=300' --shared --load constant:200W -- fault_test.py ZEUSD
    [--rounds N] [--bound SECONDS] [--seed S] [-k NAME]

Without --bound, how long it took is printed and not judged: that is the machine's business.
"""

import argparse
import os
import pathlib
import random
import signal
import socket
import sys
import threading
import time
import unittest

import daemon_session
from daemon_session import KEY, PATIENCE, SOMEBODY, Daemon, ask, connection_to, guardians_of, token_of, until

GPUS = 4
CLIENTS = 8
TERM = 1.0  # of explicit leases, the shortest that is given
ALL = token_of("zoe", *daemon_session.ALL_GROUPS)
SETTERS = {b"nvmlDeviceSetPowerManagementLimit": "power_limit", b"nvmlDeviceSetPersistenceMode": "persistence_mode",
           b"nvmlDeviceSetGpuLockedClocks": "graphics_clocks", b"nvmlDeviceResetGpuLockedClocks": "graphics_clocks",
           b"nvmlDeviceSetMemoryLockedClocks": "memory_clocks", b"nvmlDeviceResetMemoryLockedClocks": "memory_clocks"}
options = argparse.Namespace()
driver: daemon_session.Driver


def play(where, bearer: str | None, seed: int, renews: bool, implicit: bool) -> None:
    """A client for good: takes a lease of a GPU, or sets without one, and sets at random. Whatever is refused, it goes on."""
    chance = random.Random(seed)
    connection = connection_to(where, 5.0)
    gpu, lease = chance.randrange(GPUS), None
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
                lease, gpu = None, chance.randrange(GPUS)
            time.sleep(chance.uniform(0.0, 0.02) if renews else 1000.0 * (lease is not None))
        except (OSError, ValueError, daemon_session.http.client.HTTPException):
            connection.close()
            lease = None
            time.sleep(0.02)


class Client:
    """Such a client in a process of its own, as a user without rights; `children` keep its connection."""

    def __init__(self, where, seed: int, implicit: bool, bearer: str | None = None, children: int = 0) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setpgid(0, 0)
                os.setgroups([])
                os.setresgid(SOMEBODY, SOMEBODY, SOMEBODY)
                os.setresuid(SOMEBODY, SOMEBODY, SOMEBODY)
                kept = connection_to(where, 5.0)
                if children:
                    ask(where, "GET", "/time", connection=kept)
                    for _ in range(children):
                        if os.fork() == 0:
                            time.sleep(600)
                            os._exit(0)
                play(where, bearer, seed, True, implicit)
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


class Proxy:
    """Forwards TCP until it is told to be silent; then it keeps every connection, and nothing passes."""

    def __init__(self, to) -> None:
        self.to = to
        self.silent = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.where = self.listener.getsockname()
        self.sockets: list[socket.socket] = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                one, _ = self.listener.accept()
                other = socket.create_connection(self.to)
            except OSError:
                return
            self.sockets += [one, other]
            for pair in ((one, other), (other, one)):
                threading.Thread(target=self.forward, args=pair, daemon=True).start()

    def forward(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while (piece := source.recv(65536)) and not self.silent.is_set():
                sink.sendall(piece)
        except OSError:
            pass

    def close(self) -> None:
        for one in [self.listener, *self.sockets]:
            one.close()


class Faults(unittest.TestCase):
    def setUp(self):
        driver.clear_faults()
        self.random = random.Random(options.seed)
        self.found = driver.settings()
        self.changed, self.slowest = 0, 0.0
        self.clients: list[Client] = []
        self.addCleanup(self.end_clients)

    def end_clients(self):
        for client in self.clients:
            client.sweep()
            try:
                client.kill()
            except (ProcessLookupError, ChildProcessError):
                pass
        self.clients = []

    def start(self, **more) -> Daemon:
        daemon = Daemon(options.zeusd, **more).start()
        self.addCleanup(lambda: daemon.__exit__())
        return daemon

    def crowd(self, daemon: Daemon, kinds=(True, False), children: int = 0) -> None:
        """Eight clients, half of which lease."""
        for number in range(CLIENTS):
            implicit = kinds[number % len(kinds)]
            self.clients.append(Client(daemon.socket, self.random.getrandbits(32), implicit, children=children))

    def at_a_random_moment(self):
        time.sleep(self.random.uniform(0.05, 0.35))
        self.changed += driver.settings() != self.found

    def expect_put_back(self, since: float):
        until(lambda: driver.settings() == self.found, f"put back: {self.found}, {driver.settings()}")
        took = time.monotonic() - since
        self.slowest = max(self.slowest, took)
        if options.bound:
            self.assertLessEqual(took, options.bound)

    def report(self, what: str, rounds: int | None = None):
        rounds = rounds or options.rounds
        print(f"{what}: {rounds} times, of which {self.changed} with settings changed; put back within "
              f"{max(self.slowest, 0):.3f} s", flush=True)
        if rounds >= 20:
            self.assertGreater(self.changed, rounds // 3, "nothing was changed when it happened")

    def held_by(self, daemon: Daemon) -> tuple[int, int]:
        proc = pathlib.Path(f"/proc/{daemon.process.pid}")
        return len(list((proc / "fd").iterdir())), len(list((proc / "task").iterdir()))

    def held_when_used(self, daemon: Daemon) -> tuple[int, int]:
        """What it has open for good, once it has been asked for everything."""
        self.crowd(daemon)
        time.sleep(0.5)
        self.end_clients()
        until(lambda: driver.settings() == self.found, "put back")
        time.sleep(1.0)
        return self.held_by(daemon)

    def expect_nothing_left(self, daemon: Daemon, before: tuple[int, int]):
        until(lambda: self.held_by(daemon) <= before, f"no descriptor or thread is left: {before}, {self.held_by(daemon)}")
        self.assertLessEqual(len(guardians_of(daemon.state)), 1, "the daemon has one guardian")

    def expect_audited(self, daemon: Daemon, first: int, before: int):
        """The setters in the driver's log are those that were written down, one to one."""
        called: dict[str, int] = {}
        for call in driver.calls(first):
            if call.process == daemon.process.pid and call.entry_point in SETTERS:
                what = SETTERS[call.entry_point]
                called[what] = called.get(what, 0) + 1
        written: dict[str, int] = {}
        for line in daemon.audit()[before:]:
            written[line["what"]] = written.get(line["what"], 0) + 1
        self.assertEqual(called, written)

    def test_clients_are_killed(self):
        for children in (0, 2):
            self.changed, self.slowest = 0, 0.0
            daemon = self.start()
            before = self.held_when_used(daemon)
            first = driver.next_call()
            written = len(daemon.audit())
            for _ in range(options.rounds):
                self.crowd(daemon, children=children)
                self.at_a_random_moment()
                for client in self.clients:
                    os.kill(client.pid, signal.SIGKILL)
                since = time.monotonic()
                for client in self.clients:
                    os.waitpid(client.pid, 0)
                self.expect_put_back(since)
                for client in self.clients:
                    client.sweep()
                self.clients = []
            self.expect_nothing_left(daemon, before)
            if len(driver.calls(first)) < 4000:
                self.expect_audited(daemon, first, written)
            self.report(f"clients are killed that have {children} children each")

    def test_clients_are_stopped_past_their_term(self):
        daemon = self.start()
        before = self.held_when_used(daemon)
        for _ in range(options.rounds):
            self.crowd(daemon, kinds=(False,))
            self.at_a_random_moment()
            for client in self.clients:
                os.kill(client.pid, signal.SIGSTOP)
            self.expect_put_back(time.monotonic() + TERM)
            self.end_clients()
        self.expect_nothing_left(daemon, before)
        self.report("clients are stopped")

    def test_clients_are_silent_behind_a_proxy(self):
        daemon = self.start(modes="uds,tcp", key=KEY)
        for _ in range(options.rounds):
            proxy = Proxy(daemon.tcp)
            for number in range(CLIENTS):
                self.clients.append(Client(proxy.where, self.random.getrandbits(32), False,
                                           bearer=token_of(f"user{number}", "gpu-control")))
            self.at_a_random_moment()
            proxy.silent.set()
            self.expect_put_back(time.monotonic() + TERM)
            self.end_clients()
            proxy.close()
        self.report("clients are silent behind a proxy")

    def test_the_daemon_is_killed(self):
        for with_clients in (False, True):
            self.changed, self.slowest = 0, 0.0
            daemon = self.start()
            for _ in range(options.rounds):
                self.crowd(daemon)
                self.at_a_random_moment()
                since = time.monotonic()
                daemon.process.kill()
                if with_clients:
                    self.end_clients()
                daemon.process.wait()
                self.expect_put_back(since)
                self.end_clients()
                until(lambda: not guardians_of(daemon.state), "no guardian is left")
                daemon.start()
            self.report("daemon and clients are killed" if with_clients else "the daemon is killed")

    def test_the_daemon_and_its_guardian_are_killed_and_the_next_start_puts_back(self):
        daemon = self.start()
        for _ in range(options.rounds):
            self.crowd(daemon)
            self.at_a_random_moment()
            daemon.process.send_signal(signal.SIGSTOP)
            for guardian in guardians_of(daemon.state):
                os.kill(guardian, signal.SIGKILL)
            daemon.process.kill()
            daemon.process.wait()
            self.end_clients()
            daemon.start()
            self.assertEqual(driver.settings(), self.found, "before the next start answers")
        self.report("daemon and guardian are killed")

    def test_the_daemon_is_stopped(self):
        daemon = self.start()
        for _ in range(options.rounds):
            self.crowd(daemon, kinds=(False,))
            self.at_a_random_moment()
            daemon.process.send_signal(signal.SIGSTOP)
            self.expect_put_back(time.monotonic() + TERM)
            self.end_clients()
            daemon.process.send_signal(signal.SIGCONT)
            until(lambda: daemon.get("/v1/leases").json["leases"] == [], "it goes on, and has no lease left")
            self.assertEqual(driver.settings(), self.found)
        self.report("the daemon is stopped")

    def test_sigterm(self):
        daemon = self.start()
        for _ in range(options.rounds):
            self.crowd(daemon)
            self.at_a_random_moment()
            since = time.monotonic()
            self.assertEqual(daemon.stop(), 0)
            self.assertEqual(driver.settings(), self.found)
            self.expect_put_back(since)
            self.end_clients()
            daemon.start()
        self.report("SIGTERM")

    def test_a_gpu_is_lost_and_comes_back(self):
        daemon = self.start()
        for _ in range(options.rounds):
            self.crowd(daemon)
            self.at_a_random_moment()
            driver.fault("lost gpu=1")
            self.end_clients()
            time.sleep(0.1)
            driver.clear_faults()
            self.expect_put_back(time.monotonic())
        self.report("a GPU is lost and back")

    def test_setters_that_hang_on_one_gpu_hold_up_no_other(self):
        daemon = self.start()
        rounds = min(options.rounds, 20)
        for _ in range(rounds):
            self.crowd(daemon)
            self.at_a_random_moment()
            driver.fault("slow delay=5s call=nvmlDeviceSet* gpu=0 times=1")
            time.sleep(0.2)
            since = time.monotonic()
            self.end_clients()
            until(lambda: driver.settings()[1:] == self.found[1:], "the others are put back")
            if options.bound:
                self.assertLessEqual(time.monotonic() - since, options.bound)
            driver.clear_faults()
            self.expect_put_back(since + 5.0)
        self.report("setters of one GPU hang", rounds)


class Point0(unittest.TestCase):
    def test_0_users_are_refused_by_the_driver_without_the_daemon(self):
        driver.expect_refused_without_the_daemon()


def main() -> None:
    global driver
    parser = argparse.ArgumentParser()
    parser.add_argument("zeusd")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--bound", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    rest = parser.parse_known_args(namespace=options)[1]
    daemon_session.skip_without_root()
    driver = daemon_session.Driver()
    driver.tell("nvmlDeviceSetPersistenceMode", 0, 1)
    print(f"seed {options.seed}; patience {PATIENCE} s", flush=True)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
