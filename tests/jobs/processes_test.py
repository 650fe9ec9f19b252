"""Many processes on one store of jobs, in a file and in PostgreSQL: no number twice, nothing acknowledged lost, even if they
are killed at random.

  processes_test.py [TEST ...] WORKER ZEUS
"""

import collections
import json
import os
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import postgres_server  # noqa: E402

worker = zeus = ""
PROCESSES = 16


def start(store: pathlib.Path, seed: int, recurrences: int, *jobs: str, **options) -> subprocess.Popen:
    return subprocess.Popen([worker, str(store), str(seed), str(recurrences), *jobs], stdout=subprocess.PIPE, text=True,
                            **options)


def histories(store: pathlib.Path) -> dict[str, list[dict]]:
    """Each job's entries, after a check that the store's numbers have no gap."""
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    found = collections.defaultdict(list)
    query = "SELECT name, sequence, body FROM entries JOIN jobs ON jobs.id = job ORDER BY name, sequence"
    for name, sequence, body in connection.execute(query):
        found[name].append(json.loads(body))
        assert sequence == len(found[name]), f"{name}: entry {sequence} is number {len(found[name])}"
    connection.close()
    return found


class Checks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="zeus_jobs_")
        self.addCleanup(folder.cleanup)
        self.store = pathlib.Path(folder.name) / "jobs.sqlite"

    def histories(self) -> dict[str, list[dict]]:
        return histories(self.store)

    def check(self, said: list[str]):
        """No number twice, no try ended twice, and everything that was acknowledged is on record."""
        entries = self.histories()
        on_record = set()
        for name, history in entries.items():
            begun = [entry["recurrence"] for entry in history if entry["kind"] == "begun"]
            started = [entry["try"] for entry in history if entry["kind"] == "started"]
            finished = [entry["try"] for entry in history if entry["kind"] == "finished"]
            self.assertEqual(begun, list(range(len(begun))), name)
            self.assertEqual(started, list(range(len(started))), name)
            self.assertEqual(len(finished), len(set(finished)), name)
            self.assertLessEqual(set(finished), set(started), name)
            for kind, numbers in (("begun", begun), ("started", started), ("finished", finished)):
                on_record |= {f"{kind} {name} {number}" for number in numbers}
        self.assertEqual(set(said) - on_record, set(), "acknowledged, but not on record")
        self.assertEqual(len(said), len(set(said)), "two got the same number")
        return entries

    def open_recurrences(self, job: str) -> int:
        shown = subprocess.run([zeus, "jobs", job, "--store", str(self.store), "--json"], capture_output=True, text=True,
                               check=True)
        return sum(one["state"] == "running" for one in json.loads(shown.stdout)["recurrences"])

    def run_all(self, processes: list[subprocess.Popen]) -> list[str]:
        said = []
        for process in processes:
            said += process.communicate(timeout=500)[0].splitlines()
            self.assertEqual(process.returncode, 0, said[-1:])
        return said


class InPostgres(Checks):
    @classmethod
    def setUpClass(cls):
        cls.server = postgres_server.PostgresServer()
        cls.addClassCleanup(cls.server.remove)

    def setUp(self):
        self.store = self.server.create_database(self.id().split(".")[-1][:60])

    def histories(self) -> dict[str, list[dict]]:
        """The entries of an export, which numbers them like the store."""
        text = subprocess.run([zeus, "jobs", "job", "export", "--store", self.store], capture_output=True, text=True,
                              check=True).stdout
        lines = [json.loads(line) for line in text.splitlines()][1:-1]
        self.assertEqual([line["sequence"] for line in lines], list(range(1, len(lines) + 1)))
        return {"job": lines}

    def test_many_processes_run_one_job(self):
        said = self.run_all([start(self.store, seed, 3, "job") for seed in range(PROCESSES)])
        entries = self.check(said)
        self.assertEqual(sum(entry["kind"] == "begun" for entry in entries["job"]), 3 * PROCESSES)
        self.assertEqual(self.open_recurrences("job"), 0)

    def test_processes_and_the_server_are_killed_and_nothing_is_wrong(self):
        random.seed(11)
        said = self.run_all([start(self.store, 4, 1, "job")])
        steady = [start(self.store, 1000 + index, 100_000, "job") for index in range(2)]
        # Who opens a store waits 3 s for its server; who has it open waits for a busy machine's server that is killed.
        deadline = time.monotonic() + 60
        while self.open_recurrences("job") < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        for moment in range(10):
            process = start(self.store, moment, 100_000, "job")
            time.sleep(random.uniform(0.05, 0.4))
            process.send_signal(signal.SIGKILL)
            said += process.communicate(timeout=60)[0].splitlines()
            if moment % 5 == 4:
                self.server.kill()
                self.server.start()
        for process in steady:
            self.assertIsNone(process.poll(), "no client was affected by the end of the server")
            process.send_signal(signal.SIGKILL)
            said += process.communicate(timeout=60)[0].splitlines()
        self.check([line for line in said if len(line.split()) == 3 and line.split()[-1].isdigit()])
        self.run_all([start(self.store, 5, 1, "job")])
        self.assertEqual(self.open_recurrences("job"), 0, "what the dead ran is given up")


