"""`zeus run` and `zeus jobs` beside a server of another version: what a newer one adds to its answers changes nothing, and what
an older or newer one refuses is explained by one sentence that says which of the two is older. The other version is this
one behind a proxy, which adds and removes keys.

  versions_test.py PROGRAM
"""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import unittest

program = ""
PATIENCE_S = 120
TRAINER = "for e in 1 2 3; do echo epoch $e accuracy 0.$((e * 3)); sleep 0.05; done"
LATER = {"added_later": {"value": 1}}


class ToServer(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=PATIENCE_S)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Proxy(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """In front of the server at `behind`. `ask` and `answer` change the JSON of a request or an answer to its path, and
    `path` changes the path."""

    daemon_threads = True

    def __init__(self, address: str, behind: str) -> None:
        super().__init__(address, Handler)
        self.behind = behind
        self.ask = self.answer = lambda path, body: body
        self.path = lambda path: path

    def get_request(self) -> tuple:
        return super().get_request()[0], ("unix", 0)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_) -> None:
        pass

    def pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if body and self.headers["Content-Type"] == "application/json":
            body = json.dumps(self.server.ask(self.path, json.loads(body))).encode()
        headers = {name: value for name, value in self.headers.items() if name not in ("Content-Length", "Connection")}
        with contextlib.closing(ToServer(self.server.behind)) as there:
            there.request(self.command, self.server.path(self.path), body=body, headers=headers)
            answer = there.getresponse()
            text = answer.read()
        if text and answer.headers["Content-Type"] == "application/json":
            text = json.dumps(self.server.answer(self.path, json.loads(text))).encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name not in ("Content-Length", "Connection", "Date"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PUT = do_POST = do_DELETE = pass_on


def of_a_newer_server(_path: str, answer: dict) -> dict:
    """The answer, and each record in a list of it, has a key more."""
    more = {key: [one | LATER if isinstance(one, dict) else one for one in value] if isinstance(value, list) else value
            for key, value in answer.items()}
    return more | LATER


class Versions(unittest.TestCase):
    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        (self.folder / "state").mkdir(mode=0o700)
        self.environment = {**{name: value for name, value in os.environ.items() if name not in ("ZEUS_SERVER", "ZEUS_TOKEN")},
                            "HOME": held.name, "XDG_DATA_HOME": str(self.folder / "data"), "ZEUS_STATE_DIR": str(self.folder / "state")}
        behind = str(self.folder / "serve.sock")
        with open(self.folder / "log", "wb") as log:
            server = subprocess.Popen([program, "serve", "--listen", f"unix:{behind}", "--database", self.folder / "jobs.sqlite"],
                                      stdout=subprocess.PIPE, stderr=log, env=self.environment)
        self.addCleanup(server.communicate)
        self.addCleanup(server.terminate)
        self.assertTrue(server.stdout.readline(), "the server listens")
        self.proxy = self.enterContext(Proxy(str(self.folder / "proxy.sock"), behind))
        self.url = f"unix:{self.folder}/proxy.sock"
        thread = threading.Thread(target=self.proxy.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.proxy.shutdown)

    def zeus(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=PATIENCE_S,
                              env=self.environment)

    def run_job(self, *flags: str) -> subprocess.CompletedProcess:
        return self.zeus("virtual", "1xV100", "--load", "constant:240W", "--", program, "run", "--server", self.url, "--job", "nightly",
                         "--batch-sizes", "16", "--target-metric", "0.9", "--metric-regex", r"accuracy (\S+)", "--epoch-regex",
                         r"^epoch (\d+)", "--power-limits", "off", *flags, "--", "sh", "-c", TRAINER)

    def test_what_a_newer_server_adds_changes_nothing(self) -> None:
        self.proxy.answer = of_a_newer_server
        done = self.run_job()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("not recorded", done.stderr)
        for words in (["jobs"], ["jobs", "nightly"], ["jobs", "nightly", "--all"], ["jobs", "nightly", "redefine", "--set", "beta=3"]):
            done = self.zeus(*words, "--server", self.url)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        self.assertIn("reached", self.zeus("jobs", "nightly", "--server", self.url).stdout)

    def test_a_key_that_the_server_does_not_know_means_that_it_is_older(self) -> None:
        self.proxy.ask = lambda path, body: body | LATER if path.endswith("/nightly") else body
        done = self.run_job()
        self.assertEqual((done.returncode, "accuracy 0.9" in done.stdout), (0, True), done.stderr)
        self.assertIn(f"the server {self.url} is older than this program: this is not a body that this operation takes: it has an "
                      "unknown key 'added_later'; update the server; the training goes on, and is not recorded\n", done.stderr)

    def test_a_result_that_the_server_does_not_know_leaves_the_training_alone(self) -> None:
        self.proxy.ask = lambda path, body: body | LATER if path.endswith("/finished") else body
        done = self.run_job()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("accuracy 0.9", done.stdout)
        self.assertIn(f"the server {self.url} is older than this program", done.stderr)

    def test_a_path_that_the_server_does_not_have_means_that_it_is_older(self) -> None:
        self.assertEqual(self.run_job().returncode, 0)
        self.proxy.path = lambda path: path.replace("/leave_out", "/of_a_later_version")
        done = self.zeus("jobs", "nightly", "leave-out", "--recurrence", "1", "--yes", "--server", self.url)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, f"zeus: the server {self.url} is older than this program: there is nothing at that path; "
                         "update the server\n")

    def test_a_key_that_the_server_misses_means_that_the_program_is_older(self) -> None:
        self.proxy.ask = lambda path, body: {key: value for key, value in body.items() if key != "owner"}
        done = self.run_job()
        self.assertEqual((done.returncode, "accuracy 0.9" in done.stdout), (0, True), done.stderr)
        self.assertIn(f"this program is older than the server {self.url}: this is not a body that this operation takes: it has no "
                      "'owner'; update this program; the training goes on, and is not recorded\n", done.stderr)


if __name__ == "__main__":
    program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
