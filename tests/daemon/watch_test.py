"""`zeus watch` on daemons of virtual GPUs: its sums compared with the energy that the GPUs have used, while a daemon dies
and comes back.

  watch_test.py PROGRAM ZEUSD [--daemons N] [--seconds S]
"""

import argparse
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

program, zeusd = "", ""
daemons, seconds = 2, 8.0

# Serves until it is ended; after a kill, it is started again on request.
SERVE = """
while true; do
  rm -f go
  "$0" serve --enable gpu-read --socket-path "$PWD/s.sock" --admin-socket "$PWD/a.sock" >> log 2>&1 &
  echo $! > pid.new; mv pid.new pid
  wait $!
  while [ ! -e go ]; do sleep 0.05; done
done
"""


def wait_until(condition, within: float = 60.0) -> float:
    """How long it took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() < began + within, f"nothing came of it within {within} s"
        time.sleep(0.02)
    return time.monotonic() - began


def truth_at(points: list, at: float) -> float:
    """Joules used until then. A node's clock is known to 0.1 s, by which the first count may seem to come before the beginning."""
    if 0 < points[0][0] - at < 0.1:
        return points[0][1]
    for (begin, less), (end, more) in zip(points, points[1:]):
        if begin <= at <= end:
            return less + (more - less) * (at - begin) / (end - begin) if end > begin else more
    raise AssertionError(f"the truth goes from {points[0][0]} to {points[-1][0]}, not to {at}")


def accepts(path: str) -> bool:
    """Its file alone is there before it listens."""
    with socket.socket(socket.AF_UNIX) as tried:
        return tried.connect_ex(path) == 0


class Node:
    """A daemon with its own two virtual GPUs, on a machine whose monotonic clock is `ahead` of ours."""

    def __init__(self, folder: pathlib.Path, number: int, ahead: int = 0):
        self.ahead = ahead
        folder.mkdir()
        self.folder = folder
        self.socket = str(folder / "s.sock")
        load = f"square:{80 + 20 * number}-{300 - 10 * number}W,700ms"
        elsewhere = ["unshare", "--time", "--monotonic", str(ahead), "--fork"] if ahead else []
        self.process = subprocess.Popen(
            [*elsewhere, program, "virtual", "2xA100", "--load", load, "--truth", folder / "truth.json", "--", "bash", "-c", SERVE, zeusd],
            cwd=folder, env={**os.environ, "ZEUS_STATE_DIR": str(folder / "state")}, start_new_session=True)

    def pid(self) -> int:
        return int((self.folder / "pid").read_text(encoding="ascii"))

    def kill(self) -> None:
        os.kill(self.pid(), signal.SIGKILL)

    def start_again(self) -> None:
        (self.folder / "go").touch()

    def end(self) -> list:
        """The energy of each of its GPUs, over time."""
        os.kill(self.session(), signal.SIGTERM)
        self.process.wait(timeout=60)
        truth = json.loads((self.folder / "truth.json").read_text(encoding="utf-8"))
        return [[(at - self.ahead, joules) for at, joules in gpu["energy_j"]]
                for gpu in sorted(truth["gpus"], key=lambda gpu: gpu["index"])]

    def session(self) -> int:
        if not self.ahead:
            return self.process.pid
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii")
        return int(children.split()[0])

    def kill_all(self) -> None:
        # Its daemon may outlive it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Watch:
    """`zeus watch --json`, and its output."""

    def __init__(self, *nodes: str):
        self.moments: list = []
        self.process = subprocess.Popen([program, "watch", *nodes, "--interval", "0.25", "--json"], stdout=subprocess.PIPE,
                                        text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self) -> None:
        for line in self.process.stdout:
            self.moments.append(json.loads(line))

    def last(self) -> dict:
        return self.moments[-1]

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=60)
        self.reader.join()
        self.process.stdout.close()
        return code


def until_answered(words: list[str], has: str = "", cwd: pathlib.Path | None = None) -> subprocess.CompletedProcess:
    """`zeus watch` for long enough that its node answers, also on a busy machine."""
    for duration in ("1.1", "5", "30"):
        done = subprocess.run([program, "watch", *words, "--duration", duration], cwd=cwd, capture_output=True, text=True, check=False,
                              timeout=120)
        if done.returncode == 0 and has in done.stdout:
            break
    return done


AHEAD = 3


def may_be_ahead() -> bool:
    """Whether this user may create a time namespace: root may."""
    return subprocess.run(["unshare", "--time", "--monotonic", str(AHEAD), "--fork", "true"], capture_output=True,
                          check=False).returncode == 0


