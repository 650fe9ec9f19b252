"""The metrics for Prometheus, under load and across a restart: no counter of a job ever falls, those of the process only at
the restart, and the joules of each job are those of `zeus jobs`."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import server_session as session

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment

# Parses scrapes with the Prometheus client, and prints each as a line of JSON.
READER = """
import json, sys
from prometheus_client.parser import text_string_to_metric_families
for line in sys.stdin:
    samples = {}
    for family in text_string_to_metric_families(json.loads(line)):
        for sample in family.samples:
            counts = family.type == 'counter' or sample.name.endswith(('_count', '_bucket'))
            samples[json.dumps([sample.name, sorted(sample.labels.items())])] = [sample.value, counts]
    print(json.dumps(samples))
"""


class Metrics(unittest.TestCase):
    def test_never_fall_and_are_what_the_jobs_have(self) -> None:
        python = python_environment.interpreter(ARGUMENTS.build, "clients")
        names = ["a", "b/c", 'd "quoted"']
        with tempfile.TemporaryDirectory() as text:
            folder = pathlib.Path(text)
            with session.Server(ARGUMENTS.zeus, folder) as server:
                for name in names:
                    server.ask("PUT", session.job_path(name), session.definition())
                scrapes = [self.scrapes_under_load(server, names)]
                server.kill()
                server.start()
                scrapes.append(self.scrapes_under_load(server, names))
                last = server.ask("GET", "/metrics").body.decode()
            told = json.loads(subprocess.run([ARGUMENTS.zeus, "jobs", "--store", folder / "jobs.sqlite", "--json"],
                                             capture_output=True, check=True, env=session.environment()).stdout)
            shown = {name: json.loads(subprocess.run(
                [ARGUMENTS.zeus, "jobs", name, "--store", folder / "jobs.sqlite", "--json", "--all"], capture_output=True,
                check=True, env=session.environment()).stdout) for name in names}
        self.assertEqual({job["name"] for job in told["jobs"]}, set(names))
        everything = [one for part in scrapes for one in part] + [last]
        read = subprocess.run([python, "-c", READER], input="".join(json.dumps(one) + "\n" for one in everything),
                              capture_output=True, text=True, check=True).stdout.splitlines()
        samples = [json.loads(line) for line in read]
        restart = len(scrapes[0])
        for at, (before, after) in enumerate(zip(samples, samples[1:]), 1):
            for name, (value, counts) in before.items():
                if counts and (at != restart or name.startswith('["zeus_job')):
                    self.assertGreaterEqual(after[name][0], value, (at, name))
        for name in names:
            joules = samples[-1][json.dumps(["zeus_job_energy_joules_total", [["job", name]]])][0]
            known = sum(one["energy_j"] for one in shown[name]["recurrences"])
            self.assertGreater(known, 0)
            self.assertLessEqual(abs(joules - known), 1e-12 * known)
        writes, flushes = (samples[-1][json.dumps([f"zeus_server_store_{what}_total", []])][0] for what in ("writes", "flushes"))
        self.assertGreaterEqual(writes, flushes)
        self.assertGreater(flushes, 0)
        print(f"{len(samples)} scrapes, {len(samples[-1])} samples in the last")

    def scrapes_under_load(self, server: session.Server, names: list[str]) -> list[str]:
        over = threading.Event()

        def work(name: str) -> None:
            draws = 1
            while not over.is_set():
                session.Recurrence(server, name).train(joules=1000.1 * draws, seconds=10.0 + draws)
                draws += 1

        workers = [threading.Thread(target=work, args=(name,)) for name in names]
        for worker in workers:
            worker.start()
        scrapes = []
        try:
            while len(scrapes) < ARGUMENTS.scrapes // 2:
                answer = server.ask("GET", "/metrics")
                self.assertEqual(answer.status, 200)
                scrapes.append(answer.body.decode())
        finally:
            over.set()
            for worker in workers:
                worker.join()
        return scrapes

    def test_of_each_job_can_be_left_out(self) -> None:
        with tempfile.TemporaryDirectory() as text:
            with session.Server(ARGUMENTS.zeus, pathlib.Path(text), "--metrics-per-job", "off") as server:
                server.ask("PUT", session.job_path("a"), session.definition())
                session.Recurrence(server, "a")
                self.assertNotIn("zeus_job", server.ask("GET", "/metrics").body.decode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("zeus")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--scrapes", type=int, default=200)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
