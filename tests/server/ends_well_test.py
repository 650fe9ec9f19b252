"""A stopping server answers its requests, or refuses them as a whole; and one whose store cannot be used says so, and serves
as before afterwards."""

import contextlib
import http.client
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import server_session as session

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from postgres_server import PostgresServer

ZEUS = sys.argv.pop(1)
FILES = sys.argv.pop(1) if len(sys.argv) > 1 else ""
PROMISED_S = 30.0 if FILES else 60.0  # 10 s and the delays of a busy machine; a sanitized program, without FILES, is slower


class Stopping(unittest.TestCase):
    def test_answers_what_is_in_flight_and_ends_streams(self) -> None:
        with tempfile.TemporaryDirectory() as text, session.Server(ZEUS, pathlib.Path(text)) as server:
            server.ask("PUT", session.job_path("a"), session.definition())
            readers = [session.EventReader(server.port, session.job_path("a", "events?after=0")) for _ in range(10)]
            self.addCleanup(lambda: [reader.close() for reader in readers])
            for reader in readers:
                with reader.changed:
                    self.assertTrue(reader.changed.wait_for(lambda r=reader: r.comments > 0, session.PATIENCE))
            acknowledged, refused, broken = [], [], []
            together = threading.Barrier(51)

            def ask(number: int) -> None:
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=session.PATIENCE)
                with contextlib.closing(connection):
                    together.wait()
                    while True:
                        try:
                            answer = session.ask_on(connection, "POST", session.job_path("a", "recurrences"),
                                                    {"device": session.DEVICE, "owner": session.OWNER | {"pid": number + 1}})
                        except (ConnectionError, http.client.BadStatusLine, TimeoutError):
                            return  # refused as a whole, unless it is on record
                        except http.client.IncompleteRead as cut:
                            broken.append(cut)
                            return
                        (acknowledged if answer.status == 201 else refused).append(answer)

            asking = [threading.Thread(target=ask, args=(number,)) for number in range(50)]
            for one in asking:
                one.start()
            together.wait()
            while len(acknowledged) < 50 and any(one.is_alive() for one in asking):
                time.sleep(0.01)
            began = time.monotonic()
            self.assertEqual(server.end(), 0)
            took = time.monotonic() - began
            self.assertLess(took, PROMISED_S)
            for one in asking:
                one.join()
            for reader in readers:
                self.assertTrue(reader.ended.wait(session.PATIENCE))
            self.assertEqual(broken, [])
            self.assertEqual(refused, [])
            numbers = [answer.json()["recurrence"] for answer in acknowledged]
            self.assertEqual(len(numbers), len(set(numbers)))
            server.start()
            begun = server.get(session.job_path("a", "recurrences?limit=1"))["recurrences"][0]["recurrence"]
            # A change whose answer was not read may also be on record, once for each connection.
            self.assertTrue(set(numbers) <= set(range(1, begun + 1)))
            self.assertLessEqual(begun - len(numbers), 50)
            print(f"{len(numbers)} acknowledged, {begun} on record, ended in {took:.1f} s")

    def test_does_not_wait_for_who_does_not_speak(self) -> None:
        with tempfile.TemporaryDirectory() as text, session.Server(ZEUS, pathlib.Path(text)) as server:
            half = socket.create_connection(("127.0.0.1", server.port))
            half.sendall(b"GET /healthz HTTP/1.1\r\nHos")
            idle = socket.create_connection(("127.0.0.1", server.port))
            self.assertEqual(server.ask("GET", "/healthz").status, 200)
            began = time.monotonic()
            self.assertEqual(server.end(), 0)
            self.assertLess(time.monotonic() - began, PROMISED_S)
            half.close()
            idle.close()

    def test_does_not_wait_for_a_store_that_another_process_holds(self) -> None:
        with tempfile.TemporaryDirectory() as text:
            path = f"{text}/socket"
            with session.Server(ZEUS, pathlib.Path(text), "--listen", f"unix:{path}") as server:
                server.ask("PUT", session.job_path("a"), session.definition())
                with contextlib.closing(sqlite3.connect(server.database, isolation_level=None)) as other:
                    other.execute("BEGIN IMMEDIATE")
                    asking = threading.Thread(target=lambda: self.assertRaises(
                        (ConnectionError, http.client.HTTPException), server.ask, "DELETE", session.job_path("a")))
                    asking.start()
                    while "zeus_server_busy_workers 2" not in server.ask("GET", "/metrics").body.decode():
                        time.sleep(0.01)
                    began = time.monotonic()
                    self.assertEqual(server.end(), 0)
                    self.assertLess(time.monotonic() - began, PROMISED_S)
                    asking.join()
                self.assertFalse(os.path.exists(path))
                self.assertIn("requests that wait for it end without an answer", server.log.read_text(encoding="utf-8"))
                server.start()
                self.assertEqual(server.ask("GET", session.job_path("a")).status, 200)


