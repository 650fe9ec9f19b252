"""A user without root trains on a node whose daemon may set its GPU: refused without the daemon, served with it, and the
operator's limit is back afterwards, also when the daemon is started again in mid-run.

  user_run_test.py ZEUS ZEUSD [--rounds N] [--bound SECONDS]

Needs root, for the daemon; what holds on the GPU is asked of the driver's library, never of the daemon. Without --bound,
how long it took until a limit was in force again is printed and not judged.
"""

import argparse
import ctypes
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

USER = 65_534
FOUND = 300_000  # milliwatts, an operator's: neither the default nor the maximum
SPEC = "1xA100@root-only@limit=300"
INSIDE = "ZEUS_TEST_INSIDE"
PATIENCE = 60.0
# One that every user can run: that of this test may lie where only root looks.
PYTHON = "/usr/bin/python3"
options = argparse.Namespace()

# A stand-in for a training script, which runs until told to stop, or for so many steps.
TRAINER = textwrap.dedent("""
    import pathlib, sys, time
    stop, steps = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    for step in range(1, steps + 1):
        if stop.exists():
            break
        time.sleep(0.01)
        print(f"step {step}/{steps}", flush=True)
        if step % 50 == 0:
            print(f"epoch {step // 50} accuracy {min(0.9, step / 1000):.3f}", flush=True)
    """)


class Gpu:
    """The virtual GPU, as any program sees it: through the driver's library alone."""

    def __init__(self) -> None:
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        assert self.nvml.nvmlInit_v2() == 0
        self.handle = ctypes.c_void_p()
        assert self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.handle)) == 0

    def limit(self) -> int:
        value = ctypes.c_uint()
        assert self.nvml.nvmlDeviceGetPowerManagementLimit(self.handle, ctypes.byref(value)) == 0
        return value.value


def become_user() -> None:
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)


def until(true, what: str, patience: float = PATIENCE) -> float:
    began = time.monotonic()
    while not true():
        if time.monotonic() > began + patience:
            raise AssertionError(f"not within {patience} s: {what}")
        time.sleep(0.005)
    return time.monotonic() - began


