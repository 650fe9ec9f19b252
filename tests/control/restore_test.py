"""Kills holders of leases, their guardians, both, and whole process groups, at random moments, and checks that the GPUs are
put back to an operator's settings: not to the default, and not to the maximum.

  zeus virtual 2xV100 --load constant:200W -- restore_test.py HOLDER GUARDIAN ZEUS [--rounds N] [--seed S] [--bound SECONDS]

Without --bound, times are printed but not judged, because they depend on the machine.
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from guardians import guardians_of  # noqa: E402

SM_CLOCK = 1
PATIENCE = 60.0
options = argparse.Namespace()


class Gpus:
    """The virtual GPUs, as any program sees them: only through the driver's library."""

    def __init__(self) -> None:
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        assert self.nvml.nvmlInit_v2() == 0
        count = ctypes.c_uint()
        assert self.nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
        self.handles = []
        for index in range(count.value):
            handle = ctypes.c_void_p()
            assert self.nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)) == 0
            self.handles.append(handle)

    def read(self, name: str, handle: ctypes.c_void_p, *arguments: int) -> int:
        value = ctypes.c_uint()
        assert getattr(self.nvml, name)(handle, *arguments, ctypes.byref(value)) == 0
        return value.value

    def write(self, name: str, index: int, *arguments: int) -> None:
        assert getattr(self.nvml, name)(self.handles[index], *arguments) == 0

    def settings(self) -> list[tuple[int, int, bool]]:
        """Power limit, persistence mode, and whether clocks are free; the load is below all limits that holders set."""
        return [
            (self.read("nvmlDeviceGetPowerManagementLimit", handle), self.read("nvmlDeviceGetPersistenceMode", handle),
             self.read("nvmlDeviceGetClockInfo", handle, SM_CLOCK) > 1250)
            for handle in self.handles
        ]


def is_running(process: int) -> bool:
    """False for one that has ended as well, even if process 1 never waits for it, as in a container."""
    with contextlib.suppress(OSError):
        return ") Z " not in pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    return False


def kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Restore(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.gpus = Gpus()
        cls.random = random.Random(options.seed)
        # The operator's settings: neither the defaults nor the same on both.
        cls.gpus.write("nvmlDeviceSetPowerManagementLimit", 0, 220_000)
        cls.gpus.write("nvmlDeviceSetPersistenceMode", 0, 1)
        cls.gpus.write("nvmlDeviceSetPersistenceMode", 1, 0)
        cls.found = cls.gpus.settings()
        assert cls.found == [(220_000, 1, True), (250_000, 0, True)], cls.found

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        self.holders: list[subprocess.Popen] = []
        self.changed = 0
        self.slowest = 0.0
        self.borrowed = False  # the lender's child, before anything was killed
        self.addCleanup(self.end_all)

    def end_all(self):
        for holder in self.holders:
            try:
                os.killpg(holder.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            holder.communicate()
        deadline = time.monotonic() + PATIENCE
        while (alive := guardians_of(self.folder)) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(alive, [], "a guardian is still running after its work")

    def start(self, mode: str, wait: bool) -> subprocess.Popen:
        """A holder, as leader of a new process group; with `wait`, returns once it has changed something."""
        holder = subprocess.Popen(
            [options.holder, self.folder, options.guardian, mode, str(self.random.getrandbits(32))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.holders.append(holder)
        if wait:
            self.assertEqual(holder.stdout.readline(), "leased\n", holder.poll() and holder.stderr.read())
        return holder

    def restore(self, *flags: str) -> subprocess.CompletedProcess:
        environment = {**os.environ, "ZEUS_STATE_DIR": self.folder}
        return subprocess.run([options.zeus, "restore", *flags], env=environment, capture_output=True, text=True,
                              check=False)

    def note_changes(self):
        self.changed += self.gpus.settings() != self.found

    def leases_for_itself(self, child: int) -> bool:
        """As a child may that had not borrowed yet when its lender died."""
        def holder(record: pathlib.Path) -> int | None:
            try:
                return json.loads(record.read_text(encoding="utf-8"))["holder"]["pid"]
            except FileNotFoundError:
                return None

        return not self.borrowed and child in map(holder, pathlib.Path(self.folder).glob("*.lease.json"))

    def expect_put_back(self, since: float, but_for: int | None = None):
        """Unless that child has leases of its own."""
        while self.gpus.settings() != self.found and time.monotonic() < since + PATIENCE:
            if but_for is not None and self.leases_for_itself(but_for):
                return
            time.sleep(0.001)
        self.slowest = max(self.slowest, time.monotonic() - since)
        self.assertEqual(self.gpus.settings(), self.found)

    def report(self, what: str, rounds: int = 0):
        rounds = rounds or options.rounds
        print(f"{what}: {rounds} times, of which {self.changed} with settings changed; "
              f"put back within {self.slowest:.3f} s", flush=True)
        if rounds >= 20:
            self.assertGreater(self.changed, rounds // 3, "no kill hit a lease")
        if options.bound:
            self.assertLessEqual(self.slowest, options.bound)

    def random_moment(self):
        time.sleep(self.random.uniform(0, 0.2))

    def clear(self):
        """Prepares for the next round: ends everything of this one, including guardians."""
        self.end_all()
        self.holders.clear()

    def test_the_holder_is_killed(self):
        for _ in range(options.rounds):
            holder = self.start("set", wait=self.random.random() < 0.8)
            self.random_moment()
            self.note_changes()
            kill(holder.pid)
            killed = time.monotonic()
            holder.wait()
            self.expect_put_back(killed)
            self.clear()
            self.assertEqual(list(pathlib.Path(self.folder).glob("*.lease.json")), [], "a record outlives what it is about")
        self.report("holder killed")

    def test_the_guardian_is_killed(self):
        for _ in range(options.rounds):
            holder = self.start("set", wait=True)
            self.random_moment()
            former = guardians_of(self.folder)
            for guardian in former:
                kill(guardian)
            # It goes on, under another guardian; however it ends now, everything is put back.
            deadline = time.monotonic() + PATIENCE
            while not set(guardians_of(self.folder)) - set(former) and time.monotonic() < deadline:
                time.sleep(0.001)
            self.random_moment()
            self.note_changes()
            self.assertIsNone(holder.poll(), "a holder dies with its guardian")
            how = self.random.choice([signal.SIGTERM, signal.SIGKILL])
            os.kill(holder.pid, how)
            killed = time.monotonic()
            if how == signal.SIGTERM:
                self.assertEqual(holder.wait(), 0)
            self.expect_put_back(killed)
            self.clear()
        self.report("guardian killed")

    def test_both_are_killed_and_the_next_start_puts_back(self):
        for number in range(options.rounds):
            holder = self.start("set", wait=True)
            self.random_moment()
            self.note_changes()
            # The holder is stopped first, so that it does not start another guardian in between.
            os.kill(holder.pid, signal.SIGSTOP)
            for guardian in guardians_of(self.folder):
                kill(guardian)
            kill(holder.pid)
            holder.wait()
            killed = time.monotonic()
            if number % 2 == 0:
                done = self.restore()
                self.assertEqual(done.returncode, 0, done.stderr)
                self.expect_put_back(killed)
            else:
                # It may work for as long as it likes: only the result counts.
                self.start("once", wait=False).wait()
                self.expect_put_back(time.monotonic())
            self.clear()
            self.assertEqual(self.restore().stdout, "nothing to put back\n")
        self.report("both killed")

    def test_the_whole_process_group_is_killed(self):
        for _ in range(options.rounds):
            holder = self.start("fork", wait=True)
            self.random_moment()
            self.note_changes()
            os.killpg(holder.pid, signal.SIGKILL)
            killed = time.monotonic()
            self.expect_put_back(killed)
            self.clear()
        self.report("process group killed")

    def test_the_holder_is_killed_and_its_forked_children_live_on(self):
        for _ in range(options.rounds):
            holder = self.start("fork", wait=True)
            self.random_moment()
            self.note_changes()
            kill(holder.pid)
            killed = time.monotonic()
            os.waitpid(holder.pid, 0)
            self.expect_put_back(killed)
            os.killpg(holder.pid, 0)  # the children are still there, or this fails
            holder.returncode = -signal.SIGKILL
            self.clear()
        self.report("holder killed, children alive")

    def test_a_process_in_which_several_set_the_same_gpus_is_killed(self):
        rounds = max(options.rounds, 10)
        for _ in range(rounds):
            holder = self.start("several", wait=self.random.random() < 0.8)
            self.random_moment()
            self.note_changes()
            how = self.random.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
            os.kill(holder.pid, how)
            killed = time.monotonic()
            self.assertIn(holder.wait(), (0, -signal.SIGTERM, -signal.SIGKILL), holder.stderr.read())
            if holder.returncode == 0:
                killed = time.monotonic()
            self.expect_put_back(killed)
            self.clear()
            self.assertEqual(list(pathlib.Path(self.folder).iterdir()), [], "a process or file outlives its lease")
        self.report("several in one process, killed", rounds)

    def start_lender(self) -> tuple[subprocess.Popen, int, list]:
        """A holder that lends, the ID of the child that has borrowed from it, and the lender's settings."""
        lender = self.start("lend", wait=False)
        self.assertEqual(lender.stdout.readline(), "lends\n", lender.poll() and lender.stderr.read())
        lent = self.gpus.settings()
        self.assertEqual([settings[0] for settings in lent], [125_000, 125_000])
        lender.stdin.write("\n")  # only now is the child started, which sets others
        lender.stdin.flush()
        child = int(lender.stdout.readline().split()[1])
        self.borrowed = self.random.random() < 0.8
        if self.borrowed:
            self.assertEqual(lender.stdout.readline(), "leased\n", lender.poll() and lender.stderr.read())
        self.random_moment()
        return lender, child, lent

    def test_a_child_that_borrows_dies_and_then_its_lender(self):
        for _ in range(options.rounds):
            lender, child, lent = self.start_lender()
            self.changed += self.gpus.settings() != lent
            kill(child)
            killed = time.monotonic()
            while self.gpus.settings() != lent and time.monotonic() < killed + PATIENCE:
                time.sleep(0.001)
            self.slowest = max(self.slowest, time.monotonic() - killed)
            self.assertEqual(self.gpus.settings(), lent)
            self.assertIsNone(lender.poll(), "a lender ends with its child")
            how = self.random.choice([signal.SIGKILL, signal.SIGTERM])
            os.kill(lender.pid, how)
            killed = time.monotonic()
            if how == signal.SIGTERM:
                self.assertEqual(lender.wait(), 0)
            self.expect_put_back(killed)
            self.clear()
            self.assertEqual(list(pathlib.Path(self.folder).iterdir()), [], "a process or file outlives its lease")
        self.report("child killed, then its lender")

    def test_a_lender_ends_before_its_child(self):
        for _ in range(options.rounds):
            lender, child, _ = self.start_lender()
            self.note_changes()
            how = self.random.choice([signal.SIGKILL, signal.SIGTERM])
            os.kill(lender.pid, how)
            killed = time.monotonic()
            lender.wait()
            if how == signal.SIGTERM:
                # It has released, and the child keeps what it has borrowed until it ends.
                self.assertEqual(lender.returncode, 0)
                kill(child)
                killed = time.monotonic()
            self.expect_put_back(killed, but_for=child)
            # Until it notices its lender's death, a child goes on setting and withdrawing, and everything may look put
            # back.
            while list(pathlib.Path(self.folder).glob("*.lease.json")) and time.monotonic() < killed + PATIENCE:
                if self.leases_for_itself(child):
                    break
                time.sleep(0.001)
            # It learns of it at its next change; its settings stay put back.
            while is_running(child) and time.monotonic() < killed + PATIENCE:
                settings = self.gpus.settings()
                if self.leases_for_itself(child):
                    kill(child)
                    break
                self.assertEqual(settings, self.found)
            self.expect_put_back(time.monotonic())
            # One that leases for itself may have put back its lender's settings first.
            put_back = "" if self.borrowed else "|^zeus: warning: .* was put back to "
            self.assertRegex(lender.stderr.read(), "^$|^timeout: the lease of GPU" + put_back)
            self.clear()
            self.assertEqual(list(pathlib.Path(self.folder).iterdir()), [], "a process or file outlives its lease")
        self.report("lender ended before its child")

    def test_lender_and_child_die_at_once(self):
        for _ in range(options.rounds):
            lender, _, _ = self.start_lender()
            self.note_changes()
            os.killpg(lender.pid, signal.SIGKILL)
            killed = time.monotonic()
            lender.wait()
            self.expect_put_back(killed)
            self.clear()
            self.assertEqual(list(pathlib.Path(self.folder).iterdir()), [], "a process or file outlives its lease")
        self.report("lender and child killed at once")

    def test_a_holder_that_hangs_loses_its_leases(self):
        holder = self.start("renew", wait=True)
        self.assertNotEqual(self.gpus.settings(), self.found)
        time.sleep(4)  # longer than a term: it renews
        self.assertNotEqual(self.gpus.settings(), self.found)
        os.kill(holder.pid, signal.SIGSTOP)
        self.expect_put_back(time.monotonic())
        os.kill(holder.pid, signal.SIGCONT)
        self.assertEqual(holder.wait(), 1)
        self.assertRegex(holder.stderr.read(), r"^timeout: the lease of GPU [01] \(Tesla V100.*was not renewed for 3 s")
        self.assertEqual(self.gpus.settings(), self.found)

    def test_a_second_holder_learns_the_name_of_the_first(self):
        holder = self.start("renew", wait=True)
        second = self.start("set", wait=False)
        self.assertEqual(second.wait(), 1)
        self.assertRegex(second.stderr.read(),
                         rf"^conflict: GPU 0 \(Tesla V100.*\) is leased by process {holder.pid} \(control_holder\)")
        done = self.restore()
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count(f"left alone; process {holder.pid} (control_holder) has a lease of it"), 2)

    def test_without_its_guardian_nothing_is_changed(self):
        real = options.guardian
        self.addCleanup(setattr, options, "guardian", real)
        blind = pathlib.Path(self.folder) / "blind"
        blind.write_text("#!/bin/sh\n(echo ready GPU-of-another-session >&3; sleep 5) &\n")
        blind.chmod(0o755)
        for broken, reason in ((self.folder + "/missing", "cannot be started"), ("/bin/true", "did not become ready"),
                               (str(blind), "does not see GPU-"),
                               ("/usr/bin/yes", "cannot be started.*/usr/bin/yes did not go into the background")):
            options.guardian = broken
            holder = self.start("set", wait=False)
            self.assertEqual(holder.wait(), 1)
            self.assertRegex(holder.stderr.read(), f"when this process dies, {reason}")
            self.assertEqual(self.gpus.settings(), self.found)

    def test_the_guardian_is_out_of_reach_of_what_reaches_its_holder(self):
        holder = self.start("set", wait=True)
        (guardian,) = guardians_of(self.folder)
        self.assertNotEqual(os.getsid(guardian), os.getsid(holder.pid))
        self.assertNotEqual(os.getpgid(guardian), os.getpgid(holder.pid))
        parents = pathlib.Path(f"/proc/{guardian}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        self.assertNotEqual(int(parents[1]), holder.pid, "its end would be a SIGCHLD of the training loop")
        for signal_number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            os.kill(guardian, signal_number)
        open_files = []
        for entry in pathlib.Path(f"/proc/{guardian}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # it has just been closed
                open_files.append(os.readlink(entry))
        self.assertFalse([name for name in open_files if name.startswith("pipe:")], "it holds its holder's output open")
        kill(holder.pid)
        self.expect_put_back(time.monotonic())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("holder")
    parser.add_argument("guardian")
    parser.add_argument("zeus")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--bound", type=float)
    arguments, rest = parser.parse_known_args()
    options.__dict__.update(vars(arguments))
    print(f"seed {options.seed}", flush=True)
    unittest.main(argv=[sys.argv[0], *rest])