class Store(Checks):
    def test_many_processes_run_one_job(self):
        said = self.run_all([start(self.store, seed, 6, "job") for seed in range(PROCESSES)])
        entries = self.check(said)
        self.assertEqual(sum(entry["kind"] == "begun" for entry in entries["job"]), 6 * PROCESSES)
        self.assertEqual(self.open_recurrences("job"), 0)

    def test_many_processes_run_a_thousand_jobs(self):
        jobs = [f"job {number:04}" for number in range(1000)]
        shares = [jobs[seed::PROCESSES] for seed in range(PROCESSES)]
        # Each first runs its share of all jobs in random order, so that every job is run, and then random jobs.
        processes = [start(self.store, seed, 1, job) for seed, job in enumerate(jobs[:PROCESSES])]
        said = self.run_all(processes)
        said += self.run_all([subprocess.Popen(
            ["/bin/sh", "-c", 'worker="$1"; store="$2"; shift 2; for job in "$@"; do "$worker" "$store" 5 1 "$job" || exit 1; done',
             "sh", worker, str(self.store), *share], stdout=subprocess.PIPE, text=True) for share in shares])
        entries = self.check(said)
        self.assertEqual(sorted(entries), jobs)

    def test_killed_at_a_hundred_random_moments_they_leave_nothing_wrong(self):
        random.seed(7)
        said = []
        steady = start(self.store, 1000, 100_000, "job")
        for moment in range(100):
            process = start(self.store, moment, 100_000, "job")
            time.sleep(random.uniform(0.0, 0.25))
            process.send_signal(signal.SIGKILL)
            said += process.communicate(timeout=60)[0].splitlines()
            if moment % 10 == 9:
                steady.send_signal(signal.SIGKILL)
                said += steady.communicate(timeout=60)[0].splitlines()
                steady = start(self.store, 1000 + moment, 100_000, "job")
        steady.send_signal(signal.SIGKILL)
        said += steady.communicate(timeout=60)[0].splitlines()
        begin = time.monotonic()
        said += self.run_all([start(self.store, 5, 1, "job")])
        self.assertLess(time.monotonic() - begin, 60, "a dead process still holds a lock")
        # The last line of each may have been cut short by the kill.
        self.check([line for line in said if len(line.split()) == 3 and line.split()[-1].isdigit()])
        self.assertEqual(self.open_recurrences("job"), 0, "what the dead ran is given up")

    def test_a_full_disk_is_one_clear_line_and_leaves_a_whole_store(self):
        said = self.run_all([start(self.store, 1, 3, "job")])
        limit = self.store.stat().st_size + 20_000

        def fill():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        process = start(self.store, 2, 10_000, "job", preexec_fn=fill)
        more = process.communicate(timeout=300)[0].splitlines()
        self.assertEqual(process.returncode, 1)
        self.assertRegex(more[-1], r"^refused unavailable the disk that has the store .* (is|or is) full")
        self.check(said + more[:-1])
        self.run_all([start(self.store, 3, 1, "job")])

    def test_a_store_that_may_only_be_read_is_one_clear_line(self):
        self.run_all([start(self.store, 1, 1, "job")])
        before = {path.name for path in self.store.parent.iterdir()}
        self.store.parent.chmod(0o500)
        self.store.chmod(0o400)
        self.addCleanup(self.store.parent.chmod, 0o700)
        as_other = {} if os.geteuid() != 0 else {"user": 65534}
        if as_other:
            os.chown(self.store.parent, 65534, 65534)
            os.chown(self.store, 65534, 65534)
        shown = subprocess.run([zeus, "jobs", "--store", str(self.store), "--json"], capture_output=True, text=True,
                               check=False, **as_other)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(json.loads(shown.stdout)["jobs"][0]["recurrences"], 1)
        process = start(self.store, 2, 1, "job", **as_other)
        said = process.communicate(timeout=60)[0].splitlines()
        self.assertEqual(process.returncode, 1)
        self.assertRegex(said[-1], r"^refused permission denied the store .* cannot be")
        self.assertEqual({path.name for path in self.store.parent.iterdir()}, before)


if __name__ == "__main__":
    zeus = sys.argv.pop()
    worker = sys.argv.pop()
    unittest.main()