class Starting(unittest.TestCase):
    def test_in_vain_leaves_no_socket(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            started = subprocess.run([ZEUS, "serve", "--listen", f"unix:{folder}/s.sock", "--listen", "127.0.0.1:99999"],
                                     capture_output=True, text=True, check=False, timeout=session.PATIENCE,
                                     env={**os.environ, "HOME": folder, "XDG_DATA_HOME": folder})
            self.assertEqual(started.returncode, 2, started.stderr)
            self.assertEqual([name for name in os.listdir(folder) if name.startswith("s.sock")], [])


class Logs(unittest.TestCase):
    def test_has_requests_only_if_asked_for(self) -> None:
        for level, requests in (("info", 0), ("debug", 2)):
            with tempfile.TemporaryDirectory() as text, session.Server(ZEUS, pathlib.Path(text), "--log-level", level) as server:
                for path in ("/api/v1/jobs", "/api/v1/jobs/none"):
                    server.ask("GET", path)
                self.assertEqual(server.end(), 0)
                lines = [line for line in server.log_lines() if "operation" in line]
                self.assertEqual(len(lines), requests, level)
                self.assertTrue(all(line["took_s"] == round(line["took_s"], 6) for line in lines))


class Stores(unittest.TestCase):
    def assert_unavailable(self, answer: session.Answer) -> None:
        self.assertEqual((answer.status, answer.headers["content-type"]), (503, "application/problem+json"), answer)
        self.assertIn("retry-after", answer.headers)
        self.assertTrue(answer.json()["advice"])
        for inner in ("/tmp", "sqlite", "SQL", "postgres"):
            self.assertNotIn(inner, answer.body.decode())

    def test_on_a_full_disk_refuses_and_goes_on_when_there_is_room(self) -> None:
        with tempfile.TemporaryDirectory() as text:
            with contextlib.ExitStack() as stack:
                disk = self.disk(stack, pathlib.Path(text))
                server = stack.enter_context(session.Server(ZEUS, pathlib.Path(text), database=str(disk / "jobs.sqlite")))
                server.ask("PUT", session.job_path("a"), session.definition())
                recurrence = session.Recurrence(server, "a")
                ballast = disk / "ballast"
                with open(ballast, "wb", buffering=0) as file, contextlib.suppress(OSError):
                    while file.write(b"x" * 4096):
                        pass
                answer = self.until(lambda: recurrence.say("beat", {"gpus": []}), lambda answer: answer.status != 200)
                self.assert_unavailable(answer)
                self.assertEqual(server.ask("GET", session.job_path("a")).status, 200)
                ballast.unlink()
                self.until(lambda: recurrence.say("next", {}), lambda answer: answer.status == 200)

    def until(self, ask, holds) -> session.Answer:
        until = time.monotonic() + session.PATIENCE
        while True:
            answer = ask()
            if holds(answer):
                return answer
            self.assertLess(time.monotonic(), until, answer)

    def wait_for_line(self, server: session.Server, line: str) -> None:
        """In the log, which may follow an answer."""
        self.until(lambda: server.log.read_text(encoding="utf-8"), lambda text: line in text)

    def test_that_was_removed_or_replaced_takes_no_write(self) -> None:
        with tempfile.TemporaryDirectory() as text, session.Server(ZEUS, pathlib.Path(text)) as server:
            file = pathlib.Path(server.database)
            away = file.with_suffix(".away")
            self.assertEqual(server.ask("PUT", session.job_path("a"), session.definition()).status, 201)
            file.rename(away)
            for how in ("removed", "replaced"):
                refused = server.ask("PUT", session.job_path(how), session.definition())
                self.assertEqual(refused.status, 503, refused)
                self.assertEqual(server.ask("GET", "/readyz").status, 503)
                self.wait_for_line(server, f"the store {file} was {how} while it was open")
                file.write_bytes(b"")
            away.rename(file)
            self.assertEqual(server.ask("PUT", session.job_path("b"), session.definition()).status, 201)
            self.assertEqual(server.ask("GET", "/readyz").status, 200)

    def test_without_memory_for_its_threads_says_so(self) -> None:
        if not FILES:
            self.skipTest("a sanitized program reserves more addresses than it would have")
        # With less, the program itself cannot be loaded.
        limits = [kib for kib in range(22_000, 322_000, 20_000)]
        with tempfile.TemporaryDirectory() as text:
            for kib in limits:
                process = subprocess.Popen(
                    ["sh", "-c", f"ulimit -v {kib}; exec '{ZEUS}' serve --listen 127.0.0.1:0 --database '{text}/{kib}.sqlite'"],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=session.environment())
                line = process.stdout.readline()
                process.terminate()
                _, said = process.communicate()
                if line.startswith("listening"):
                    self.assertEqual(process.returncode, 0, (kib, said))
                    continue
                self.assertGreater(process.returncode, 0, (kib, said))
                self.assertEqual(len(said.splitlines()), 1, (kib, said))
                self.assertNotIn("defect", said, kib)
                self.assertNotIn("disk", said, kib)

    def test_without_descriptors_says_so(self) -> None:
        if not FILES:
            self.skipTest("a sanitized program needs descriptors for its own checks")
        for number in range(5, 24):
            with self.subTest(number), tempfile.TemporaryDirectory() as text:
                process = subprocess.Popen(
                    ["sh", "-c", f"ulimit -n {number}; exec '{ZEUS}' serve --listen 127.0.0.1:0 --database '{text}/s.sqlite'"],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=session.environment())
                line = process.stdout.readline()
                process.terminate()
                _, said = process.communicate()
                if not line.startswith("listening"):
                    self.assertEqual(process.returncode, 1, said)
                    self.assertRegex(said, r"\Azeus: .*Too many open files; raise the limit of open files \(ulimit -n\)\n\Z")

    def test_that_is_newer_refuses_to_start(self) -> None:
        with tempfile.TemporaryDirectory() as text:
            with session.Server(ZEUS, pathlib.Path(text)) as server:
                server.ask("PUT", session.job_path("a"), session.definition())
                self.assertEqual(server.end(), 0)
            with contextlib.closing(sqlite3.connect(pathlib.Path(text) / "jobs.sqlite")) as database:
                database.execute("INSERT INTO zeus_store (migration) VALUES (999)")
                database.commit()
            with self.assertRaisesRegex(RuntimeError, "newer"):
                session.Server(ZEUS, pathlib.Path(text))

    def assert_read_only(self, answer: session.Answer) -> None:
        self.assert_unavailable(answer)
        self.assertEqual(answer.json()["kind"], "permission denied")
        self.assertIn("administrator", answer.json()["advice"])

    def test_on_a_read_only_disk_is_read_and_written_once_that_may_be(self) -> None:
        for closed in (True, False):
            with self.subTest(closed=closed), tempfile.TemporaryDirectory() as text, contextlib.ExitStack() as stack:
                disk = self.disk(stack, pathlib.Path(text))
                database = str(disk / "jobs.sqlite")
                with session.Server(ZEUS, pathlib.Path(text), database=database) as server:
                    server.ask("PUT", session.job_path("a"), session.definition())
                    number = session.Recurrence(server, "a").number
                    if closed:
                        self.assertEqual(server.end(), 0)
                self.assertEqual({file.name for file in disk.iterdir()} == {"jobs.sqlite"}, closed)
                subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
                server = stack.enter_context(session.Server(ZEUS, pathlib.Path(text), database=database))
                self.assertEqual(server.ask("GET", "/readyz").status, 200)
                self.assertEqual(server.get(session.job_path("a"))["name"], "a")
                self.assertEqual(len(server.get("/api/v1/jobs")["jobs"]), 1)
                change = ("POST", session.job_path("a", "recurrences", number, "next"), {})
                makes = ("PUT", session.job_path("b"), session.definition())
                forgets = ("DELETE", session.job_path("a"))
                for refused in (change, makes, forgets):
                    self.assert_read_only(server.ask(*refused))
                self.wait_for_line(server, "is read-only")
                subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
                self.assertEqual(server.ask(*change).status, 200)
                self.assertEqual(server.ask(*makes).status, 201)
                self.assertEqual(server.ask(*forgets).status, 204)
                self.assertEqual(len(server.get("/api/v1/jobs")["jobs"]), 1)
                server.kill()

    def test_on_a_disk_that_turns_read_only_refuses_and_goes_on_when_it_may_be_written(self) -> None:
        if not FILES:
            self.skipTest("no library can be preloaded here")
        with tempfile.TemporaryDirectory() as text:
            disk = pathlib.Path(text) / "disk"
            disk.mkdir()
            turned = pathlib.Path(text) / "turned"
            # A copy, because LD_PRELOAD ends a path at a space.
            files = shutil.copy(FILES, text)
            environment = {"LD_PRELOAD": files, "ZEUS_TEST_DISK": str(disk), "ZEUS_TEST_READ_ONLY": str(turned)}
            with session.Server(ZEUS, pathlib.Path(text), database=str(disk / "jobs.sqlite"), variables=environment) as server:
                server.ask("PUT", session.job_path("a"), session.definition())
                recurrence = session.Recurrence(server, "a")
                for _ in range(2):
                    turned.touch()
                    reading = [threading.Thread(target=server.ask, args=("GET", "/api/v1/jobs")) for _ in range(20)]
                    for one in reading:
                        one.start()
                    self.assert_read_only(recurrence.say("beat", {"gpus": []}))
                    self.assert_read_only(server.ask("DELETE", session.job_path("a")))
                    self.assertEqual(server.ask("GET", session.job_path("a")).status, 200)
                    for one in reading:
                        one.join()
                    turned.unlink()
                    self.assertEqual(recurrence.say("beat", {"gpus": []}).status, 200)
                self.assertEqual(server.ask("DELETE", session.job_path("a")).status, 204)

    def disk(self, stack: contextlib.ExitStack, folder: pathlib.Path) -> pathlib.Path:
        """One of 2 MiB, until `stack` ends."""
        disk = folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], check=False,
                                               capture_output=True).returncode:
            self.skipTest("a separate disk needs the right to mount")
        stack.callback(subprocess.run, ["umount", "-l", disk], check=False)
        return disk

    def test_in_a_postgresql_that_stands_still_answers_once_it_goes_on(self) -> None:
        postgres = PostgresServer()
        self.addCleanup(postgres.remove)
        with tempfile.TemporaryDirectory() as text:
            with session.Server(ZEUS, pathlib.Path(text), database=postgres.create_database("jobs")) as server:
                server.ask("PUT", session.job_path("a"), session.definition())
                recurrence = session.Recurrence(server, "a")
                processes = [postgres.process.pid, *children_of(postgres.process.pid)]
                signal_all(processes, signal.SIGSTOP)
                try:
                    answers = []
                    waiting = threading.Thread(target=lambda: answers.append(recurrence.say("next", {})))
                    waiting.start()
                    self.assertEqual(server.ask("GET", "/healthz").status, 200)
                    self.assert_unavailable(server.ask("GET", "/readyz"))
                    waiting.join(ARGUMENT_STOPPED_S)
                finally:
                    signal_all(processes, signal.SIGCONT)
                waiting.join()
                self.assertEqual(answers[0].status, 200, answers)
                self.until(lambda: server.ask("GET", "/readyz"), lambda answer: answer.status == 200)


    def test_in_a_postgresql_without_a_free_connection_answers_once_there_is_one(self) -> None:
        postgres = PostgresServer()
        self.addCleanup(postgres.remove)
        database = postgres.create_database("jobs")
        postgres.sql("jobs", "CREATE ROLE ann LOGIN PASSWORD 'word'; CREATE SCHEMA ann AUTHORIZATION ann")
        with tempfile.TemporaryDirectory() as text:
            with session.Server(ZEUS, pathlib.Path(text), database=database.replace("zeus@", "ann:word@")) as server:
                server.ask("PUT", session.job_path("a"), session.definition())
                recurrence = session.Recurrence(server, "a")
                postgres.sql("jobs", "ALTER ROLE ann CONNECTION LIMIT 0")
                postgres.sql("jobs", "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE usename = 'ann'")
                answers = []
                waiting = threading.Thread(target=lambda: answers.append(recurrence.say("next", {})))
                waiting.start()
                self.assertEqual(server.ask("GET", "/healthz").status, 200)
                self.assert_unavailable(server.ask("GET", "/readyz"))
                postgres.sql("jobs", "ALTER ROLE ann CONNECTION LIMIT -1")
                waiting.join()
                self.assertEqual(answers[0].status, 200, answers)
                self.until(lambda: server.ask("GET", "/readyz"), lambda answer: answer.status == 200)


def signal_all(processes: list[int], number: int) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):  # it has ended since it was found
            os.kill(process, number)


def children_of(process: int) -> list[int]:
    text = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return [int(word) for word in text.split()]


ARGUMENT_STOPPED_S = 20.0

if __name__ == "__main__":
    unittest.main()