class WatchingNodes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.nodes = []
        for number in range(daemons):
            ahead = AHEAD if number == 1 and may_be_ahead() else 0
            self.nodes.append(Node(pathlib.Path(folder.name) / str(number), number, ahead))
            self.addCleanup(self.nodes[-1].kill_all)
        wait_until(lambda: all(accepts(node.socket) for node in self.nodes))

    def test_each_joule_is_counted_once_whatever_a_daemon_does(self):
        watch = Watch(*(node.socket for node in self.nodes))
        self.addCleanup(lambda: watch.process.poll() is None and watch.end())
        wait_until(lambda: watch.moments and not watch.last()["missing"])
        first = self.nodes[0]
        time.sleep(seconds / 3)
        first.kill()
        missing_after = wait_until(lambda: watch.last()["missing"] == [first.socket])
        time.sleep(seconds / 6)
        self.assertEqual(watch.last()["missing"], [first.socket])
        first.start_again()
        back_after = wait_until(lambda: not watch.last()["missing"])
        time.sleep(seconds / 2)
        self.assertEqual(watch.end(), 0)
        print(f"missing after {missing_after:.2f} s, back after {back_after:.2f} s, {len(watch.moments)} lines")

        energies = [moment["sums"][0]["energy_j"] for moment in watch.moments if moment["sums"]]
        self.assertEqual(energies, sorted(energies))
        nodes = watch.last()["nodes"]
        self.assertEqual([node["restarts"] for node in nodes], [1] + [0] * (daemons - 1))
        truth = [node.end() for node in self.nodes]
        used = sum(truth_at(truth[number][gpu["id"]], gpu["energy_to_s"]) - truth_at(truth[number][gpu["id"]], gpu["energy_from_s"])
                   for number, node in enumerate(nodes) for gpu in node["devices"])
        print(f"{energies[-1]:.1f} J of {used:.1f} J, {100 * (energies[-1] / used - 1):+.3f} %")
        # Counters are updated ten times a second, which makes both ends of a short run uncertain.
        self.assertLess(abs(energies[-1] / used - 1), 0.01 if seconds >= 60 else 0.03)
        for node in nodes:
            self.assertLess(abs(node["clock_offset_s"]), 0.1)
            self.assertEqual([gpu["began_anew"] for gpu in node["devices"]], [0, 0])

    def test_piped_it_is_lines_that_name_who_is_missing(self):
        done = until_answered([self.nodes[0].socket, "/nonexistent/s.sock"], "GPU 1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\x1b", done.stdout)
        self.assertRegex(done.stdout, r"s\.sock +GPU 1 +[\d.]+ W +[\d.]+ k?J  limit 400 W\n")
        self.assertRegex(done.stdout, r"/nonexistent/s\.sock +- +missing for [\d.]+ s: .*\n")
        self.assertRegex(done.stdout, r"all +GPUs .*  missing: /nonexistent/s\.sock\n")

    def test_it_reports_that_no_node_answers(self):
        done = subprocess.run([program, "watch", "/nonexistent/s.sock", "--duration", "2", "--json"],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no node has answered", done.stderr)
        self.assertEqual(json.loads(done.stdout.splitlines()[-1])["missing"], ["/nonexistent/s.sock"])

    def test_an_address_that_no_program_can_have_is_refused_before_any_is_asked(self):
        for address in ("127.0.0.1:65536", "127.0.0.1:0", "[::1]:0", "node1", "unix:"):
            with self.subTest(address):
                done = subprocess.run([program, "watch", address], capture_output=True, text=True, check=False, timeout=60)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
                self.assertIn("is not an address", done.stderr)

    def test_a_node_may_be_an_http_address_or_a_socket_in_this_folder(self):
        path = pathlib.Path(self.nodes[0].socket)
        for node in ("unix:" + path.name, path.name):
            done = until_answered([node, "--json"], cwd=path.parent)
            self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([program, "watch", "http://127.0.0.1:0"], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, "port 0" in done.stderr), (2, True), done.stderr)

    def test_a_sockets_path_may_follow_unix(self):
        done = until_answered([f"unix:{self.nodes[0].socket}", "--json"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_node_named_twice_is_refused(self):
        done = subprocess.run([program, "watch", "a:1", "a:1"], capture_output=True, text=True, check=False, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("named twice", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("zeusd")
    parser.add_argument("--daemons", type=int, default=daemons)
    parser.add_argument("--seconds", type=float, default=seconds)
    known, rest = parser.parse_known_args()
    program, zeusd, daemons, seconds = known.program, known.zeusd, known.daemons, known.seconds
    unittest.main(argv=[sys.argv[0], *rest])
