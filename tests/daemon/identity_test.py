"""Ownership of leases when process IDs are reused, when holders are in their own namespaces, and when the civil time steps:
settings are put back once, and a new process does not inherit them.

  zeus virtual '4xA100@root-only@limit=300' --shared --load constant:200W -- identity_test.py ZEUSD --stepped LIBRARY
    [--rounds N] [--bound SECONDS] [--seed S] [-k NAME]

Everything runs in a separate PID namespace, in which the test chooses process IDs. LIBRARY lets the test set a daemon's
civil time (stepped_time.cpp). Without --bound, times are printed but not judged.
"""

import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import fault_session
from daemon_session import KEY, SOMEBODY, Daemon, ask, connection_to, guardians_of, token_of, until
from fault_session import FaultCase, Point0, Process, WatchedDaemon, become_somebody, options  # noqa: F401: Point0 is a test

INSIDE = "ZEUS_TEST_INSIDE"
GPU = 2
TERM = 4.0  # of the lease under which the time steps: renewed in good time on a busy machine, too
SET = f"/gpu/set_power_limit?gpu_ids={GPU}&block=true&power_limit_mw=200000"
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, MS_REC_PRIVATE = 0x00020000, 0x10000000, 0x20000000, 0x4000 | 0x40000


class Partner:
    """A process of a user without rights that takes orders over a socket: requests on one connection, which it keeps."""

    def __init__(self, where, spaces: bool = False, bearer: str | None = None) -> None:
        self.ended = False
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.ours.close()
                become_somebody()
                if spaces:
                    enter_namespaces()
                self.serve(theirs, where, bearer)
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
            finally:
                os._exit(1)
        theirs.close()
        self.ours.settimeout(60.0)
        self.own_pid, self.own_user = self.told()

    @staticmethod
    def serve(theirs: socket.socket, where, bearer: str | None) -> None:
        connection = connection_to(where)
        connection.connect()
        theirs.send(json.dumps([os.getpid(), os.getuid()]).encode())
        while words := theirs.recv(65536).decode().split():
            if words[0] == "child":
                # The child keeps the connection and acts for its parent from now on; the parent only waits for its end.
                if os.fork() != 0:
                    theirs.close()
                    time.sleep(600)
                theirs.send(json.dumps([os.getpid(), os.getuid()]).encode())
            else:
                answer = ask(where, *words, bearer=bearer, connection=connection)
                theirs.send(json.dumps([answer.status, answer.text]).encode())
        connection.close()

    def told(self):
        return json.loads(self.ours.recv(1 << 20))

    def send(self, *words: str) -> None:
        self.ours.send(" ".join(words).encode())

    def ask(self, *words: str):
        self.send(*words)
        return self.told()

    def kill(self) -> None:
        """Once only: afterwards its ID may belong to another process."""
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.ended = True

    def close(self) -> None:
        self.kill()
        self.ours.close()


