"""Many client processes and their servers, killed at random moments: no number twice, nothing acknowledged lost, nothing
begun without a request, and no client waits for long.

  processes_test.py [TEST ...] WORKER ZEUS [--full]
"""

import asyncio
import collections
import contextlib
import csv
import dataclasses
import io
import json
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import Any

import server_session as session

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import postgres_server  # noqa: E402

worker = zeus = ""
CLIENTS = 16
PATIENCE_S = 60.0
FOREVER = 1_000_000
REPORTS = ("begun", "started", "profiled", "epochs", "finished")


@dataclasses.dataclass
class Size:
    """Kills of each kind on a database, the longest outage after a kill, and the number of jobs."""

    servers: int
    clients: int
    databases: int
    away_s: float
    jobs: int


size = Size(servers=3, clients=3, databases=1, away_s=0.3, jobs=32)
FULL = Size(servers=50, clients=50, databases=20, away_s=1.5, jobs=1000)


@dataclasses.dataclass
class Asked:
    """One request: when it was made, of which server, and when and how it ended."""

    operation: str
    server: str
    at: float
    until: float | None = None
    answered: bool = False


@dataclasses.dataclass
class Said:
    """The output of a client."""

    requests: list[Asked] = dataclasses.field(default_factory=list)
    acknowledged: list[tuple[str, ...]] = dataclasses.field(default_factory=list)
    wrong: list[str] = dataclasses.field(default_factory=list)


