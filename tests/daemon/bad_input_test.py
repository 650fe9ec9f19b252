"""Bad requests to zeusd and bad options: the documented status and one line with the reason, nothing changed, and the daemon
goes on, or does not start.

  zeus virtual '2xA100@root-only@limit=300' --shared --load constant:200W -- bad_input_test.py ZEUSD [-k NAME]
"""

import argparse
import http.client
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import unittest

import daemon_session
from daemon_session import KEY, SOMEBODY, Daemon, EventReader, Point0, as_user, ask, token_of, until  # noqa: F401: Point0 is a test

options = argparse.Namespace()
driver: daemon_session.Driver
READ = token_of("ann", "gpu-read")
ALL = token_of("zoe", *daemon_session.ALL_GROUPS)
LIMIT = "/gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=250000"


class BadInput(unittest.TestCase):
    def setUp(self):
        driver.clear_faults()
        self.found = driver.settings()
        self.addCleanup(lambda: self.assertEqual(driver.settings(), self.found))  # once the daemons have ended
        self.daemon = Daemon(options.zeusd, modes="uds,tcp", key=KEY).start()
        self.addCleanup(lambda: self.daemon.__exit__())

    def raw(self, text: bytes, where=None) -> int:
        """The status of the answer to these bytes; 0 if the connection is closed without one."""
        sender = socket.socket(socket.AF_UNIX) if where is None else socket.create_connection(where, 20)
        with sender:
            sender.settimeout(20)
            if where is None:
                sender.connect(self.daemon.socket)
            try:
                sender.sendall(text)
            except OSError:
                pass
            answer = http.client.HTTPResponse(sender)
            try:
                answer.begin()
                answer.read()
                return answer.status
            except (OSError, http.client.HTTPException):
                return 0

    def test_messages_that_are_none(self):
        head = b"POST /gpu/set_power_limit?gpu_ids=0&block=true&power_limit_mw=250000 HTTP/1.1\r\nHost: x\r\n"
        for text, statuses in (
            (head + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}),
            (head + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", {400}),
            (head + b"Content-Length: -1\r\n\r\n", {400}),
            (head + b"Content-Length: 99999999999\r\n\r\n", {413}),
            (head + b"Transfer-Encoding: gzip\r\n\r\n", {400, 501}),
            (head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", {400}),
            (head + b"Host: y\r\n\r\n", {400}),
            (head + b"X: " + b"a" * 20000 + b"\r\n\r\n", {431}),
            (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", {431}),
            (b"GET / HTTP/3.0\r\nHost: x\r\n\r\n", {400}),
            (b"GET\r\n\r\n", {400}),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello of TLS\r\n\r\n", {400}),
            (b"GET no-path HTTP/1.1\r\nHost: x\r\n\r\n", {400}),
            (head + b"Expect: the-impossible\r\n\r\n", {417}),
            (head + b"bad header\r\n\r\n", {400}),
        ):
            with self.subTest(text[:120]):
                self.assertIn(self.raw(text), statuses)
        self.assertEqual(self.daemon.get("/time").status, 200)

    def test_a_body_where_none_belongs_is_passed_over(self):
        self.assertEqual(self.daemon.get("/time", body="x" * 1000).status, 200)
        connection = daemon_session.connection_to(self.daemon.socket)
        for _ in range(3):
            self.assertEqual(ask(self.daemon.socket, "GET", "/time", body="body", connection=connection).status, 200)
        connection.close()

    def test_half_open_and_slow_connections_delay_no_other(self):
        slow = []
        for _ in range(50):
            one = socket.socket(socket.AF_UNIX)
            one.connect(self.daemon.socket)
            one.sendall(b"GET /gpu/get_power HTT")
            slow.append(one)
        self.assertEqual(self.daemon.get("/gpu/get_power").status, 200)
        slow[0].settimeout(30)
        told = slow[0].recv(4096)
        self.assertTrue(told == b"" or b" 408 " in told, told)
        for one in slow:
            one.close()

    def test_web_pages_are_refused(self):
        for where, headers, status in (
            (self.daemon.tcp, {"Host": "attacker.example", "Authorization": f"Bearer {ALL}"}, 403),
            (self.daemon.tcp, {"Host": "attacker.example:4938", "Authorization": f"Bearer {ALL}"}, 403),
            (self.daemon.tcp, {"Origin": "null", "Authorization": f"Bearer {ALL}"}, 403),
            (self.daemon.socket, {"Origin": "http://localhost"}, 403),
            (self.daemon.tcp, {"Host": "localhost", "Authorization": f"Bearer {ALL}"}, 200),
        ):
            self.assertEqual(ask(where, "GET", "/gpu/get_power", headers=headers).status, status, headers)

    def test_tokens_that_are_none(self):
        for bearer in ("", ".", "..", "a.b.c", "é", "A" * 9000, READ + READ, "\x7f"):
            with self.subTest(bearer[:20]):
                text = b"GET /gpu/get_power HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + bearer.encode()
                self.assertIn(self.raw(text + b"\r\n\r\n", self.daemon.tcp), {400, 401})

    def test_a_lease_of_another_client(self):
        lease = self.daemon.post("/v1/leases/take?gpu_ids=0&term_s=30").json["id"]

        def statuses() -> list[int]:
            targets = (f"renew?lease={lease}", f"set_power_limit?lease={lease}&gpu_ids=0&power_limit_mw=200000",
                       f"release?lease={lease}", f"restore?lease={lease}")
            return [self.daemon.post(f"/v1/leases/{target}").status for target in targets]

        self.assertEqual(as_user(SOMEBODY, statuses), [404] * 4)
        self.assertNotIn(lease, as_user(SOMEBODY, lambda: self.daemon.get("/v1/leases").text))
        self.assertEqual(ask(self.daemon.tcp, "POST", f"/v1/leases/release?lease={lease}", bearer=ALL).status, 404)
        self.assertEqual(self.daemon.post(f"/v1/leases/renew?lease={lease}").status, 200)
        self.assertEqual(self.daemon.post(f"/v1/leases/release?lease={lease}").status, 200)
        self.assertEqual(self.daemon.post(f"/v1/leases/release?lease={lease}").status, 404)

    def test_a_policy_with_an_error_leaves_the_last_good_one(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        policy = pathlib.Path(folder.name) / "policy.toml"
        policy.write_text('[[rule]]\nwho = ["everyone"]\ngpus = ["all"]\nmay = ["read"]\n')
        policy.chmod(0o644)
        daemon = Daemon(options.zeusd, ("--policy", str(policy))).start()
        self.addCleanup(lambda: daemon.__exit__())
        self.assertEqual(daemon.post(LIMIT).status, 403)
        reload = [options.zeusd, "reload", "--admin-socket", daemon.admin]
        for text, mode in (('[[rule]]\nwho = ["everyone"]\ngpus = ["all"]\nmay = ["fly"]\n', 0o644),
                           ('[[rule]]\nwho = ["everyone"]\ngpus = ["all"]\nmay = ["read", "set_power_limit"]\n', 0o666)):
            policy.write_text(text)
            policy.chmod(mode)
            done = subprocess.run(reload, capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0, done)
            self.assertIn("policy.toml", done.stderr)
            if mode == 0o644:
                self.assertRegex(done.stderr, r"policy\.toml:4:\d+")
            self.assertEqual(daemon.post(LIMIT).status, 403, "the last good one stays in force")
        policy.chmod(0o644)
        self.assertEqual(subprocess.run(reload, capture_output=True, check=False).returncode, 0)
        self.assertEqual(daemon.posted(LIMIT).status, 200)
        policy.write_text('[[rule]]\nwho = ["everyone"]\ngpus = ["all"]\nmay = ["read"]\n')
        daemon.process.send_signal(signal.SIGHUP)
        until(lambda: driver.settings() == self.found, "a lease that is no longer allowed ends")
        self.assertEqual(daemon.post(LIMIT).status, 403)
        def refusals() -> list[dict]:
            return [one for one in daemon.audit() if one["why"] == "refused"]

        until(lambda: len(refusals()) >= 4, "each refusal is in the log, which no answer waits for")
        refused = refusals()
        self.assertEqual([one["what"] for one in refused], ["/gpu/set_power_limit"] * 4)
        for one in refused:
            self.assertIn(f"process {os.getpid()}", one["who"])
            self.assertIn("power_limit_mw=250000", one["asked"])
            self.assertRegex(one["outcome"], "^403: .*the policy of this node")
        back = until(lambda: [one for one in daemon.audit() if one["why"].startswith("put back")], "the putting back is in the log")
        self.assertTrue(back and all(f"process {os.getpid()}" in one["who"] for one in back), back)

    def test_a_user_who_may_read_one_gpu_gets_it_without_naming_it(self):
        with tempfile.TemporaryDirectory() as folder:
            policy = pathlib.Path(folder) / "policy.toml"
            policy.write_text('[[rule]]\nwho = ["everyone"]\ngpus = [0]\nmay = ["read"]\n')
            policy.chmod(0o644)
            daemon = Daemon(options.zeusd, ("--policy", str(policy))).start()
            try:
                for route in ("get_power", "get_cumulative_energy", "get_power_limit"):
                    answer = daemon.get(f"/gpu/{route}")
                    self.assertEqual(answer.status, 200, answer.text)
                    self.assertNotIn('"1":', answer.text)
                    self.assertEqual(daemon.get(f"/gpu/{route}?gpu_ids=0,1").status, 403)
                stream = EventReader(daemon.socket, "/gpu/stream_power")
                self.addCleanup(stream.close)
                self.assertEqual([stream.data()["gpu_id"] for _ in range(2)], [0, 0])
                self.assertEqual(daemon.get("/gpu/stream_power?gpu_ids=0,1").status, 403)
                policy.write_text('[[rule]]\nwho = ["everyone"]\ngpus = ["all"]\nmay = ["set_power_limit"]\n')
                daemon.process.send_signal(signal.SIGHUP)
                until(lambda: daemon.get("/gpu/get_power").status == 403, "who may read none is refused")
            finally:
                daemon.__exit__()

    def test_an_explanation_names_the_file_that_decides(self):
        with tempfile.TemporaryDirectory() as folder:
            policy = pathlib.Path(folder) / "policy.toml"
            policy.write_text('[[rule]]\nwho = ["everyone"]\ngpus = ["all"]\nmay = ["read"]\n')
            policy.chmod(0o644)
            usual = "/etc/zeusd/policy.toml"
            without = (f"by {usual} and policy.d beside it:" if os.path.exists(usual)
                       else f"by the built-in rule, because {usual} does not exist:")
            for words, first in (((), without), (("--policy", str(policy)), f"by {policy} and policy.d beside it:")):
                done = subprocess.run([options.zeusd, "policy", "explain", "--user", "0", *words], capture_output=True, text=True,
                                      check=True)
                self.assertEqual(done.stdout.splitlines()[0], first)

    def refused_start(self, *arguments, daemon: Daemon | None = None, **more) -> str:
        """The message of a daemon that does not start."""
        daemon = daemon or Daemon(options.zeusd, arguments, **more)
        daemon.start(wait=False)
        self.assertNotEqual(daemon.process.wait(60), 0)
        lines = [line for line in daemon.log().splitlines() if line and not line.startswith(("info:", "warning:"))]
        self.assertTrue(1 <= len(lines) <= 2, lines)
        daemon.close()
        return lines[0]

    def test_socket_paths_that_are_none(self):
        other = Daemon(options.zeusd)
        pathlib.Path(other.socket).write_text("a file")
        file = other.socket
        text = pathlib.Path(file).read_text()
        other.start(wait=False)
        self.assertNotEqual(other.process.wait(60), 0)
        self.assertEqual(pathlib.Path(file).read_text(), text, "it is left alone")
        self.assertIn(file, other.log())
        other.close()
        long = Daemon(options.zeusd)
        long.words[long.words.index("--socket-path") + 1] = str(long.folder / ("x" * 200))
        self.assertIn("at most 107 bytes", self.refused_start(daemon=long))
        live = Daemon(options.zeusd)
        live.words[live.words.index("--socket-path") + 1] = self.daemon.socket
        self.assertIn(self.daemon.socket, self.refused_start(daemon=live))
        self.assertEqual(self.daemon.get("/time").status, 200)

    def test_a_state_folder_that_cannot_be_used(self):
        other = Daemon(options.zeusd, environment={"ZEUS_STATE_DIR": "/proc/none"})
        self.assertIn("/proc/none", self.refused_start(daemon=other))
        damaged = Daemon(options.zeusd)
        (damaged.state / "GPU-00000000-0000-0000-0000-000000000000.json").write_text("{damaged")
        damaged.start()
        self.addCleanup(lambda: damaged.__exit__())
        self.assertEqual(damaged.get("/gpu/get_power").status, 200, "what cannot be read is said, and nothing is guessed")

    def test_a_folder_that_is_full_refuses_leases_and_changes_nothing(self):
        full = Daemon(options.zeusd)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k,mode=700", "none", str(full.state)], check=True)
        self.addCleanup(full.close)
        self.addCleanup(daemon_session.unmount, full.state)
        self.addCleanup(lambda: until(lambda: not daemon_session.guardians_of(full.state), "the guardian ends"))
        full.start()
        try:
            with open(full.state / "filler", "wb", buffering=0) as filler:
                while True:
                    filler.write(b"x" * 4096)
        except OSError:
            pass
        answer = full.post(LIMIT)
        self.assertIn(answer.status, (500, 503), answer.body)
        self.assertEqual(driver.limit(0), self.found[0][0])
        (full.state / "filler").unlink()
        self.assertEqual(full.posted(LIMIT).status, 200, "it goes on")
        self.assertEqual(full.stop(), 0)

    def test_what_the_audit_log_has_no_room_for_is_not_set_but_is_put_back(self):
        small = Daemon(options.zeusd)
        disk = small.folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", str(disk)], check=True)
        self.addCleanup(small.close)
        self.addCleanup(daemon_session.unmount, disk)
        self.addCleanup(small.stop)
        small.words[small.words.index("--audit-log") + 1] = str(disk / "audit.log")
        small.start()
        self.assertEqual(small.posted(LIMIT).status, 200)
        try:
            with open(disk / "filler", "wb", buffering=0) as filler:
                while True:
                    filler.write(b"x" * 4096)
        except OSError:
            pass
        before = driver.limit(0)
        self.assertNotEqual(before, self.found[0][0])
        answer = small.post(LIMIT.replace("250000", "210000"))
        self.assertEqual(answer.status, 500, answer.body)
        self.assertIn("audit log", answer.text)
        self.assertEqual(driver.limit(0), before)
        self.assertEqual(small.stop(), 0)
        self.assertEqual(driver.limit(0), self.found[0][0])

    def test_a_daemon_without_rights_gpus_or_sense(self):
        def unprivileged() -> tuple[int, str]:
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([options.zeusd, "serve", "--socket-path", f"{folder}/s", "--admin-socket",
                                       f"{folder}/a/a"], capture_output=True, text=True, check=False, timeout=60,
                                      env={**os.environ, "ZEUS_STATE_DIR": folder})
                return done.returncode, done.stdout + done.stderr

        code, text = as_user(SOMEBODY, unprivileged)
        self.assertTrue(code != 0 and "root" in text, text)
        for arguments in (("--mode", "carrier-pigeon"), ("--enable", "gpu-fly"), ("--socket-permissions", "999"),
                          ("--tcp-bind-address", "nowhere:x", "--mode", "tcp", "--enable", "gpu-read"),
                          ("--signing-key-path", "/nonexistent")):
            with self.subTest(arguments):
                done = subprocess.run([options.zeusd, "serve", "--admin-socket", f"{self.daemon.folder}/other/a",
                                       "--socket-path", f"{self.daemon.folder}/other/s", *arguments],
                                      capture_output=True, text=True, check=False, timeout=60,
                                      env={**os.environ, "ZEUS_STATE_DIR": str(self.daemon.folder / "none")})
                self.assertTrue(done.returncode != 0 and done.stderr + done.stdout, done)
        # No driver, so no GPUs: it serves everything else.
        none = Daemon(options.zeusd, environment={"LD_LIBRARY_PATH": "", "ZEUS_VIRTUAL_SESSION": ""}).start()
        self.addCleanup(lambda: none.__exit__())
        self.assertEqual(none.get("/discover").json["gpus"], [])
        self.assertEqual(none.get("/gpu/get_power").json["power_mw"], {})

    def test_with_little_memory_it_serves_or_says_what_to_allow(self):
        ends = []
        for kib in range(15_000, 120_000, 8_000):
            with self.subTest(kib):
                daemon = Daemon(options.zeusd)
                daemon.words = ["sh", "-c", f'ulimit -v {kib}; exec "$@"', "limited", *daemon.words]
                daemon.start(wait=False)
                self.addCleanup(daemon.__exit__)
                until(lambda: daemon.process.poll() is not None or "info: ready\n" in daemon.log(), "zeusd serves or has ended")
                ends.append(daemon.process.poll())
                said = daemon.log()
                for word in ("a defect", "terminate called", "bad_alloc"):
                    self.assertNotIn(word, said)
                # What the loader says where a program does not fit is not ours.
                if ends[-1] is not None and "while loading shared libraries" not in said:
                    self.assertEqual(ends[-1], 1, said)
                    self.assertRegex(said, r"\(`ulimit -v`|Cannot allocate memory")
        self.assertIn(None, ends)
        self.assertIn(1, ends)


if __name__ == "__main__":
    driver, words = daemon_session.begin(options)
    unittest.main(argv=words)