def enter_namespaces() -> None:
    """Of users (as its root), mounts and processes (as its first), with a /proc of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(4, 1, 0, 0, 0) == 0  # PR_SET_DUMPABLE: so that it owns its files in /proc again
    assert libc.unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) == 0, os.strerror(ctypes.get_errno())
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {SOMEBODY} 1"), ("gid_map", f"0 {SOMEBODY} 1")):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    child = os.fork()
    if child != 0:
        os.waitpid(child, 0)
        os._exit(0)
    assert libc.prctl(1, signal.SIGKILL, 0, 0, 0) == 0  # PR_SET_PDEATHSIG: it ends with the process that the test knows
    assert libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None) == 0
    assert libc.mount(b"proc", b"/proc", b"proc", 0, None) == 0, os.strerror(ctypes.get_errno())


def with_number(number: int, make):
    """The result of `make` for a process with this ID, which is free now or soon."""
    until(lambda: not pathlib.Path(f"/proc/{number}").exists(), f"{number} is free")  # once its parent has seen its end
    time.sleep(0.02)  # processes are told apart by when they began, which the kernel gives in hundredths of a second
    for _ in range(1000):
        pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(number - 1))
        made = make()
        if made.pid == number:
            return made
        made.close()
    raise AssertionError(f"{number} is not given out again")


class Sleeper(Process):
    def __init__(self) -> None:
        super().__init__(time.sleep, 600)
        self.ended = False

    def close(self) -> None:
        if not self.ended:
            self.kill()
            self.ended = True


class Identities(FaultCase):
    def partner(self, where, **more) -> Partner:
        made = Partner(where, **more)
        self.addCleanup(made.close)
        return made

    def take(self, partner: Partner, explicit: bool) -> str:
        """Makes the client set the GPU; returns the lease's name if it is an explicit one."""
        self.since = time.monotonic()
        lease = ""
        if explicit:
            status, text = partner.ask("POST", f"/v1/leases/take?gpu_ids={GPU}&term_s=60")
            self.assertEqual(status, 200, text)
            lease = json.loads(text)["id"]
        self.assertEqual(partner.ask("POST", under(lease) if explicit else SET)[0], 200)
        self.assertEqual(self.driver.limit(GPU), 200_000)
        self.changed += 1
        return lease

    def expect_nothing_of_its(self, partner: Partner, lease: str) -> None:
        """It is shown no lease of its own, and knowing the other's name does not help it."""
        status, text = partner.ask("GET", "/v1/leases")
        self.assertEqual((status, [one["id"] for one in json.loads(text)["leases"] if one.get("id")]), (200, []))
        for target in (under(lease or "none"), f"/v1/leases/renew?lease={lease or 'none'}",
                       f"/v1/leases/restore?lease={lease or 'none'}", f"/v1/leases/release?lease={lease or 'none'}"):
            self.assertEqual(partner.ask("POST", target)[0], 404, target)

    def expect_put_back_once(self, by: int | None = None) -> None:
        """With two setter calls: the client's, and one more."""
        setters = [one for one in self.log.all() if one.begun >= self.since]
        self.assertEqual([(one.gpu, one.what, one.done) for one in setters], 2 * [(GPU, "power_limit", True)], setters)
        if by is not None:
            self.assertEqual(setters[1].process, by)

    def test_a_clients_number_is_used_again(self):
        daemon = self.start()
        for number in range(options.rounds):
            explicit, stopped = number % 2 == 0, number % 4 < 2
            holder = self.partner(daemon.socket)
            lease = self.take(holder, explicit)
            if stopped:  # it learns of the death when the ID already belongs to another process, which is asking
                daemon.process.send_signal(signal.SIGSTOP)
            killed = time.monotonic()
            holder.kill()
            other = with_number(holder.pid, lambda: self.partner(daemon.socket))
            if stopped:
                other.send("POST", under(lease or "none"))
                daemon.process.send_signal(signal.SIGCONT)
                self.assertEqual(other.told()[0], 404)
            self.expect_nothing_of_its(other, lease)
            self.expect_put_back(killed)
            self.expect_put_back_once(daemon.setter())
            other.close()
        self.report("a client's number is used again")
        self.expect_audited(daemon)

    def test_a_clients_number_is_used_again_while_a_child_has_its_connection(self):
        daemon = self.start()
        for _ in range(options.rounds):
            holder = self.partner(daemon.socket)
            self.take(holder, False)
            self.assertEqual(holder.ask("child")[1], SOMEBODY)
            self.assertEqual(holder.ask("POST", SET)[0], 200, "it speaks for its parent")
            killed = time.monotonic()
            holder.kill()
            other = with_number(holder.pid, lambda: self.partner(daemon.socket))
            holder.ask("POST", SET)  # whatever it gets as an answer
            until(lambda: not daemon.get("/v1/leases").json["leases"], "nothing is held for who has ended")
            self.expect_nothing_of_its(other, "")
            self.expect_put_back(killed)
            self.assertEqual(other.ask("POST", SET)[0], 200, "the GPU is free")
            other.close()
            self.expect_put_back(time.monotonic())
            holder.ours.close()
        self.report("a client's number is used again, and a child has its connection")
        self.expect_audited(daemon)

    def test_the_setters_number_is_used_again(self):
        daemon = self.start()
        for number in range(options.rounds):
            with_guardian = number % 2 == 0
            holder = self.partner(daemon.socket)
            self.take(holder, number % 4 < 2)
            guardian = guardians_of(daemon.state)[0]
            setter = daemon.setter()
            os.kill(setter, signal.SIGSTOP)  # so that it does not start another guardian in between
            os.kill(guardian, signal.SIGSTOP if with_guardian else signal.SIGKILL)
            daemon.kill_whole()
            other = with_number(setter, Sleeper)
            self.addCleanup(other.close)
            since = time.monotonic()
            if with_guardian:
                os.kill(guardian, signal.SIGCONT)
                self.expect_put_back(since)
                self.expect_put_back_once(guardian)
                until(lambda: not guardians_of(daemon.state), "the guardian ends, though the number is in use")
                daemon.start()
            else:
                daemon.start()
                self.assertEqual(self.driver.settings(), self.found, "before the next start answers")
                self.expect_put_back_once(daemon.setter())
            self.assertEqual(daemon.get("/v1/leases").json["leases"], [])
            holder.close()
            other.close()
        self.report("the setter's number is used again")
        self.expect_audited(daemon)

    def test_holders_in_namespaces_of_their_own(self):
        daemon = self.start()
        for number in range(options.rounds):
            holder = self.partner(daemon.socket, spaces=True)
            self.assertEqual((holder.own_pid, holder.own_user), (1, 0), "inside its namespace it is root, and process 1")
            lease = self.take(holder, number % 2 == 0)
            [shown] = daemon.get("/v1/leases").json["leases"]
            self.assertEqual(shown["holder"]["uid"], SOMEBODY, "to the daemon it is who it is")
            other = self.partner(daemon.socket, spaces=True)
            self.assertEqual((other.own_pid, other.own_user), (1, 0))
            self.expect_nothing_of_its(other, lease)
            self.assertEqual(other.ask("POST", SET)[0], 409)
            killed = time.monotonic()
            holder.kill()
            self.expect_put_back(killed)
            self.expect_put_back_once(daemon.setter())
            self.expect_nothing_of_its(other, lease)
            other.close()
        self.report("holders in namespaces of their own")
        self.expect_audited(daemon)

    def test_who_cannot_be_named_holds_nothing(self):
        daemon = Daemon(options.zeusd)
        daemon.words = ["unshare", "--pid", "--fork", "--kill-child", *daemon.words]
        self.addCleanup(daemon.close)
        daemon.start()
        holder = self.partner(daemon.socket)  # whose ID has no meaning in the daemon's namespace
        self.assertEqual(holder.ask("GET", f"/gpu/get_power?gpu_ids={GPU}")[0], 200)
        self.assertEqual(holder.ask("POST", SET)[0], 403)
        self.assertEqual(self.driver.settings(), self.found)

    def test_the_civil_time_steps(self):
        if not options.stepped:
            self.skipTest("there is no library to set a daemon's civil time")
        step = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "step"
        step.write_text("0")
        # A copy, because LD_PRELOAD ends a path at a space.
        stepped = shutil.copy(options.stepped, step.parent)
        daemon = self.start(modes="uds,tcp", key=KEY, environment={"LD_PRELOAD": str(stepped), "ZEUS_TEST_STEP": str(step)})
        for number in range(options.rounds):
            def put_back() -> list[dict]:
                return [one for one in daemon.audit() if one["why"].startswith("put back")]

            before = len(put_back())
            ahead = self.random.choice([-86400 * 400, -7200, -30, 30, 7200, 86400 * 400])
            if number % 2 == 0:
                self.step_under_a_term(daemon, step, ahead)
            else:
                self.step_under_a_token(daemon, step, ahead)
            self.expect_put_back_once(daemon.setter())
            last = until(lambda before=before: put_back()[before:], "it is in the log")[-1]
            self.assertLess(abs(fault_session.seconds_of(last) - time.time() - ahead), 10, "the daemon's civil time has stepped")
            step.write_text("0")
        self.report("the civil time steps")

    def step_under_a_term(self, daemon: WatchedDaemon, step: pathlib.Path, ahead: int) -> None:
        """The lease lasts at least as long as it is renewed plus its term."""
        holder = self.partner(daemon.socket)
        self.since = time.monotonic()
        lease = json.loads(holder.ask("POST", f"/v1/leases/take?gpu_ids={GPU}&term_s={TERM}")[1])["id"]
        self.assertEqual(holder.ask("POST", under(lease))[0], 200)
        step.write_text(str(ahead))
        for _ in range(3):
            time.sleep(0.2)
            renewed = time.monotonic()
            self.assertEqual(holder.ask("POST", f"/v1/leases/renew?lease={lease}")[0], 200)
            self.assertEqual(self.driver.limit(GPU), 200_000)
        self.changed += 1
        until(lambda: self.driver.limit(GPU) != 200_000, "its term ends")
        self.assertGreaterEqual(time.monotonic(), renewed + TERM)
        self.expect_put_back(renewed + TERM)
        other = self.partner(daemon.socket)
        self.expect_nothing_of_its(other, lease)
        other.close()
        holder.close()

    def step_under_a_token(self, daemon: WatchedDaemon, step: pathlib.Path, ahead: int) -> None:
        """A token's settings last for an hour of elapsed time after its last request."""
        holder = self.partner(daemon.tcp, bearer=token_of("ann", "gpu-control"))
        self.take(holder, False)
        step.write_text(str(ahead))
        time.sleep(0.3)
        self.assertEqual(self.driver.limit(GPU), 200_000)
        [lease] = ask(daemon.admin, "GET", "/leases").json["leases"]
        ended = time.monotonic()
        self.assertEqual(ask(daemon.admin, "POST", f"/leases/end?lease={lease['id']}").status, 200)
        self.expect_put_back(ended)
        other = self.partner(daemon.tcp, bearer=token_of("bea", "gpu-control"))
        self.expect_nothing_of_its(other, lease["id"])
        other.close()
        holder.close()


def under(lease: str) -> str:
    return f"/v1/leases/set_power_limit?lease={lease}&gpu_ids={GPU}&power_limit_mw=200000"


if __name__ == "__main__":
    if os.geteuid() == 0 and INSIDE not in os.environ:
        # The shell is the first process there, and reaps.
        sys.exit(subprocess.run(["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh",
                                 sys.executable, *sys.argv], env={**os.environ, INSIDE: "1"}, check=False).returncode)
    fault_session.main(stepped="")
