"""A client that follows a job gets each entry once and in order, from any writer, however often the client is disconnected
or a server killed; and summaries as they change."""

import argparse
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import server_session as session

ENDS_S = 60.0  # a stream whose reader has lost the right to it


class Follower:
    """Reads a job's events from one of several servers, and continues after each disconnection."""

    def __init__(self, servers: list[session.Server], path: str, draws: random.Random) -> None:
        self.servers = servers
        self.path = path
        self.draws = draws
        self.seen: list[int] = []
        self.cuts = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        which = self.draws.randrange(len(self.servers))
        while not self.over.is_set():
            try:
                headers = {"Last-Event-ID": str(self.seen[-1])} if self.seen else {"Last-Event-ID": "0"}
                reader = session.EventReader(self.servers[which].port, self.path, headers)
            except OSError:
                which = (which + 1) % len(self.servers)
                continue
            stays = self.draws.uniform(0.05, 1.0)
            taken = 0
            until = time.monotonic() + stays
            while time.monotonic() < until and not reader.ended.is_set() and not self.over.is_set():
                with reader.changed:
                    reader.changed.wait(0.05)
            reader.close()
            self.cuts += 1
            for identity, data in reader.events[taken:]:
                assert int(identity) == data["sequence"], (identity, data)
                self.seen.append(data["sequence"])


class Events(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.servers = []
        for number in range(2):
            (self.folder / str(number)).mkdir()
            server = session.Server(ARGUMENTS.zeus, self.folder / str(number), database=str(self.folder / "jobs.sqlite"))
            self.addCleanup(server.kill)
            self.servers.append(server)

    def write(self, server: session.Server, entries: int) -> None:
        while self.entries(server) < entries:
            recurrence = session.Recurrence(server, "followed")
            step = recurrence.must("next", {})
            for epoch in range(1, 20):
                recurrence.must("epochs", {"try": step["try"], "epochs": epoch, "metric": None,
                                           "gpus": session.gpus(100 * epoch), "time_s": 2.0 * epoch})
            recurrence.must("give_up", {"reason": "enough"})

    def entries(self, server: session.Server) -> int:
        return server.get(session.job_path("followed") + "?last=0")["entries"]

    def test_come_once_and_in_order_to_readers_that_are_cut_off(self) -> None:
        writer, other = self.servers
        writer.ask("PUT", session.job_path("followed"), session.definition())
        path = session.job_path("followed", "events")
        draws = random.Random(19)
        readers = [Follower(self.servers, path, random.Random(draws.random())) for _ in range(2 * ARGUMENTS.readers)]
        writing = threading.Thread(target=self.write, args=(writer, ARGUMENTS.entries))
        writing.start()
        while writing.is_alive():
            writing.join(draws.uniform(0.5, 2.0))
            other.kill()
            other.start()
        last = self.entries(writer)
        written = time.monotonic()
        until = written + session.PATIENCE
        while time.monotonic() < until and any(not one.seen or one.seen[-1] < last for one in readers):
            time.sleep(0.1)
        took = time.monotonic() - written
        for reader in readers:
            reader.over.set()
        for reader in readers:
            reader.thread.join()
        print(f"{last} entries, {sum(reader.cuts for reader in readers)} connections of {len(readers)} readers, the last entry after "
              f"{took:.1f} s")
        for reader in readers:
            self.assertEqual(reader.seen, list(range(1, last + 1)))

    def test_of_another_process_come_within_two_seconds(self) -> None:
        writer, other = self.servers
        writer.ask("PUT", session.job_path("followed"), session.definition())
        reader = session.EventReader(other.port, session.job_path("followed", "events"))
        self.addCleanup(reader.close)
        with reader.changed:
            self.assertTrue(reader.changed.wait_for(lambda: reader.comments > 0, session.PATIENCE))
        summaries = session.EventReader(other.port, "/api/v1/events")
        self.addCleanup(summaries.close)
        with summaries.changed:
            self.assertTrue(summaries.changed.wait_for(lambda: summaries.comments > 0, session.PATIENCE))
        # The first look reports no changes; the next one does.
        session.Recurrence(writer, "followed")
        began = time.monotonic()
        self.assertTrue(reader.wait_for(1))
        print(f"an entry of another server after {time.monotonic() - began:.2f} s")
        self.assertEqual(reader.events[0][1]["kind"], "begun")
        session.Recurrence(writer, "followed").must("give_up", {"reason": "enough"})
        self.assertTrue(summaries.wait_for(1))
        self.assertEqual(summaries.events[-1][1]["name"], "followed")
        writer.ask("DELETE", session.job_path("followed"))
        self.assertTrue(reader.ended.wait(session.PATIENCE))

    def test_of_a_job_that_is_not_there_are_refused(self) -> None:
        answer = self.servers[0].ask("GET", session.job_path("nobody", "events"))
        self.assertEqual((answer.status, answer.headers["content-type"]), (404, "application/problem+json"))


class Rights(unittest.TestCase):
    def test_streams_of_a_revoked_token_end_and_others_go_on(self) -> None:
        with tempfile.TemporaryDirectory() as text:
            folder = pathlib.Path(text)
            key = session.write_key(folder)
            with session.Server(ARGUMENTS.zeus, folder, "--signing-key-path", str(key)) as server:
                ann = session.bearer(session.token("ann", ["jobs-read", "jobs-write"]))
                server.ask("PUT", session.job_path("followed"), session.definition(), ann)
                stolen = subprocess.run([ARGUMENTS.zeus, "token", "issue", "--signing-key-path", key, "--user", "bob", "--scope",
                                         "jobs-read", "--expires", "1h"], capture_output=True, text=True, check=True).stdout.strip()
                readers = {(user, path): session.EventReader(server.port, path, headers)
                           for user, headers in (("ann", ann), ("bob", session.bearer(stolen)))
                           for path in (session.job_path("followed", "events"), "/api/v1/events")}
                for reader in readers.values():
                    self.addCleanup(reader.close)
                    with reader.changed:
                        self.assertTrue(reader.changed.wait_for(lambda one=reader: one.comments > 0, session.PATIENCE))
                (folder / "stolen").write_text(stolen, encoding="utf-8")
                subprocess.run([ARGUMENTS.zeus, "token", "revoke", "--signing-key-path", key, "--token-file", folder / "stolen"],
                               capture_output=True, check=True)
                server.process.send_signal(signal.SIGHUP)
                for (user, path), reader in readers.items():
                    if user == "bob":
                        self.assertTrue(reader.ended.wait(ENDS_S), path)
                session.Recurrence(server, "followed", ann)
                for (user, path), reader in readers.items():
                    if user == "ann":
                        self.assertTrue(reader.wait_for(1), path)
                        self.assertFalse(reader.ended.is_set(), path)
                    else:
                        self.assertEqual(reader.events, [], path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("zeus")
    parser.add_argument("--readers", type=int, default=20, help="on each server")
    parser.add_argument("--entries", type=int, default=2000)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
