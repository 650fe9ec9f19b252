"""Permissions: every operation of the service with every kind of token; tokens that other programs make and read; and the
requests that pages of other sites may not send to a server without tokens."""

import argparse
import base64
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import server_session as session

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment

ALL = ["jobs-read", "jobs-write", "jobs-admin", "nodes-read", "pipelines", "metrics"]
OF_PROBLEMS = "application/problem+json"


def filled(path: str) -> str:
    return path.replace("{job}", "theirs").replace("{recurrence}", "1")


class ServerCase(unittest.TestCase):
    options: tuple[str, ...] = ()

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.key = session.write_key(self.folder)
        self.server = session.Server(ARGUMENTS.zeus, self.folder, "--log-level", "debug", *self.options_of())
        self.addCleanup(self.server.kill)

    def options_of(self) -> tuple[str, ...]:
        return ("--signing-key-path", str(self.key))


class WithTokens(ServerCase):
    def test_each_operation_takes_its_own_scope_alone(self) -> None:
        right = session.bearer(session.token("ann", ALL, 3600))
        self.assertEqual(self.server.ask("PUT", session.job_path("theirs"), session.definition(), right).status, 201)
        session.Recurrence(self.server, "theirs", right)
        document = self.server.get("/api/v1/openapi.json")
        open_ones, guarded = 0, 0
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                with self.subTest(operation=operation["operationId"]):
                    if "security" not in operation:
                        open_ones += 1
                        continue
                    guarded += 1
                    self.check(method.upper(), filled(path), operation["security"][0]["bearer"][0])
        print(f"{guarded} operations with tokens, {open_ones} without")
        self.assertEqual(open_ones, 4)

    def check(self, method: str, path: str, scope: str) -> None:
        def ask(headers: dict[str, str]) -> int:
            if path.endswith("/events"):
                reader = session.EventReader(self.server.port, path, headers)
                with reader.changed:
                    reader.changed.wait_for(lambda: reader.comments > 0 or reader.ended.is_set(), session.PATIENCE)
                reader.close()
                return reader.status
            return self.server.ask(method, path, {} if method in ("POST", "PUT", "PATCH") else None, headers).status

        believed = {
            "none": ({}, False),
            "garbage": (session.bearer("garbage"), False),
            "another scheme": ({"Authorization": "Digest abc"}, False),
            "another key": (session.bearer(session.token("ann", ALL, 60, key=b"another")), False),
            "no algorithm": (session.bearer(session.token("ann", ALL, 60, algorithm="none")), False),
            "unknown scope": (session.bearer(session.token("ann", [*ALL, "more"], 60)), False),
            "expired for 90 s": (session.bearer(session.token("ann", ALL, -90)), False),
            "expired for 30 s": (session.bearer(session.token("bob", [scope], -30)), True),
            "as a password": ({"Authorization": "Basic " + base64.b64encode(
                b"bob:" + session.token("bob", [scope]).encode()).decode()}, True),
        }
        for kind, (headers, is_believed) in believed.items():
            # Most of these requests are senseless, but that is checked only after the permission.
            status = ask(headers)
            if not is_believed:
                self.assertEqual(status, 401, kind)
            elif scope == "jobs-admin":
                self.assertNotIn(status, (401, 403), kind)
            else:
                self.assertNotEqual(status, 401, kind)
        others = [one for one in ALL if one != scope]
        self.assertEqual(ask(session.bearer(session.token("bob", others, 60))), 403)
        if method == "DELETE":
            right = session.bearer(session.token("ann", ALL, 3600))
            self.server.ask("PUT", session.job_path("theirs"), session.definition(), right)
            session.Recurrence(self.server, "theirs", right)

    def test_who_began_a_recurrence_alone_reports_on_it(self) -> None:
        def of(user: str, *scopes: str) -> dict[str, str]:
            return session.bearer(session.token(user, list(scopes), 60))

        ann = of("ann", "jobs-write")
        self.server.ask("PUT", session.job_path("hers"), session.definition(), ann)
        recurrence = session.Recurrence(self.server, "hers", ann)
        for say, body in (("next", {}), ("claim", {"batch_size": 64}), ("beat", {"gpus": []}), ("give_up", {"reason": "x"}),
                          ("profiled", {"batch_size": 64, "limits": [], "charged": [], "time_s": 0})):
            answer = recurrence.say(say, body, **of("bob", "jobs-write"))
            self.assertEqual((answer.status, answer.headers["content-type"]), (403, OF_PROBLEMS), say)
        step = recurrence.must("next", {})
        told = {"try": step["try"], "epochs": 1, "metric": None, "gpus": session.gpus(1), "time_s": 1}
        self.assertEqual(recurrence.say("epochs", told, **of("bob", "jobs-write")).status, 403)
        self.assertEqual(recurrence.say("epochs", told).status, 200)
        self.assertEqual(recurrence.say("give_up", {"reason": "x"}, **of("eve", "jobs-write", "jobs-admin")).status, 200)

    def test_a_key_of_another_user_is_another_request(self) -> None:
        ann, bob = (session.bearer(session.token(user, ["jobs-write"], 60)) for user in ("ann", "bob"))
        self.server.ask("PUT", session.job_path("both"), session.definition(), ann)
        begin = {"device": session.DEVICE, "owner": session.OWNER}
        numbers = [self.server.ask("POST", session.job_path("both", "recurrences"), begin,
                                   who | {"Idempotency-Key": "1"}).json()["recurrence"] for who in (ann, bob, ann, bob)]
        self.assertEqual(numbers, [1, 2, 1, 2])

    def test_are_taken_back(self) -> None:
        issued = subprocess.run([ARGUMENTS.zeus, "token", "issue", "--signing-key-path", self.key, "--user", "ann", "--scope",
                                 "jobs-read", "--expires", "1h"], capture_output=True, text=True, check=True).stdout.strip()
        self.assertEqual(self.server.ask("GET", "/api/v1/jobs", headers=session.bearer(issued)).status, 200)
        file = self.folder / "stolen"
        file.write_text(issued, encoding="utf-8")
        subprocess.run([ARGUMENTS.zeus, "token", "revoke", "--signing-key-path", self.key, "--token-file", file],
                       capture_output=True, check=True)
        self.server.process.send_signal(session.signal.SIGHUP)
        until = session.time.monotonic() + session.PATIENCE
        while self.server.ask("GET", "/api/v1/jobs", headers=session.bearer(issued)).status != 401:
            self.assertLess(session.time.monotonic(), until)
        self.assertNotIn(issued, self.server.log.read_text(encoding="utf-8"))

    def test_agree_with_what_others_make_and_read(self) -> None:
        python = python_environment.interpreter(ARGUMENTS.build, "clients")
        issued = subprocess.run([ARGUMENTS.zeus, "token", "issue", "--signing-key-path", self.key, "--user", "ann", "--scope",
                                 "jobs-read,metrics", "--expires", "1h"], capture_output=True, text=True, check=True).stdout.strip()
        script = ("import jwt, sys, json, time; key = open(sys.argv[1], 'rb').read();"
                  "print(json.dumps(jwt.decode(sys.argv[2], key, algorithms=['HS256'])));"
                  "print(jwt.encode({'sub': 'bob', 'scopes': ['jobs-read'], 'exp': int(time.time()) + 60}, key, algorithm='HS256'))")
        claims, made = subprocess.run([python, "-c", script, self.key, issued], capture_output=True, text=True,
                                      check=True).stdout.splitlines()
        self.assertEqual((json.loads(claims)["sub"], json.loads(claims)["scopes"]), ("ann", ["jobs-read", "metrics"]))
        self.assertEqual(self.server.ask("GET", "/api/v1/jobs", headers=session.bearer(made)).status, 200)
        self.assertEqual(self.server.ask("GET", "/metrics", headers=session.bearer(made)).status, 403)


