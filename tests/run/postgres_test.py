"""`zeus run` and `zeus jobs` on a store in PostgreSQL: a job recurs there as in a file, and the password is never shown.

  postgres_test.py PROGRAM
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import postgres_server  # noqa: E402

program = ""
PASSWORD = "xyzzy 7/@"
ESCAPED = "xyzzy%207%2F%40"
TRAINER = textwrap.dedent("""
    import sys
    for epoch in range(1, 4):
        print(f"epoch {epoch} accuracy {epoch * int(sys.argv[1]) / 60:.3f}", flush=True)
    """)


class Postgres(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = postgres_server.PostgresServer()
        cls.addClassCleanup(cls.server.remove)
        cls.server.create_database("jobs")
        cls.server.sql("jobs", f"CREATE ROLE ann LOGIN PASSWORD '{PASSWORD}'; CREATE SCHEMA ann AUTHORIZATION ann")

    def setUp(self):
        held = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # beside a guardian that still settles its record
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        (self.folder / "state").mkdir(mode=0o700)
        (self.folder / "train.py").write_text(TRAINER, encoding="utf-8")
        self.environment = {**{name: value for name, value in os.environ.items() if not name.startswith("PG")},
                            "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / "data"),
                            "XDG_RUNTIME_DIR": str(self.folder / "state"), "ZEUS_STATE_DIR": str(self.folder / "state")}

    def address(self, who: str) -> str:
        return f"postgresql://{who}@/jobs?host={self.server.folder}"

    def call(self, *command: str, **environment: str) -> subprocess.CompletedProcess:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=self.folder,
                              env={**self.environment, **environment})
        for said in (done.stdout, done.stderr):
            self.assertNotIn("xyzzy", said)
        return done

    def run_once(self, store: str, *flags: str, **environment: str) -> subprocess.CompletedProcess:
        return self.call(program, "virtual", "1xV100", "--load", "constant:240W", "--", program, "run", "--job", "nightly",
                         "--batch-sizes", "10,20", "--default-batch-size", "20", "--target-metric", "0.4", "--metric-regex",
                         r"accuracy (\S+)", "--power-limits", "off", "--store", store, *flags, "--", sys.executable, "train.py",
                         "{batch_size}", **environment)

    def jobs(self, store: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        return self.call(program, "jobs", *arguments, "--store", store, **environment)

    def test_a_job_recurs_there_as_in_a_file_and_the_password_is_never_shown(self):
        file, address = str(self.folder / "jobs.sqlite"), self.address(f"ann:{ESCAPED}")
        tried = {}
        for store in (file, address):
            for recurrence in range(3):
                report = self.folder / "report.json"
                done = self.run_once(store, "--json", str(report))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("not recorded", done.stderr)
                self.assertNotIn("xyzzy", report.read_text(encoding="utf-8"))
            shown = json.loads(self.jobs(store, "nightly", "--all", "--json").stdout)
            tried[store] = [one["batch_size"] for one in shown["tries"]]
            self.assertNotIn("xyzzy", self.jobs(store, "nightly", "export").stdout)
            page = self.folder / "page.html"
            self.assertEqual(self.jobs(store, "nightly", "--html", str(page)).returncode, 0)
            self.assertNotIn("xyzzy", page.read_text(encoding="utf-8"))
        # The tries after the first two depend on their measured costs.
        self.assertGreaterEqual(len(tried[address]), 3)
        self.assertEqual(tried[address][:2], tried[file][:2])
        listed = json.loads(self.jobs(address, "--json").stdout)
        self.assertEqual(listed["store"], f"postgresql://ann@/jobs?host={self.server.folder}")
        self.assertEqual([job["name"] for job in listed["jobs"]], ["nightly"])
        self.assertIn(f"postgresql://ann@/jobs?host={self.server.folder}\n", self.jobs(address).stdout)

    def test_the_password_may_come_as_libpq_has_it(self):
        bare = self.address("ann")
        refused = self.jobs(bare)
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr, "^zeus( jobs)?: the store postgresql://ann@.* does not let this user in; .*PGPASSWORD")
        self.assertEqual(self.jobs(bare, PGPASSWORD="wrong xyzzy").returncode, 1)
        self.assertEqual(self.jobs(bare, "a", "import", "--file", str(pathlib.Path(__file__).resolve().parents[2] /
                                   "fixtures/jobs/nightly.jsonl"), PGPASSWORD=PASSWORD).returncode, 0)
        kept = self.folder / ".pgpass"
        kept.write_text(f"*:*:jobs:ann:{PASSWORD}\n", encoding="utf-8")
        kept.chmod(0o600)
        self.assertEqual(self.jobs(bare).returncode, 0)

    def test_what_is_wrong_is_one_line_and_the_training_goes_on(self):
        for store, why in ((self.address("ann").replace("/jobs?", "/none?"), "there is no database"),
                           ("postgresql://ann@/jobs?host=/nowhere", "does not answer"),
                           ("postgresql://ann:xyzzy@more@/jobs", "an @, a / or a \\? too many")):
            with self.subTest(why):
                done = self.run_once(store, PGPASSWORD=PASSWORD)
                training_goes_on = "too many" not in why
                self.assertEqual(done.returncode, 0 if training_goes_on else 2, done.stderr)
                self.assertRegex(done.stderr, why)
                if training_goes_on:
                    self.assertIn("epoch 3", done.stdout)
                self.assertEqual(self.jobs(store, PGPASSWORD=PASSWORD).stderr.count("\n"), 1)


if __name__ == "__main__":
    program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