class Client:
    def __init__(self, folder: pathlib.Path, name: str, recurrences: int, servers: list[str], jobs: list[str], keys: str = "kept"):
        self.name = name
        self.file = folder / f"{name}.said"
        self.killed_at: float | None = None
        with open(self.file, "wb") as out:
            self.process = subprocess.Popen(
                [worker, name, name.removeprefix("client-"), str(recurrences), ",".join(servers), str(folder / "until"), keys, *jobs],
                stdout=out, env=session.environment())

    def kill(self) -> None:
        self.killed_at = time.monotonic()
        self.process.kill()
        self.process.wait()

    def wait_for_answer(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while "answered" not in self.file.read_text(encoding="utf-8"):
            assert time.monotonic() < deadline, self.name
            time.sleep(0.01)

    def said(self) -> Said:
        said = Said()
        whole = self.file.read_text(encoding="utf-8")
        # A kill may cut the last line short.
        for line in whole[:whole.rfind("\n") + 1].splitlines():
            at, what, *words = line.split(" ")
            if what == "asks":
                said.requests.append(Asked(words[0], words[1], float(at)))
            elif what in ("answered", "broken"):
                said.requests[-1].until = float(at)
                said.requests[-1].answered = what == "answered"
            elif what in REPORTS:
                said.acknowledged.append((what, *words))
            else:
                said.wrong.append(f"{self.name}: {line}")
        return said


@dataclasses.dataclass
class Death:
    """A kill: its kind, the time of the outage, and its victim: a client, the address of a server, or nothing for a
    database."""

    what: str
    begin: float
    end: float
    whom: Any


class Proxy(threading.Thread):
    """A proxy that drops every fifth answer: the server has done the request, but the client does not learn of it."""

    def __init__(self, here: pathlib.Path, server: pathlib.Path):
        super().__init__(daemon=True)
        self.here, self.server = here, server
        self.answers = self.swallowed = 0
        self.ready = threading.Event()
        self.start()
        self.ready.wait()

    def run(self) -> None:
        asyncio.run(self.serve())

    async def serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.end = asyncio.Event()
        async with await asyncio.start_unix_server(self.connect, self.here):
            self.ready.set()
            await self.end.wait()

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.end.set)
        self.join()

    async def connect(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_unix_connection(self.server)
        asked = False

        async def forward() -> None:
            nonlocal asked
            while piece := await from_client.read(65536):
                asked = True
                to_server.write(piece)
                await to_server.drain()
            to_server.close()

        forwarding = asyncio.create_task(forward())
        with contextlib.suppress(OSError):
            while piece := await from_server.read(65536):
                # A client waits for each answer before it asks again.
                if asked:
                    asked = False
                    self.answers += 1
                    if self.answers % 5 == 0:
                        self.swallowed += 1
                        break
                to_client.write(piece)
                await to_client.drain()
        forwarding.cancel()
        for one in (to_client, to_server):
            one.transport.abort()


class Population(unittest.TestCase):
    """Servers, their clients and a record, with the checks."""

    postgres: postgres_server.PostgresServer | None = None

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="zeus_http_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.clients: list[Client] = []
        self.running: list[Client] = []
        self.addCleanup(self.kill_all)
        self.servers: list[session.Server] = []
        self.deaths: list[Death] = []
        self.starts: list[float] = []

    def kill_all(self) -> None:
        for one in [*self.running, *self.servers]:
            one.kill()

    def start_servers(self, count: int, database: str = "") -> None:
        self.database = database or str(self.folder / "jobs.sqlite")
        for number in range(count):
            folder = self.folder / f"server{number}"
            folder.mkdir()
            # Named sockets, which no other process takes while a server is dead; with two servers, one of them uses
            # TCP.
            listen = "" if number == 1 else f"unix:{folder}/serve.sock"
            self.servers.append(session.Server(zeus, folder, database=self.database, listen=listen))
        self.starts.append(time.monotonic())

    def addresses(self) -> list[str]:
        return [one.listen or one.url for one in self.servers]

    def start_client(self, jobs: list[str], recurrences: int = FOREVER, keys: str = "kept", servers: list[str] | None = None) -> None:
        client = Client(self.folder, f"client-{len(self.clients)}", recurrences, servers or self.addresses(), jobs, keys)
        self.clients.append(client)
        self.running.append(client)

    def wait_for_all(self) -> None:
        for client in self.running:
            client.process.wait(timeout=500)
        self.running.clear()

    def kill_a(self, what: str, jobs: list[str], draws: random.Random) -> None:
        begin = end = time.monotonic()
        whom: Any = None
        if what == "client":
            whom = self.running.pop(draws.randrange(len(self.running)))
            whom.kill()
            self.start_client(jobs)
        elif what == "server":
            server = draws.choice(self.servers)
            whom = server.listen or server.url
            server.kill()
            time.sleep(draws.uniform(0.0, size.away_s))
            server.start()
        else:
            self.postgres.kill()
            end = time.monotonic()
            time.sleep(draws.uniform(0.0, size.away_s))
            self.postgres.start()
        if what != "client":
            self.starts.append(time.monotonic())
        self.deaths.append(Death(what, begin, end, whom))

    def storm(self, jobs: list[str], draws: random.Random) -> None:
        """Clients at work, and kills in between."""
        # Each goes through the jobs in its own order.
        for number in range(CLIENTS):
            self.start_client(jobs[number % len(jobs):] + jobs[:number % len(jobs)])
        for client in self.running:
            client.wait_for_answer()
        kills = ["server"] * size.servers + ["client"] * size.clients + ["database"] * (size.databases if self.postgres else 0)
        draws.shuffle(kills)
        for what in kills:
            time.sleep(draws.uniform(0.1, 0.5))
            for client in self.running:
                self.assertIsNone(client.process.poll(), client.said().wrong)
            self.kill_a(what, jobs, draws)
        last = time.monotonic()
        (self.folder / "until").touch()
        self.wait_for_all()
        self.assertLess(time.monotonic() - last, PATIENCE_S)
        (self.folder / "until").unlink()

    def histories(self) -> dict[str, list[dict[str, Any]]]:
        """Each job's entries, after a check that the store's numbers have no gap."""
        query = "SELECT name, sequence, body FROM entries JOIN jobs ON jobs.id = job ORDER BY name, sequence"
        if self.postgres:
            copied = subprocess.run(
                [postgres_server.PROGRAMS / "psql", "--no-psqlrc", "--csv", "--tuples-only", "--command", query, self.database],
                capture_output=True, text=True, check=True)
            csv.field_size_limit(1 << 24)
            rows = [(name, int(sequence), body) for name, sequence, body in csv.reader(io.StringIO(copied.stdout))]
        else:
            with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
                self.assertEqual(connection.execute("PRAGMA integrity_check").fetchone(), ("ok",))
                rows = connection.execute(query).fetchall()
        found = collections.defaultdict(list)
        for name, sequence, body in rows:
            found[name].append(json.loads(body))
            self.assertEqual(sequence, len(found[name]), f"{name}: the numbers of its entries")
        return found

    def findings(self) -> list[str]:
        """Errors in the record, and differences between it and the clients' answers."""
        histories = self.histories()
        said = {client.name: client.said() for client in self.clients}
        wrong = [line for one in said.values() for line in one.wrong]
        # What each client did according to the record; it identified itself when it began.
        done: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
        given_up_lost = collections.Counter()
        for job, entries in histories.items():
            owner, of_try, over = {}, {}, set()
            for number, kind in (("recurrence", "begun"), ("try", "started")):
                numbers = [entry[number] for entry in entries if entry["kind"] == kind]
                if numbers != list(range(len(numbers))):
                    wrong.append(f"{job}: {kind} {numbers}")
            finished = [entry["try"] for entry in entries if entry["kind"] == "finished"]
            if len(finished) != len(set(finished)):
                wrong.append(f"{job}: a try has ended twice")
            for index, entry in enumerate(entries):
                kind, recurrence = entry["kind"], str(entry.get("recurrence"))
                if kind == "begun":
                    owner[recurrence] = entry["owner"]["command"]
                elif recurrence in over:
                    wrong.append(f"{job}: {entry} after the end of its recurrence")
                whose = owner.get(recurrence, "nobody")
                if kind == "begun":
                    done[whose][kind, job, recurrence] += 1
                elif kind == "started":
                    done[whose][kind, job, str(entry["try"]), recurrence, str(entry["batch_size"])] += 1
                elif kind == "profiled":
                    done[whose][kind, job, recurrence, str(entry["batch_size"])] += 1
                elif kind == "epochs":
                    done[whose][kind, job, str(entry["try"])] += 1
                elif kind == "finished":
                    what = kind, job, str(entry["try"]), entry["outcome"], str(entry["epochs"])
                    following = entries[index + 1] if index + 1 < len(entries) else {}
                    if following.get("kind") == "given_up" and str(following["recurrence"]) == recurrence and entry["outcome"] == "lost":
                        given_up_lost[whose] += 1  # for its dead owner
                    else:
                        done[whose][what] += 1
                    if entry["outcome"] == "reached":
                        over.add(recurrence)
                elif kind == "given_up":
                    over.add(recurrence)
                    killed = next((one for one in self.clients if one.name == whose and one.killed_at is not None), None)
                    if killed is None and "failed" not in entry:
                        wrong.append(f"{job}: recurrence {recurrence} of {whose}, who lives, was given up: {entry['reason']}")
        for client in self.clients:
            told = said[client.name]
            acknowledged = collections.Counter(told.acknowledged)
            for what in acknowledged - done[client.name]:
                # A try reported as lost and then given up looks like one that others gave up.
                if what[0] == "finished" and what[3] == "lost" and given_up_lost[client.name] > 0:
                    given_up_lost[client.name] -= 1
                    continue
                wrong.append(f"{client.name}: acknowledged, but not on record: {' '.join(what)}")
            more = done[client.name] - acknowledged
            # A dead client was in at most one request, whose answer it did not get or could not print.
            last = told.requests[-1].operation if told.requests else ""
            kind = {"begin": "begun", "next": "started"}.get(last, last)
            if client.killed_at is not None and len(more) == 1 and more.total() == 1 and next(iter(more))[0] == kind:
                continue
            wrong += [f"{client.name}: {count} times more on record than it was told: {' '.join(what)}" for what, count in more.items()]
        return wrong + [f"{name}: on record, and no client" for name in done if name not in said]

    def longest_wait(self) -> float:
        """From a request, or the last start before its answer, to its answer."""
        longest = 0.0
        for client in self.clients:
            first = None
            for one in client.said().requests:
                first = one.at if first is None else first
                if one.answered:
                    since = max([first, *(start for start in self.starts if start <= one.until)])
                    longest = max(longest, one.until - since)
                    first = None
        return longest

    def kills_in_flight(self) -> collections.Counter:
        """The number of kills during a request: sent before the kill, and not answered before it."""
        met = collections.Counter()
        requests = [one for client in self.clients for one in client.said().requests]
        for death in self.deaths:
            if death.what == "client":
                last = death.whom.said().requests[-1:]
                met["client"] += bool(last) and last[0].until is None
            elif death.what == "server":
                met["server"] += any(one.server == death.whom and one.until is not None and one.at < death.begin <= one.until
                                     and not one.answered for one in requests)
            else:
                met["database"] += any(one.until is not None and one.at < death.begin and one.until > death.end for one in requests)
        return met

    def hold(self, jobs: list[str]) -> None:
        """Kills, then checks."""
        draws = random.Random(jobs[0])
        for _ in range(3):
            self.storm(jobs, draws)
            wait, met = self.longest_wait(), self.kills_in_flight()
            kills = collections.Counter(death.what for death in self.deaths)
            # Of three kills, chance alone may leave one that met a request.
            of_servers = kills["server"] if size is FULL else 1
            if met.total() * 2 >= kills.total() and met["server"] * 2 >= of_servers:
                break
        # Each job once more, which gives up the recurrences of dead clients.
        shares = [jobs[number::CLIENTS] for number in range(min(CLIENTS, len(jobs)))]
        for share in shares:
            self.start_client(share, len(share))
        self.wait_for_all()
        self.assertEqual(self.findings(), [])
        histories = self.histories()
        self.assertEqual(sorted(histories), sorted(jobs))
        for job, entries in histories.items():
            kinds = collections.Counter(entry["kind"] for entry in entries)
            reached = sum(entry.get("outcome") == "reached" for entry in entries)
            self.assertEqual(kinds["begun"], reached + kinds["given_up"], f"{job}: what the dead ran is given up")
        self.assertLess(wait, PATIENCE_S)
        requests = sum(len(client.said().requests) for client in self.clients)
        print(f"{self.id()}: {requests} requests, {sum(map(len, histories.values()))} entries; {dict(kills)} killed, of which met a "
              f"request {dict(met)}; longest wait {wait:.2f} s")
        self.assertGreaterEqual(met.total() * 2, kills.total(), (met, kills))
        self.assertGreaterEqual(met["server"] * 2, of_servers, (met, kills))


def jobs_of_many() -> list[str]:
    return [f"many/job-{number:04}" for number in range(size.jobs)]


class OneServerOnSqlite(Population):
    def test_one_job(self) -> None:
        self.start_servers(1)
        self.hold(["job"])

    def test_many_jobs(self) -> None:
        self.start_servers(1)
        self.hold(jobs_of_many())


class TwoServersOnPostgres(Population):
    @classmethod
    def setUpClass(cls) -> None:
        cls.postgres = postgres_server.PostgresServer()
        cls.addClassCleanup(cls.postgres.remove)

    def test_one_job(self) -> None:
        self.start_servers(2, self.postgres.create_database("one_job"))
        self.hold(["job"])

    def test_many_jobs(self) -> None:
        self.start_servers(2, self.postgres.create_database("many_jobs"))
        self.hold(jobs_of_many())


class AnswersThatAreSwallowed(Population):
    def run_behind_proxy(self, keys: str) -> Proxy:
        self.start_servers(1)
        here = self.folder / "proxy.sock"
        proxy = Proxy(here, pathlib.Path(self.servers[0].listen.removeprefix("unix:")))
        self.addCleanup(proxy.stop)
        for _ in range(CLIENTS):
            self.start_client(["job", "other"], 4, keys, [f"unix:{here}"])
        self.wait_for_all()
        self.assertGreater(proxy.swallowed, 50)
        return proxy

    def test_are_asked_for_again_and_nothing_is_done_twice(self) -> None:
        proxy = self.run_behind_proxy("kept")
        self.assertEqual(self.findings(), [])
        begun = sum(entry["kind"] == "begun" for entries in self.histories().values() for entry in entries)
        self.assertEqual(begun, 4 * CLIENTS)
        print(f"{self.id()}: {proxy.answers} answers, {proxy.swallowed} swallowed")

    def test_make_doubles_where_a_client_makes_new_keys(self) -> None:
        self.run_behind_proxy("new")
        doubles = [line for line in self.findings() if "more on record than it was told: begun" in line]
        self.assertGreater(len(doubles), 0, "the check finds duplicates")
        print(f"{self.id()}: {len(doubles)} doubles found")


if __name__ == "__main__":
    if "--full" in sys.argv:
        sys.argv.remove("--full")
        size = FULL
    zeus = sys.argv.pop()
    worker = sys.argv.pop()
    unittest.main()
