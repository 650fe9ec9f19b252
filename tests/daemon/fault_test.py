"""Kills, stops and starves zeusd and its clients at random moments, and checks that every GPU is put back to the operator's
settings (neither the default nor the maximum), that the audit log has each setter call, and that nothing is left behind.

  zeus virtual '4xA100@root-only@limit=300' --shared --load constant:200W -- fault_test.py ZEUSD
    [--rounds N] [--bound SECONDS] [--seed S] [-k NAME]

Without --bound, times are printed but not judged, because they depend on the machine.
"""

import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import fault_session
from daemon_session import KEY, SOMEBODY, as_user, ask, guardians_of, is_running, kill_guardian, token_of, unmount, until
from fault_session import CLIENTS, GPUS, TERM, Client, FaultCase, Point0, WatchedDaemon, options  # noqa: F401: Point0 is a test


class Proxy:
    """Forwards TCP until it is silenced; then it keeps every connection, but forwards nothing."""

    def __init__(self, to) -> None:
        self.to = to
        self.silent = threading.Event()
        self.closed = False
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
            if self.closed:
                self.close()
                return
            for pair in ((one, other), (other, one)):
                threading.Thread(target=self.forward, args=pair, daemon=True).start()

    def forward(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while (piece := source.recv(65536)) and not self.silent.is_set():
                sink.sendall(piece)
        except OSError:
            pass

    def close(self) -> None:
        self.closed = True
        for one in [self.listener, *self.sockets]:
            try:
                one.shutdown(socket.SHUT_RDWR)  # otherwise a thread that still reads it keeps it open
            except OSError:
                pass
            one.close()


class Faults(FaultCase):
    def test_clients_are_killed(self):
        for children in (0, 2):
            self.changed, self.slowest = 0, 0.0
            daemon = self.start()
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
            self.report(f"clients are killed that have {children} children each")
            self.expect_nothing_left(daemon)
            self.expect_audited(daemon)

    def test_clients_are_stopped_past_their_term(self):
        daemon = self.start()
        for _ in range(options.rounds):
            self.crowd(daemon, kinds=(False,))
            self.at_a_random_moment()
            for client in self.clients:
                os.kill(client.pid, signal.SIGSTOP)
            self.expect_put_back(time.monotonic() + TERM)
            self.end_clients()
        self.report("clients are stopped")
        self.expect_nothing_left(daemon)
        self.expect_audited(daemon)

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
        self.expect_nothing_left(daemon)
        self.expect_audited(daemon)

    def test_a_limit_that_is_held_is_put_back_when_zeusd_is_killed(self):
        daemon = self.start()
        self.assertEqual(daemon.posted("/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=150000").status, 200)
        self.assertNotEqual(self.driver.settings(), self.found)
        since = time.monotonic()
        daemon.process.kill()
        self.expect_put_back(since)

    def test_zeusd_is_killed_or_its_setter_or_both(self):
        ways = {"zeusd": lambda daemon: daemon.process.kill(), "the setter": lambda daemon: os.kill(daemon.setter(), signal.SIGKILL),
                "zeusd and its setter": lambda daemon: daemon.kill_whole(), "all that serves and its clients": None}
        for name, kill in ways.items():
            self.changed, self.slowest = 0, 0.0
            daemon = self.start()
            for _ in range(options.rounds):
                self.crowd(daemon)
                self.at_a_random_moment()
                setter = daemon.setter()
                since = time.monotonic()
                if kill is None:
                    daemon.kill_whole()
                    self.end_clients()
                else:
                    kill(daemon)
                daemon.process.wait()  # neither goes on without the other
                self.expect_put_back(since)
                self.end_clients()
                until(lambda: not guardians_of(daemon.state) and not is_running(setter), "no guardian and no setter is left")
                daemon.start()
            self.report(f"{name}: killed")
            self.expect_nothing_left(daemon)
            self.expect_audited(daemon)

    def test_the_guardian_is_killed(self):
        daemon = self.start()
        for _ in range(options.rounds):
            self.crowd(daemon)
            self.at_a_random_moment()
            killed = until(lambda: guardians_of(daemon.state), "something was set")
            for guardian in killed:
                kill_guardian(guardian)
            # Serving goes on: the next setting starts another, which puts back like the first.
            until(lambda: set(guardians_of(daemon.state)) - set(killed), "another guardian")
            self.assertIsNone(daemon.process.poll())
            since = time.monotonic()
            daemon.kill_whole()
            self.expect_put_back(since)
            self.end_clients()
            daemon.start()
        self.report("the guardian: killed, and all that serves after it")
        self.expect_nothing_left(daemon)
        self.expect_audited(daemon)

    def test_the_guardian_is_killed_with_zeusd_or_with_the_setter(self):
        for with_setter in (False, True):
            self.changed, self.slowest = 0, 0.0
            daemon = self.start()
            for _ in range(options.rounds):
                self.crowd(daemon)
                self.at_a_random_moment()
                setter = daemon.setter()
                since = time.monotonic()
                for guardian in guardians_of(daemon.state):
                    kill_guardian(guardian)
                os.kill(setter if with_setter else daemon.process.pid, signal.SIGKILL)
                daemon.process.wait()
                self.end_clients()
                until(lambda: not is_running(setter), "no setter is left")
                if with_setter:
                    # If the setter had just started another guardian, that puts back; otherwise the next start does.
                    daemon.start()
                self.expect_put_back(since, is_bound=not with_setter)
                if not with_setter:
                    daemon.start()
            self.report(f"the guardian and {'the setter' if with_setter else 'zeusd'}: killed")
            self.expect_nothing_left(daemon)
            self.expect_audited(daemon)

    def test_all_that_serves_is_killed_with_the_guardian_and_the_next_start_puts_back(self):
        daemon = self.start()
        for _ in range(options.rounds):
            self.crowd(daemon)
            self.at_a_random_moment()
            os.kill(daemon.setter(), signal.SIGSTOP)
            for guardian in guardians_of(daemon.state):
                kill_guardian(guardian)
            since = time.monotonic()
            daemon.kill_whole()
            self.end_clients()
            daemon.start()
            self.assertEqual(self.driver.settings(), self.found, "before the next start answers")
            self.expect_put_back(since, is_bound=False)  # the start is part of it
        self.report("all that serves and the guardian are killed")
        self.expect_nothing_left(daemon)
        self.expect_audited(daemon)

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
            self.assertEqual(self.driver.settings(), self.found)
        self.report("the daemon is stopped")
        self.expect_nothing_left(daemon)
        self.expect_audited(daemon)

    def test_sigterm(self):
        daemon = self.start()
        for _ in range(options.rounds):
            self.crowd(daemon)
            self.at_a_random_moment()
            since = time.monotonic()
            self.assertEqual(daemon.stop(), 0)
            self.assertEqual(self.driver.settings(), self.found)
            self.expect_put_back(since)
            self.end_clients()
            daemon.start()
        self.report("SIGTERM")
        self.expect_nothing_left(daemon)
        self.expect_audited(daemon)

    def test_a_gpu_is_lost_and_comes_back(self):
        daemon = self.start()
        for _ in range(options.rounds):
            self.crowd(daemon)
            self.at_a_random_moment()
            self.driver.fault("lost gpu=1")
            self.end_clients()
            time.sleep(0.1)
            self.driver.clear_faults()
            self.expect_put_back(time.monotonic())
        self.report("a GPU is lost and back")
        self.expect_nothing_left(daemon)
        # Its guardian may have been the first to put a GPU back that had returned; the daemon notes that at its next start.
        self.assertEqual(daemon.stop(), 0)
        daemon.start()
        self.expect_audited(daemon)

    def test_the_folder_of_records_is_full(self):
        daemon = WatchedDaemon(options.zeusd)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", str(daemon.state)], check=True)
        self.addCleanup(daemon.close)
        self.addCleanup(unmount, daemon.state)
        self.addCleanup(lambda: until(lambda: not guardians_of(daemon.state), "the guardian ends"))
        self.addCleanup(lambda: daemon.process and daemon.stop())
        self.look_at(daemon.start())
        refused = 0
        for _ in range(options.rounds):
            self.crowd(daemon)
            self.at_a_random_moment()
            fill(daemon.state)
            time.sleep(self.random.uniform(0.05, 0.35))
            self.expect_records(daemon)
            since = time.monotonic()
            self.end_clients()
            self.expect_put_back(since)
            until(lambda: daemon.get("/v1/leases").json["leases"] == [], "no lease is left")
            fill(daemon.state)
            for answer in as_user(SOMEBODY, set_all, daemon.socket):
                self.assertNotEqual(answer.status, 200, answer.text)
                refused += 1
            self.assertEqual(self.driver.settings(), self.found, "nothing is set without a record")
            (daemon.state / "filler").unlink()
        self.report(f"the folder of records is full ({refused} settings refused)")
        self.expect_nothing_left(daemon)
        self.expect_audited(daemon)

    def expect_records(self, daemon: WatchedDaemon):
        """At any moment, a setting has a record."""
        setter = daemon.setter()
        os.kill(setter, signal.SIGSTOP)
        try:
            until(lambda: "T (stopped)" in pathlib.Path(f"/proc/{setter}/status").read_text(), "it is stopped")
            settings = self.driver.settings()
            for uuid, now, before in zip(self.uuids, settings, self.found):
                if now != before:
                    self.assertTrue((daemon.state / f"{uuid}.lease.json").exists(), f"{uuid}: {now}, {before}")
        finally:
            os.kill(setter, signal.SIGCONT)


def fill(folder: pathlib.Path) -> None:
    """To the brim."""
    with open(folder / "filler", "ab", buffering=0) as filler:
        for size in (4096, 1):
            try:
                while filler.write(bytes(size)):
                    pass
            except OSError:
                pass


def set_all(where) -> list:
    return [ask(where, "POST", f"/gpu/set_power_limit?gpu_ids={gpu}&block=true&power_limit_mw=200000") for gpu in range(GPUS)]


if __name__ == "__main__":
    fault_session.main()
