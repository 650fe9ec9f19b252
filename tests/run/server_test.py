"""`zeus run --server`: a job on a server recurs like one in a store, whichever process is killed and however long the server
is away.

  server_test.py PROGRAM [--kills N]
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import pty
import random
import select
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import side_by_side  # noqa: E402

program = ""
kills = 6
PATIENCE_S = 60
# A size of 40 takes a second less than each other, so that it is the cheapest on a busy machine too.
TRAINER = textwrap.dedent("""
    import os, sys, time
    size, epochs = int(sys.argv[1]), int(sys.argv[2])
    print("training", flush=True)
    for epoch in range(1, epochs + 1):
        time.sleep(0.02 if size == 40 else 0.4)
        print(f"epoch {epoch} accuracy {epoch / epochs:.3f}", flush=True)
        while os.path.exists("hold"):
            time.sleep(0.01)
    sys.exit(int(sys.argv[3]))
    """)


class Server:
    def __init__(self, folder: pathlib.Path):
        self.folder, self.process = folder, None
        self.url = f"unix:{folder}/serve.sock"
        self.start()

    def start(self):
        with open(self.folder / "serve.log", "ab") as log:
            self.process = subprocess.Popen([program, "serve", "--listen", self.url, "--database", self.folder / "served.sqlite"],
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout.readline(), (self.folder / "serve.log").read_text(encoding="utf-8")

    def stop(self, how=signal.SIGTERM):
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=PATIENCE_S)
            self.process.stdout.close()
            self.process = None


class Between(socketserver.BaseRequestHandler):
    """Passes a connection on to the server, but refuses results, as an older server would that knows a narrower range."""

    server_socket = ""

    def handle(self):
        with socket.socket(socket.AF_UNIX) as there:
            there.connect(self.server_socket)
            while True:
                ready, _, _ = select.select([self.request, there], [], [])
                for one, other in ((self.request, there), (there, self.request)):
                    if one in ready:
                        if not (some := one.recv(1 << 20)):
                            return
                        if b"/finished " in some.split(b"\r\n")[0]:
                            while b"}" not in some:
                                some += self.request.recv(1 << 20)
                            body = (b'{"type":"about:blank","title":"Bad Request","status":400,"kind":"invalid argument",'
                                    b'"detail":"energy_j must be less than it is"}')
                            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nConnection: close\r\n"
                                                 b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
                            return
                        other.sendall(some)


class ServerBetween(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class RunWithServer(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.hold = self.folder / "hold"
        (self.folder / "state").mkdir(mode=0o700)
        (self.folder / "train.py").write_text(TRAINER, encoding="utf-8")
        self.environment = {**{name: value for name, value in os.environ.items() if name not in ("ZEUS_SERVER", "ZEUS_TOKEN")},
                            "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / "data"),
                            "XDG_RUNTIME_DIR": str(self.folder / "state"), "ZEUS_STATE_DIR": str(self.folder / "state")}
        self.server = Server(self.folder)
        self.addCleanup(self.server.stop)

    def command(self, *flags: str, epochs: int = 3, code: int = 0) -> list[str]:
        return [program, "virtual", "1xV100", "--load", "constant:240W", "--", program, "run", "--job", "nightly/a b", "--batch-sizes",
                "10,20,40", "--default-batch-size", "10", "--target-metric", "0.9", "--metric-regex", r"accuracy (\S+)",
                "--epoch-regex", r"^epoch (\d+)", "--power-limits", "off", "--seed", "7", *flags, "--", sys.executable, "train.py",
                "{batch_size}", str(epochs), str(code)]

    def start(self, *flags: str, **options) -> subprocess.Popen:
        environment = {**self.environment, **options.pop("environment", {})}
        return subprocess.Popen(self.command(*flags, **options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                cwd=self.folder, env=environment, start_new_session=True)

    def start_held(self, *flags: str, **options) -> subprocess.Popen:
        """It waits after its first epoch until the server is killed, so that it ends later, however busy the machine is."""
        self.hold.touch()
        return self.start(*flags, **options)

    def kill_server_after_an_epoch(self, await_epoch) -> None:
        await_epoch()
        self.server.stop(signal.SIGKILL)
        self.hold.unlink()

    def finish(self, running: subprocess.Popen) -> tuple[int, str, str]:
        out, err = running.communicate(timeout=PATIENCE_S)
        return running.returncode, out, err

    def jobs(self, *arguments: str) -> str:
        done = subprocess.run([program, "jobs", *arguments], capture_output=True, text=True, check=False, cwd=self.folder,
                              env=self.environment, timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def view(self, *where: str) -> dict:
        return json.loads(self.jobs("nightly/a b", "--all", "--json", *where))

    def served(self) -> dict:
        return self.view("--store", str(self.folder / "served.sqlite"))

    def closed(self, running: subprocess.Popen) -> str:
        """Its error output, once it has ended."""
        running.wait(timeout=PATIENCE_S)
        with running.stdout, running.stderr:
            return running.stderr.read()

    def wait_for_output(self, running: subprocess.Popen, start: str):
        for line in running.stdout:
            if line.startswith(start):
                return
        self.fail(running.stderr.read())

    def drain(self, running: subprocess.Popen) -> threading.Thread:
        """Keeps reading, so that the command is not blocked."""
        reader = threading.Thread(target=running.stdout.read)
        reader.start()
        return reader

    def test_what_is_tried_is_what_a_store_tries(self):
        # Under `grid`, because the order of the costs alone decides: on a busy machine the costs themselves vary.
        for where in ("--server", self.server.url), ("--store", str(self.folder / "own.sqlite")):
            for _ in range(6):
                code, _, err = self.finish(self.start(*where, "--policy", "grid", "--beta", "inf"))
                self.assertEqual(code, 0, err)
        chosen = [[(one["batch_size"], one["purpose"], one["outcome"], one["limit_w"]) for one in view["tries"]]
                  for view in (self.served(), self.view("--store", str(self.folder / "own.sqlite")))]
        self.assertEqual(chosen[0], chosen[1])
        self.assertEqual(len({batch_size for batch_size, *_ in chosen[0]}), 3)

    def test_the_environment_names_the_server_too_and_a_store_that_is_named_goes_before_it(self):
        self.assertEqual(self.finish(self.start(environment={"ZEUS_SERVER": self.server.url}))[0], 0)
        self.assertEqual(self.served()["tries"][0]["outcome"], "reached")
        own = str(self.folder / "own.sqlite")
        self.assertEqual(self.finish(self.start("--store", own, environment={"ZEUS_SERVER": self.server.url}))[0], 0)
        self.assertEqual((len(self.served()["tries"]), len(self.view("--store", own)["tries"])), (1, 1))
        code, _, err = self.finish(self.start("--store", own, "--server", self.server.url))
        self.assertEqual((code, "leave out --store or --server" in err), (2, True), err)

    def test_a_server_that_is_away_from_the_second_epoch_on_gets_the_try_once(self):
        running = self.start_held("--server", self.server.url, epochs=4)
        self.kill_server_after_an_epoch(lambda: self.wait_for_output(running, "epoch 1"))
        reader = self.drain(running)
        # The training ends after another 1.2 s.
        time.sleep(2.5)
        self.assertIsNone(running.poll(), "it waits for the server")
        self.server.start()
        reader.join()
        err = self.closed(running)
        self.assertEqual(running.returncode, 0, err)
        tries = self.served()["tries"]
        self.assertEqual([(one["outcome"], one["epochs"]) for one in tries], [("reached", 4)])
        entries = [json.loads(line) for line in self.jobs("nightly/a b", "export", "--store",
                                                          str(self.folder / "served.sqlite")).splitlines()]
        self.assertEqual([entry.get("kind") for entry in entries].count("finished"), 1)

    def test_a_server_that_is_away_for_good_costs_one_line_and_not_the_exit_code(self):
        running = self.start_held("--server", self.server.url, "--server-patience", "0.5", epochs=2)
        self.kill_server_after_an_epoch(lambda: self.wait_for_output(running, "epoch 1"))
        code, _, err = self.finish(running)
        self.assertEqual(code, 0, err)
        self.assertEqual(len([line for line in err.splitlines() if "server" in line]), 1, err)
        # Nor if it was never there: the training runs alone.
        code, out, err = self.finish(self.start("--server", self.server.url, code=3))
        self.assertEqual((code, out.count("epoch")), (3, 3), err)
        self.assertEqual(len([line for line in err.splitlines() if "server" in line or "serve.sock" in line]), 1, err)

    def test_a_record_that_is_refused_costs_one_line_and_not_the_exit_code(self):
        Between.server_socket = self.server.url.removeprefix("unix:")
        between = ServerBetween(str(self.folder / "between.sock"), Between)
        threading.Thread(target=between.serve_forever, daemon=True).start()
        self.addCleanup(between.server_close)
        self.addCleanup(between.shutdown)
        code, out, err = self.finish(self.start("--server", f"unix:{self.folder}/between.sock"))
        self.assertEqual((code, out.count("epoch")), (0, 3), err)
        refused = [line for line in err.splitlines() if "less than it is" in line]
        self.assertEqual(len(refused), 1, err)
        self.assertIn("is not recorded", refused[0])

    def waiting_between_two_tries(self) -> subprocess.Popen:
        """Short of the target after two epochs, so that the next try must be asked for while the server is away."""
        running = self.start_held("--server", self.server.url, "--max-epochs", "2", epochs=4)
        self.addCleanup(running.kill)
        self.kill_server_after_an_epoch(lambda: self.wait_for_output(running, "epoch 1"))
        for line in running.stderr:
            if "waiting for the server" in line:
                self.assertIn("Ctrl-C ends that", line)
                return running
        self.fail("it did not say that it waits")

    def test_it_says_what_it_waits_for_between_two_tries_and_goes_on_when_the_server_is_back(self):
        running = self.waiting_between_two_tries()
        self.server.start()
        reader = self.drain(running)
        err = self.closed(running)
        reader.join()
        self.assertNotIn("waiting", err)
        tries = self.served()["tries"]
        self.assertGreater(len(tries), 1)
        self.assertNotIn(None, [one["outcome"] for one in tries])

    def test_an_interrupt_ends_the_wait_between_two_tries_at_once(self):
        running = self.waiting_between_two_tries()
        began = time.monotonic()
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=PATIENCE_S)
        self.assertLess(time.monotonic() - began, 60, "there are ten minutes of patience")
        self.assertEqual(running.returncode, 130, err)
        self.assertNotIn("training", out, "no other training is begun")

    def test_ctrl_c_at_a_terminal_ends_the_wait_for_the_last_report(self):
        self.hold.touch()
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            words = self.command("--server", self.server.url, epochs=2)
            os.execve(words[0], words, self.environment)
        shown = b""

        def read_until(words: bytes) -> None:
            nonlocal shown
            while words not in shown:
                shown += os.read(terminal, 4096)

        self.kill_server_after_an_epoch(lambda: read_until(b"epoch 1"))
        read_until(b"to report this recurrence")
        began = time.monotonic()
        os.write(terminal, b"\x03")
        with contextlib.suppress(OSError):  # the end of a terminal
            while piece := os.read(terminal, 4096):
                shown += piece
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        self.assertLess(time.monotonic() - began, 60, "there are ten minutes of patience")
        self.assertEqual(code, 0, "the command's own")
        self.assertIn(b"not all of this recurrence is on record", shown)

    def test_a_signal_that_ends_the_wait_for_the_last_report_is_the_exit_code(self):
        running = self.start_held("--server", self.server.url, epochs=2)
        self.addCleanup(running.kill)
        self.kill_server_after_an_epoch(lambda: self.wait_for_output(running, "epoch 1"))
        for line in running.stderr:
            if "to report this recurrence" in line:
                break
        running.send_signal(signal.SIGTERM)
        _, err = running.communicate(timeout=PATIENCE_S)
        self.assertEqual(running.returncode, 128 + signal.SIGTERM, err)
        self.assertIn("not all of this recurrence is on record", err)

    def test_it_is_not_run_unrecorded_where_that_is_refused(self):
        self.server.stop()
        code, out, err = self.finish(self.start("--server", self.server.url, "--on-store-error", "refuse"))
        self.assertNotEqual(code, 0)
        self.assertNotIn("training", out, err)

    def test_random_kills_leave_no_wrong_try(self):
        draws, killed = random.Random(13), 0
        for round_ in range(kills):
            who = ("zeus", "command", "server")[round_ % 3]
            running = self.start("--server", self.server.url, "--server-patience", "20")
            victim = {"zeus": "run", "command": "train.py"}.get(who)
            if victim:
                self.wait_for_process(running, victim)
            reader = self.drain(running)
            time.sleep(draws.uniform(0.05, 1.0))
            if who == "server":
                self.server.stop(signal.SIGKILL)
                time.sleep(draws.uniform(0, 0.5))
                self.server.start()
            else:
                killed += self.kill(victim)
            reader.join()
            self.closed(running)
        print(f"{killed} of {sum(round_ % 3 < 2 for round_ in range(kills))} processes killed before their end", file=sys.stderr)
        self.assertGreater(killed, 0)
        # The last one gives up the recurrences of dead processes, and finishes.
        code, _, err = self.finish(self.start("--server", self.server.url))
        self.assertEqual(code, 0, err)
        view = self.served()
        self.assertEqual([one["try"] for one in view["tries"]], list(range(1, len(view["tries"]) + 1)))
        for one in view["tries"]:
            self.assertIn(one["outcome"], ("reached", "lost", "stopped", "exhausted"), one)
            if one["outcome"] == "exhausted":
                self.assertEqual(one["exit_code"], 128 + signal.SIGKILL, one)  # at a batch size that had not worked yet
            if one["outcome"] == "reached":
                self.assertEqual((one["epochs"], one["metric"]), (3, 1.0), one)
        self.assertFalse([one for one in view["recurrences"] if one["state"] == "running"])

    def test_jobs_are_shown_as_from_the_file(self):
        for _ in range(2):
            code, _, err = self.finish(self.start("--server", self.server.url))
            self.assertEqual(code, 0, err)
        store = ("--store", str(self.folder / "served.sqlite"))
        server = ("--server", self.server.url)
        for what in ([], ["--all"], ["--json"], ["export"], ["--html", "-"]):
            with self.subTest(what):
                self.assertEqual(self.jobs("nightly/a b", *what, *server), self.jobs("nightly/a b", *what, *store))
        for what in ([], ["--json"]):
            with self.subTest(what):
                self.assertEqual(self.jobs(*what, *server).replace(self.server.url, "HERE"),
                                 self.jobs(*what, *store).replace(store[1], "HERE"))
        text = self.jobs("nightly/a b", "export", *server)
        (self.folder / "job.jsonl").write_text(text, encoding="utf-8")
        self.assertEqual(self.jobs("copy", "import", "--file", "job.jsonl", *server),
                         f"copy: {len(text.splitlines()) - 2} entries taken in\n")
        self.assertEqual(self.jobs("copy", "redefine", "--set", "eta = 0.7", "--json", *server),
                         self.jobs("nightly/a b", "redefine", "--set", "eta = 0.7", "--json", *store).replace("nightly/a b", "copy"))
        self.assertEqual(self.jobs("copy", "forget", "--yes", *server), "copy: forgotten\n")
        gone = subprocess.run([program, "jobs", "copy", *server], capture_output=True, text=True, check=False, env=self.environment)
        self.assertEqual((gone.returncode, gone.stderr.partition(";")[0]), (1, "zeus: there is no job 'copy'"))

    def processes(self, what: str) -> list[int]:
        """Those of this session whose first argument this is."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "cwd") == str(self.folder.resolve()):
                    words = (entry / "cmdline").read_bytes().decode().split("\0")
                    found += [int(entry.name)] if words[1:2] == [what] else []
            except OSError:
                continue
        return found

    def wait_for_process(self, running: subprocess.Popen, what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not self.processes(what):
            if running.poll() is not None:
                return  # a busy machine looked when its try was over: nothing is killed
            self.assertLess(time.monotonic(), deadline, f"{what} has not begun")
            time.sleep(0.01)

    def kill(self, what: str) -> int:
        """Returns how many there were to kill."""
        for process in self.processes(what):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
                return 1
        return 0


class LimitsWithServer(unittest.TestCase):
    """In a separate virtual session, whose GPU is inspected from here."""

    def test_limits_are_measured_and_put_back(self):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as held:  # beside a guardian that still settles its record
            folder = pathlib.Path(held)
            (folder / "state").mkdir(mode=0o700)
            environment = {**os.environ, "HOME": held, "XDG_RUNTIME_DIR": str(folder / "state"), "ZEUS_STATE_DIR": str(folder / "state")}
            done = subprocess.run([program, "virtual", "1xV100@limit=250", "--load", "constant:240W", "--", sys.executable, __file__,
                                   program, "--limits-in", held], capture_output=True, text=True, check=False, env=environment,
                                  timeout=5 * PATIENCE_S)
            self.assertEqual(done.returncode, 0, done.stderr)


STEPS = textwrap.dedent("""
    import time
    for epoch in range(1, 25):
        for step in range(1, 31):
            time.sleep(0.01)
            print(f"step {step}", flush=True)
        print(f"epoch {epoch} accuracy {epoch / 24:.3f}", flush=True)
    """)


def limits_in(folder: pathlib.Path):
    driver = ctypes.CDLL("libnvidia-ml.so.1")
    gpu, limit = ctypes.c_void_p(), ctypes.c_uint()
    assert driver.nvmlInit_v2() == 0 and driver.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(gpu)) == 0
    (folder / "steps.py").write_text(STEPS, encoding="utf-8")
    server = Server(folder)
    try:
        done = subprocess.run([program, "run", "--server", server.url, "--job", "job", "--batch-sizes", "10", "--default-batch-size", "10",
                               "--target-metric", "0.9", "--metric-regex", r"accuracy (\S+)", "--epoch-regex", r"^epoch (\d+)",
                               "--step-regex", r"^step (\d+)", "--power-limits", "150,200,250", "--profile-seconds", "0.2", "--",
                               sys.executable, "steps.py", "{batch_size}"], cwd=folder, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        exported = subprocess.run([program, "jobs", "job", "export", "--store", folder / "served.sqlite"], check=True,
                                  capture_output=True, text=True).stdout
        profiled = [entry["limits"] for entry in map(json.loads, exported.splitlines()) if entry.get("kind") == "profiled"]
        assert {one["limit_w"] for limits in profiled for one in limits} == {150, 200, 250}, exported
        assert driver.nvmlDeviceGetPowerManagementLimit(gpu, ctypes.byref(limit)) == 0 and limit.value == 250_000, limit
    finally:
        server.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=kills)
    parser.add_argument("--limits-in", type=pathlib.Path)
    asked, rest = parser.parse_known_args()
    program, kills = asked.program, asked.kills
    if asked.limits_in:
        limits_in(asked.limits_in)
    else:
        sys.argv[1:] = rest
        side_by_side.main(3)