class WithoutTokens(ServerCase):
    def options_of(self) -> tuple[str, ...]:
        return ()

    def test_pages_of_other_sites_are_refused(self) -> None:
        port = self.server.port
        body = json.dumps(session.definition()).encode()
        # What a page may send without a preflight: no custom header, and one of three types.
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json", ""):
            for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
                            {"Sec-Fetch-Site": "same-site"}, {"Host": "evil.example"}, {"Host": f"evil.example:{port}"}):
                for method, path in (("PUT", session.job_path("x")), ("POST", "/jobs"), ("DELETE", session.job_path("x")),
                                     ("GET", "/api/v1/jobs"), ("GET", "/metrics"), ("GET", "/api/v1")):
                    answer = self.server.ask(method, path, body, headers | ({"Content-Type": kind} if kind else {}))
                    self.assertEqual(answer.status, 403, (method, path, headers, kind))
        self.assertEqual(self.server.get("/api/v1/jobs")["jobs"], [])
        for host in (f"localhost:{port}", f"127.0.0.1:{port}", "localhost", f"[::1]:{port}"):
            self.assertEqual(self.server.ask("GET", "/api/v1/jobs", headers={"Host": host}).status, 200, host)
        own = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}", "Sec-Fetch-Site": "same-origin"}
        self.assertEqual(self.server.ask("GET", "/api/v1/jobs", headers=own).status, 200)


class Starting(unittest.TestCase):
    def refused(self, *options: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([ARGUMENTS.zeus, "serve", "--database", f"{folder}/jobs.sqlite", *options],
                                  capture_output=True, text=True, check=False, timeout=session.PATIENCE,
                                  env=session.environment())
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        return done.stderr

    def test_listens_to_other_hosts_only_with_tokens_or_an_explicit_option(self) -> None:
        self.assertIn("--no-tokens", self.refused("--listen", "0.0.0.0:0"))
        with tempfile.TemporaryDirectory() as text:
            folder = pathlib.Path(text)
            for options in (("--no-tokens",), ("--signing-key-path", str(session.write_key(folder)))):
                with session.Server(ARGUMENTS.zeus, folder, *options, listen="0.0.0.0:0") as server:
                    self.assertIn("0.0.0.0", server.address)

    def test_refuses_a_key_that_is_none_or_that_others_may_read(self) -> None:
        with tempfile.TemporaryDirectory() as text:
            key = pathlib.Path(text) / "key"
            self.assertIn("key", self.refused("--signing-key-path", str(key)))
            key.write_bytes(b"")
            key.chmod(0o600)
            self.assertIn("key", self.refused("--signing-key-path", str(key)))
            key.write_bytes(session.KEY)
            key.chmod(0o644)
            self.assertIn("key", self.refused("--signing-key-path", str(key)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("zeus")
    parser.add_argument("build", type=pathlib.Path)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
