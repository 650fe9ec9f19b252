"""A store and an export that version 0.1 wrote give the same views and decisions as then: with their snapshots and without,
from the store and from the export, after migration, and after a move to PostgreSQL.

  kept_store_test.py PROGRAM          ZEUS_UPDATE_GOLDEN=1 writes the golden files again
"""

import contextlib
import json
import os
import pathlib
import pty
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import postgres_server  # noqa: E402

KEPT = ROOT / "fixtures" / "jobs"
GOLDEN = ROOT / "tests" / "golden" / "jobs"
JOBS = ("nightly", "limits only", "team/paper", "slow", "hourly")
program = ""


class KeptStore(unittest.TestCase):
    def setUp(self):
        self.maxDiff = None
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.store = pathlib.Path(held.name) / "store.sqlite"
        shutil.copyfile(KEPT / "store.sqlite", self.store)

    def jobs(self, *arguments: str) -> str:
        done = subprocess.run([program, "jobs", *arguments, "--store", self.store], capture_output=True, text=True, check=False,
                              timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
        return done.stdout

    def shown(self, job: str) -> str:
        """Everything that is shown of a job, including the next step."""
        return json.dumps(json.loads(self.jobs(job, "--all", "--json")), indent=1) + "\n"

    def check(self, job: str, shown: str) -> None:
        golden = GOLDEN / f"kept_{job.replace(' ', '_').replace('/', '_')}.json"
        if os.environ.get("ZEUS_UPDATE_GOLDEN"):
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(shown, encoding="utf-8")
        self.assertEqual(shown, golden.read_text(encoding="utf-8"), f"see {golden.relative_to(ROOT)}")

    def test_each_job_is_shown_and_decided_upon_as_it_was(self):
        for job in JOBS:
            with self.subTest(job):
                self.check(job, self.shown(job))

    def empty(self, *caches: str) -> None:
        with contextlib.closing(sqlite3.connect(self.store)) as store:
            for cache in caches:
                store.execute(f"delete from {cache}")
            store.commit()

    def test_a_store_without_its_caches_says_the_same(self):
        self.empty("snapshots", "beats", "sightings")
        for job in JOBS:
            with self.subTest(job):
                self.check(job, self.shown(job))

    def steps_taken(self) -> list[int]:
        with contextlib.closing(sqlite3.connect(self.store)) as store:
            return [row[0] for row in store.execute("select migration from zeus_store order by migration")]

    def test_it_is_read_as_it_is_and_brought_up_to_date_by_who_writes(self):
        self.jobs()
        self.assertEqual(self.steps_taken(), [1])
        self.jobs("copy", "import", "--file", str(KEPT / "nightly.jsonl"))
        self.assertEqual(self.steps_taken(), [1, 2, 3, 4, 5])
        self.test_each_job_is_shown_and_decided_upon_as_it_was()
        self.empty("snapshots", "checkpoints", "summaries", "summary_days", "beats", "sightings")
        self.test_each_job_is_shown_and_decided_upon_as_it_was()

    def test_it_is_read_on_a_read_only_disk(self):
        self.store.chmod(0o444)
        self.store.parent.chmod(0o555)
        self.addCleanup(self.store.parent.chmod, 0o755)
        as_other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        shown = subprocess.run([program, "jobs", "nightly", "--all", "--json", "--store", self.store], capture_output=True,
                               text=True, check=False, timeout=60, **as_other)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.check("nightly", json.dumps(json.loads(shown.stdout), indent=1) + "\n")

    def test_in_postgresql_it_is_decided_upon_as_it_was(self):
        with postgres_server.PostgresServer() as server:
            file, database = self.store, server.create_database("jobs")
            for job in JOBS:
                exported = self.jobs(job, "export")
                self.store = database
                text = subprocess.run([program, "jobs", job, "import", "--store", database], input=exported, capture_output=True,
                                      text=True, check=False, timeout=60)
                self.assertEqual((text.returncode, text.stderr), (0, ""))
                self.assertEqual(self.jobs(job, "export"), exported, "what is taken over is the same to the letter")
                with self.subTest(job):
                    self.check(job, self.shown(job))
                self.store = file

    def test_the_export_is_the_job(self):
        self.jobs("nightly", "forget", "--yes")
        self.jobs("nightly", "import", "--file", str(KEPT / "nightly.jsonl"))
        imported = json.loads(self.shown("nightly"))
        kept = json.loads((GOLDEN / "kept_nightly.json").read_text(encoding="utf-8"))
        self.assertEqual(imported, kept)

    def test_a_job_that_is_damaged_costs_no_other(self):
        for damage in ("update entries set body = '{' where sequence = 3 and job = (select id from jobs where name = 'nightly')",
                       "update jobs set definition = '{' where name = 'nightly'",
                       """update jobs set definition = replace(definition, '"max_epochs":40', '"max_epochs":0')"""
                       " where name = 'nightly'"):
            with self.subTest(damage):
                shutil.copyfile(KEPT / "store.sqlite", self.store)
                with sqlite3.connect(self.store) as store:
                    store.execute("delete from snapshots")
                    store.execute(damage)
                store.close()
                done = subprocess.run([program, "jobs", "--store", self.store], capture_output=True, text=True, check=False,
                                      timeout=60)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, "^zeus jobs: 'nightly' is left out: .* forget`\n$")
                for job in JOBS[1:]:
                    self.assertIn(job, done.stdout)
                alone = subprocess.run([program, "jobs", "nightly", "--store", self.store], capture_output=True, text=True,
                                       check=False, timeout=60)
                self.assertEqual((alone.returncode, alone.stdout), (1, ""))
                self.assertIn(f"the job 'nightly' in the store {self.store} cannot be read", alone.stderr)
                self.jobs("nightly", "forget", "--yes")
                self.assertNotIn("nightly", self.jobs())

    def forget_on_a_terminal(self, answer: str) -> tuple[int, str]:
        master, slave = pty.openpty()
        process = subprocess.Popen([program, "jobs", "nightly", "forget", "--store", self.store], stdin=slave, stdout=slave,
                                   stderr=slave)
        os.write(master, answer.encode())
        code = process.wait(timeout=60)
        os.close(slave)
        said = b""
        with contextlib.suppress(OSError):  # which marks the end of the export
            while chunk := os.read(master, 4096):
                said += chunk
        os.close(master)
        return code, said.decode()

    def test_forget_asks_first(self):
        for answer in ("\n", "n\n", "never\n"):
            code, said = self.forget_on_a_terminal(answer)
            self.assertEqual(code, 1, said)
            self.assertIn("Forget 'nightly' and all that was learned from its runs? [y/N]", said)
            self.assertIn("zeus: 'nightly' is kept", said)
        self.assertIn("nightly", self.jobs())
        code, said = self.forget_on_a_terminal("y\n")
        self.assertEqual(code, 0, said)
        self.assertTrue(said.endswith("nightly: forgotten\r\n"), said)
        self.assertNotIn("nightly", self.jobs())

    def test_forget_does_nothing_where_it_cannot_ask(self):
        done = subprocess.run([program, "jobs", "nightly", "forget", "--store", self.store], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("add --yes", done.stderr)
        self.assertIn("nightly", self.jobs())

    def test_what_is_exported_again_is_the_same_to_the_letter(self):
        self.assertEqual(self.jobs("nightly", "export"), (KEPT / "nightly.jsonl").read_text(encoding="utf-8"))


if __name__ == "__main__":
    program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
