"""A user without root trains on a node whose daemon may set its GPU: refused without the daemon, served with it, and the
operator's limit is put back afterwards, even if the daemon is restarted during the run.

  user_run_test.py ZEUS ZEUSD [--rounds N] [--bound SECONDS]

No variable names the daemon: it is at its usual place, in mount namespaces with their own /run. Needs root, for the daemon.
The GPU's settings are read through the driver's library, never from the daemon. Without --bound, the time until a limit was
in force again, and the limit's distance from the best, are printed but not judged.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import another_user
import moving_tree
from daemon_session import PATIENCE, Driver, skip_without_root, until

GROUP = 4711  # of the users who may open the daemon's socket
FOUND = 200_000  # milliwatts, an operator's: neither the default nor the maximum
SPEC = "1xV100@root-only@limit=200"
# Memory-bound: the highest limit costs 15 % more than the best, the operator's 8 %.
LOAD = "work:0.8,1,0.7"
POLICY = """[[rule]]
who = ["everyone"]
gpus = ["all"]
may = ["read", "set_power_limit"]
power_limit = {minimum_w = 120, maximum_w = 180}
"""
ETA = 0.5
NEAR = 0.03  # of the best
INSIDE = "ZEUS_TEST_INSIDE"
SETTLED = 8.0  # slices without another limit, and at least 1.5 s: it has been chosen
# One that every user can run: this test's own interpreter may be readable by root only.
PYTHON = "/usr/bin/python3"
options = argparse.Namespace()

# A stand-in for a training script, which runs until it is stopped, or for this many steps. Each takes as long as the
# virtual GPU needs for some work under the current limit.
TRAINER = textwrap.dedent("""
    import ctypes, pathlib, sys, time

    class Truth(ctypes.Structure):
        _fields_ = [(name, ctypes.c_double) for name in "time energy power work speed clock temperature".split()]

    driver = ctypes.CDLL("libnvidia-ml.so.1")
    assert driver.nvmlInit_v2() == 0

    def truth():
        told = Truth()
        assert driver.zeus_virtual_read_truth(0, ctypes.byref(told)) == 0
        return told

    stop, steps = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    for step in range(1, steps + 1):
        if stop.exists():
            break
        done = truth().work + 0.01
        while (left := done - (now := truth()).work) > 1e-6:
            time.sleep(min(0.005, left / now.speed))
        print(f"step {step}/{steps}", flush=True)
    """)


def seconds_until(true, what: str, patience: float = PATIENCE) -> float:
    began = time.monotonic()
    until(true, what, patience)
    return time.monotonic() - began


class Daemon:
    """A daemon that is only given its socket's group, as if it were the only one of its node."""

    def __init__(self, folder: pathlib.Path, mounts: dict[str, str], *flags: str) -> None:
        self.mounts = mounts
        self.flags = flags
        self.log_file = folder / "zeusd.log"
        self.start()

    def start(self) -> None:
        with open(self.log_file, "ab") as log:
            begin = log.tell()
            self.process = subprocess.Popen(
                another_user.words(options.zeusd, "serve", "--socket-gid", GROUP, *self.flags, user=0, mounts=self.mounts),
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        until(lambda: "info: ready\n" in self.log(begin) or self.process.poll() is not None, "the daemon is ready")
        assert self.process.poll() is None, self.log(begin)

    def log(self, begin: int = 0) -> str:
        return self.log_file.read_bytes()[begin:].decode()

    def end(self, how: int = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.wait(PATIENCE)


class UserRuns(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.folder.chmod(0o755)
        (self.folder / "run").mkdir(mode=0o755)
        self.mounts = {str(self.folder / "run"): "/run"}
        self.home = self.folder / "home"
        self.home.mkdir()
        (self.home / "train.py").write_text(TRAINER, encoding="utf-8")
        for path in (self.home, self.home / "train.py"):
            os.chown(path, another_user.NOBODY, another_user.NOBODY)
        self.stop = self.home / "stop"
        self.gpu = Driver()
        self.assertEqual(self.gpu.limit(0), FOUND)

    def start(self, *arguments: str, groups=(GROUP,), **variables: str) -> subprocess.Popen:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZEUSD", "XDG_", "ZEUS_STATE"))}
        words = another_user.words(options.zeus, *arguments, groups=groups, readable=[options.zeus], mounts=self.mounts)
        # Unread output would block the command.
        out = subprocess.DEVNULL if arguments[0] == "run" else subprocess.PIPE
        process = subprocess.Popen(words, stdout=out, stderr=subprocess.PIPE, text=True, cwd=self.home,
                                   env={**kept, "HOME": str(self.home), **variables})
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.communicate()))
        return process

    def run_as_user(self, *arguments: str, **more) -> subprocess.CompletedProcess:
        process = self.start(*arguments, **more)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def training(self, steps: int, *flags: str) -> list[str]:
        return ["run", "--step-regex", r"^step (\d+)", "--profile-seconds", str(options.profile_seconds), *flags, "--", PYTHON,
                "train.py", str(self.stop), str(steps)]

    def daemon(self, *flags: str) -> Daemon:
        daemon = Daemon(self.folder, self.mounts, *flags)
        self.addCleanup(lambda: daemon.process.poll() is None and daemon.end())
        return daemon

    def chosen(self, run: subprocess.Popen) -> int:
        """The limit that a run keeps after it has tried some."""
        tried, last, since = set(), FOUND, time.monotonic()
        looked = since

        def is_settled() -> bool:
            nonlocal last, since, looked
            before, looked = looked, time.monotonic()
            if looked - before > 0.5:
                since = looked  # a pause of the whole machine shows nothing
            if (limit := self.gpu.limit(0)) != last:
                last, since = limit, looked
                tried.add(limit)
            return len(tried) > 2 and looked - since > max(1.5, SETTLED * options.profile_seconds) or run.poll() is not None

        until(is_settled, "a limit is chosen", 180)
        self.assertIsNone(run.poll(), run.stderr.read() if run.poll() is not None else "")
        return last

    def end_of(self, run: subprocess.Popen) -> str:
        self.stop.touch()
        _, err = run.communicate(timeout=PATIENCE)
        self.stop.unlink()
        self.assertEqual(run.returncode, 0, err)
        # By the run, or by the daemon afterwards if that answered the run too late.
        until(lambda: self.gpu.limit(0) == FOUND, f"it is put back; {err}")
        return err

    def test_without_the_daemon_nothing_is_set(self):
        done = self.run_as_user(*self.training(100))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("permi", done.stderr)
        self.assertEqual(self.gpu.limit(0), FOUND)

    def test_who_is_not_in_its_group_trains_under_the_limit_that_is_there(self):
        self.daemon()
        done = self.run_as_user(*self.training(100), groups=())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("continuing without zeusd"), 1, done.stderr)
        self.assertEqual(self.gpu.limit(0), FOUND)

    def test_with_the_daemon_a_limit_near_the_best_is_found_and_put_back(self):
        self.daemon()
        costs = self.gpu.costs(ETA)
        best = min(costs.values())
        self.assertGreater(costs[FOUND] / best - 1, 2 * NEAR, "the operator's limit must not be the best")
        for _ in range(options.rounds):
            run = self.start(*self.training(100_000))
            limit = self.chosen(run)
            said = self.end_of(run)
            excess = costs[limit] / best - 1
            print(f"a limit of {limit // 1000} W costs {excess:+.1%} of the best")
            if options.bound is not None:
                self.assertLessEqual(excess, NEAR, said)

    def test_a_policy_that_allows_some_limits_leaves_the_best_of_these(self):
        policy = self.folder / "policy.toml"
        policy.write_text(POLICY, encoding="utf-8")
        self.daemon("--policy", str(policy))
        for _ in range(4):
            run = self.start(*self.training(100_000))
            limit = self.chosen(run)
            said = self.end_of(run)
            if "goes on without being optimized" not in said:
                break  # no pause of the machine held the daemon up for longer than a training waits
        self.assertLessEqual(limit, 180_000, said)
        self.assertIn("the node's policy allows 3 of 7 power limits: 125, 150, 175 W\n", said)
        done = self.run_as_user(*self.training(100, "--power-limits", "100,150,200"))
        self.assertIn("the node's policy allows 1 of 3 power limits: 150 W\n", done.stderr)
        done = self.run_as_user(*self.training(100, "--power-limits", "100,200"))
        self.assertIn("power limits stay as they are: the node's policy allows none of the power limits to try", done.stderr)
        done = self.run_as_user(*self.training(100, "--power-limits", "1000"))
        self.assertIn("a power limit of 1000 W cannot be set", done.stderr)
        self.assertEqual(done.returncode, 2)

    def test_a_killed_run_is_put_back(self):
        self.daemon()
        run = self.start(*self.training(100_000))
        until(lambda: self.gpu.limit(0) != FOUND, "a limit is set")
        run.kill()
        run.communicate(timeout=PATIENCE)
        took = seconds_until(lambda: self.gpu.limit(0) == FOUND, "the limit is put back")
        self.judge("put back after a kill", took)

    def test_a_restart_of_the_daemon_in_mid_run_goes_on(self):
        daemon = self.daemon()
        run = self.start(*self.training(1_000_000, "--power-limits", "100,125,250"))
        limit, quick = self.chosen(run), False
        for round_of in range(2 * options.rounds):
            ended = time.monotonic()
            daemon.end(signal.SIGTERM if round_of % 2 == 0 else signal.SIGKILL)
            until(lambda: self.gpu.limit(0) == FOUND, "what the daemon held is put back")
            time.sleep(0.3)
            daemon.start()
            took = seconds_until(lambda: self.gpu.limit(0) == limit or run.poll() is not None, "its limit is in force again")
            quick = quick or time.monotonic() - ended < 2.5  # the run's lease is lost after 3 s
            self.assertIsNone(run.poll())
            self.judge("its limit in force again after a restart", took)
        # A run that was without the daemon for longer takes another lease, and says so in other words.
        self.assertRegex(self.end_of(run), "was restarted" if quick else "was restarted|ran without a power limit of its own")

    def judge(self, what: str, took: float) -> None:
        print(f"{what}: {took:.2f} s")
        if options.bound is not None:
            self.assertLessEqual(took, options.bound, what)

    def test_measuring_and_showing_work_as_ever(self):
        self.daemon()
        done = self.run_as_user("measure", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("warning", done.stderr)
        shown = json.loads(self.run_as_user("devices", "--json").stdout)
        self.assertEqual(len(shown["gpus"]), 1)

    def measured(self) -> dict:
        done = self.run_as_user("measure", "--json", "-", "--", "sleep", "0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def measured_whole(self) -> dict:
        """With all energies: those of a busy machine's daemon that answers too late are unknown."""
        for _ in range(5):
            told = self.measured()
            if None not in [*told["cpu_energy_j"].values(), *told["dram_energy_j"].values()]:
                break
        return told

    def test_the_energy_of_cpus_is_that_of_their_counters(self):
        with moving_tree.MovingTree(until_wrap=3.0) as tree:
            self.mounts.update(tree.mounts)
            zones = tree.packages()
            refused = self.measured()
            self.assertEqual(set(refused["cpu_energy_j"].values()), {None}, "without rights and without the daemon")
            self.daemon()
            while not tree.has_come_round():
                self.compare(self.measured_whole(), zones, tree)
            for _ in range(options.rounds):
                self.compare(self.measured_whole(), zones, tree)

    def compare(self, measured: dict, zones: dict[str, str], tree: moving_tree.MovingTree) -> None:
        between = measured["start_monotonic_s"], measured["end_monotonic_s"]
        for number, package in enumerate(sorted(zones)):
            for name, below in (("cpu_energy_j", ""), ("dram_energy_j", f"/{zones[package]}:0")):
                energy = measured[name][str(number)]
                self.assertIsNotNone(energy, measured)
                off = energy["value"] - tree.spent(zones[package] + below, *between)
                print(f"{package} {name}: {off:+.3f} J of {energy['value']:.1f} +- {energy['uncertainty']:.3f} J")
                if options.bound is not None:
                    self.assertLessEqual(abs(off), energy["uncertainty"])
                else:
                    stood_still = tree.longest_pause() * tree.zones[zones[package] + below].watts
                    self.assertLess(abs(off), energy["value"] / 2 + stood_still)

    def test_a_daemon_that_does_not_answer_costs_one_warning(self):
        done = self.run_as_user("measure", "--", "true", ZEUSD_SOCK_PATH=str(self.folder / "nobody.sock"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("warning"), 1, done.stderr)
        self.assertIn("continuing without zeusd", done.stderr)
        self.assertIn("gpu 0", done.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("zeus")
    parser.add_argument("zeusd")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--bound", type=float)
    parser.add_argument("-k", dest="only")
    parser.parse_args(namespace=options)
    options.zeus, options.zeusd = (str(pathlib.Path(program).resolve()) for program in (options.zeus, options.zeusd))
    options.profile_seconds = 0.1 if options.bound is None else 1.0
    skip_without_root()
    if options.bound is not None:
        os.nice(-20)  # the machine's other load is not judged
    if INSIDE not in os.environ:
        return subprocess.run([options.zeus, "virtual", SPEC, "--load", LOAD, "--shared", "--", sys.executable, *sys.argv],
                              env={**os.environ, INSIDE: "1"}, check=False).returncode
    names = ["-k", options.only] if options.only else []
    return 0 if unittest.main(argv=[sys.argv[0], *names], exit=False, verbosity=2).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