class Daemon:
    def __init__(self, folder: pathlib.Path) -> None:
        self.socket = folder / "zeusd.sock"
        self.folder = folder
        self.start()

    def start(self) -> None:
        with open(self.folder / "zeusd.log", "ab") as log:
            self.process = subprocess.Popen(
                [options.zeusd, "serve", "--socket-path", str(self.socket), "--socket-permissions", "666",
                 "--admin-socket", str(self.folder / "admin" / "admin.sock")],
                stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "ZEUS_STATE_DIR": str(self.folder / "state")})
        until(lambda: b"ready" in (self.folder / "zeusd.log").read_bytes().rpartition(b"stopping")[2]
              and self.socket.exists() or self.process.poll() is not None, "the daemon is ready")
        assert self.process.poll() is None, (self.folder / "zeusd.log").read_text()

    def end(self, how: int = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.wait(PATIENCE)


class UserRuns(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.folder.chmod(0o755)
        (self.folder / "daemon").mkdir(mode=0o755)
        (self.folder / "daemon" / "state").mkdir(mode=0o755)
        self.home = self.folder / "home"
        self.home.mkdir()
        (self.home / "state").mkdir(mode=0o700)
        (self.home / "train.py").write_text(TRAINER, encoding="utf-8")
        for path in (self.home, self.home / "state", self.home / "train.py"):
            os.chown(path, USER, USER)
        self.stop = self.home / "stop"
        self.gpu = Gpu()
        self.assertEqual(self.gpu.limit(), FOUND)

    def environment(self, socket: str) -> dict[str, str]:
        return {**os.environ, "HOME": str(self.home), "XDG_DATA_HOME": str(self.home / "data"),
                "XDG_RUNTIME_DIR": str(self.home / "state"), "ZEUS_STATE_DIR": str(self.home / "state"),
                "ZEUSD_SOCK_PATH": socket}

    def start(self, socket: str, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen([options.zeus, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                cwd=self.home, env=self.environment(socket), preexec_fn=become_user)

    def run_as_user(self, socket: str, *arguments: str) -> subprocess.CompletedProcess:
        process = self.start(socket, *arguments)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def training(self, steps: int) -> list[str]:
        return ["run", "--metric-regex", r"accuracy ([-.0-9a-z]+)", "--epoch-regex", r"^epoch (\d+)", "--step-regex",
                r"^step (\d+)", "--", PYTHON, "train.py", str(self.stop), str(steps)]

    def daemon(self) -> Daemon:
        daemon = Daemon(self.folder / "daemon")
        self.addCleanup(lambda: daemon.process.poll() is None and daemon.end())
        return daemon

    def test_without_the_daemon_nothing_is_set(self):
        done = self.run_as_user("", *self.training(100))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("permi", done.stderr)
        self.assertEqual(self.gpu.limit(), FOUND)

    def test_with_the_daemon_limits_are_tried_and_put_back(self):
        daemon = self.daemon()
        for _ in range(options.rounds):
            seen = set()
            self.stop.unlink(missing_ok=True)
            run = self.start(str(daemon.socket), *self.training(10_000))
            until(lambda: seen.add(self.gpu.limit()) or len(seen) >= 3 or run.poll() is not None, "limits are tried")
            self.assertIsNone(run.poll(), run.stderr.read() if run.poll() is not None else "")
            self.stop.touch()
            out, err = run.communicate(timeout=PATIENCE)
            self.assertEqual(run.returncode, 0, err)
            self.assertGreaterEqual(len(seen), 3, f"{seen} {err}")
            self.assertEqual(self.gpu.limit(), FOUND, err)

    def test_a_killed_run_is_put_back(self):
        daemon = self.daemon()
        run = self.start(str(daemon.socket), *self.training(10_000))
        until(lambda: self.gpu.limit() != FOUND, "a limit is set")
        run.kill()
        run.communicate(timeout=PATIENCE)
        took = until(lambda: self.gpu.limit() == FOUND, "the limit is put back")
        self.judge("put back after a kill", took)

    def test_a_restart_of_the_daemon_in_mid_run_goes_on(self):
        daemon = self.daemon()
        run = self.start(str(daemon.socket), *self.training(100_000))
        until(lambda: self.gpu.limit() != FOUND or run.poll() is not None, "a limit is set")
        for round_of in range(2 * options.rounds):
            daemon.end(signal.SIGTERM if round_of % 2 == 0 else signal.SIGKILL)
            until(lambda: self.gpu.limit() == FOUND, "what the daemon held is put back")
            time.sleep(0.3)
            daemon.start()
            took = until(lambda: self.gpu.limit() != FOUND or run.poll() is not None, "a limit is in force again", 20)
            self.assertIsNone(run.poll())
            self.judge("a limit in force again after a restart", took)
        self.stop.touch()
        _, err = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, err)
        self.assertIn("was started again", err)
        self.assertEqual(self.gpu.limit(), FOUND)

    def judge(self, what: str, took: float) -> None:
        print(f"{what}: {took:.2f} s")
        if options.bound is not None:
            self.assertLessEqual(took, options.bound, what)

    def test_measuring_and_showing_work_as_ever(self):
        daemon = self.daemon()
        done = self.run_as_user(str(daemon.socket), "measure", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("warning", done.stderr)
        shown = json.loads(self.run_as_user(str(daemon.socket), "devices", "--json").stdout)
        self.assertEqual(len(shown["gpus"]), 1)

    def test_a_daemon_that_does_not_answer_costs_one_warning(self):
        done = self.run_as_user(str(self.folder / "nobody.sock"), "measure", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("warning"), 1, done.stderr)
        self.assertIn("going on without zeusd", done.stderr)
        self.assertIn("gpu 0", done.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("zeus")
    parser.add_argument("zeusd")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--bound", type=float)
    parser.parse_args(namespace=options)
    options.zeus, options.zeusd = (str(pathlib.Path(program).resolve()) for program in (options.zeus, options.zeusd))
    if os.geteuid() != 0:
        print("skipped: only root may start the daemon that this is about")
        return 77
    if INSIDE not in os.environ:
        return subprocess.run([options.zeus, "virtual", SPEC, "--load", "constant:280W", "--shared", "--", sys.executable,
                               *sys.argv], env={**os.environ, INSIDE: "1"}, check=False).returncode
    return 0 if unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
