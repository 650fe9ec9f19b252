"""Numbers from the edges of doubles and integers, at each place of each body that a client writes: whatever the server
takes, every list, page and metric answers afterwards, and prints no number that is none. A job that an older program has
poisoned is named, and harms no other."""

import argparse
import copy
import http.client
import json
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from typing import Any

import server_session as session

EDGES: list[float] = [
    0, -0.0, -1, 1, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e-154, 1e-10, 1e-9, 1e9, 1e10, 1e12, 1e18, 1.0000001e18,
    1e26, 1e100, 1e154, 1e160, 1e200, 1e300, 1.7976931348623157e308, -1e18, -1e200, -1.7976931348623157e308, 2**31 - 1, 2**31,
    -2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -2**63, 2**64 - 1, 2**64, 10**400]
NO_NUMBER = re.compile(r"(?<![a-z])(nan|inf|infinity)(?![a-z])", re.IGNORECASE)
Place = tuple[Any, ...]


def places(value: Any, here: Place = ()) -> Iterator[Place]:
    """The numbers in a body."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from places(one, (*here, key))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from places(one, (*here, index))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield here


def with_number(body: Any, place: Place, number: float) -> Any:
    changed = copy.deepcopy(body)
    inner = changed
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = number
    return changed


def energy(joules: float = 1000.0) -> list[dict[str, Any]]:
    return [{"gpu": "GPU-1", "energy_j": {"value": joules, "uncertainty": 1.0, "systematic": 2.0, "method": "counter"}}]


# What a client of the API sends, in this order; those marked "{}" go to the recurrence that begun last.
BODIES: dict[str, Any] = {
    "": session.definition(beta=2.0, max_slowdown=1.5, zeus={
        "pruning_rounds": 2, "explorations": 2, "prior_cost_j": 1.0, "prior_precision": 1.0}),
    "/recurrences": {"device": session.DEVICE, "owner": session.OWNER, "lease_s": 100.0},
    "{}/next": {},
    "{}/beat": {"gpus": [{"gpu": "GPU-1", "name": "A100", "power_w": 100.0, "limit_w": 150.0, "clock_mhz": 1000.0,
                          "temperature_c": 50.0, "throttled_by": []}]},
    "{}/epochs": {"try": 1, "epochs": 1, "metric": 0.5, "gpus": energy(), "time_s": 3.0},
    "{}/finished": {
        "try": 1, "outcome": "reached", "epochs": 3, "gpus": energy(3000.0), "metric": 0.95, "time_s": 10.0, "limit_w": 150.0,
        "exit_code": 0, "left_out": None,
        "whole_epochs": {"limit_w": 150.0, "count": 2, "time_s": 6.0, "energy_j": 1800.0, "time_deviation_s": 0.1,
                         "energy_deviation_j": 10.0, "start_time_s": 1.0, "start_energy_j": 100.0, "beside_steps": 0.1}},
    "/recurrences ": {"device": session.DEVICE, "owner": session.OWNER},  # and a second time
    "{}/profiled": {"batch_size": 64, "charged": energy(5.0), "time_s": 4.0, "limits": [
        {"limit_w": 150.0, "epoch_time_s": 2.0, "average_power_w": 100.0, "epoch_time_uncertainty_s": 0.1,
         "average_power_uncertainty_w": 1.0}]},
    "{}/claim": {"batch_size": 64},
    "{}/give_up": {"reason": "enough"},
}
SPEC = {"job_id": "e", "job_id_prefix": "e", "batch_sizes": [32, 64], "default_batch_size": 64, "eta_knob": 0.5, "beta_knob": 2.0,
        "target_metric": 0.9, "higher_is_better_metric": True, "max_epochs": 5, "num_pruning_rounds": 2, "window_size": 0,
        "mab_prior_mean": 1.0, "mab_prior_precision": 1.0, "mab_num_explorations": 2, "mab_seed": 1, "max_power": 300.0,
        "number_of_gpus": 1, "gpu_model": "NVIDIA A100"}
REPORT = {"time": 10.0, "energy": 1000.0, "metric": 0.95, "current_epoch": 1}


class Client:
    """One connection, which counts what is taken and what is refused."""

    def __init__(self, server: session.Server) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=session.PATIENCE)
        self.statuses: dict[int, int] = {}

    def send(self, method: str, path: str, body: Any = None) -> session.Answer:
        answer = session.ask_on(self.connection, method, path, body)
        self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
        assert answer.status < 500, (method, path, body, answer)
        return answer


def walk(client: Client, job: str, poisoned: str, place: Place, number: float) -> None:
    """Runs two recurrences, with this number at that place."""
    here = ""
    for path, body in BODIES.items():
        if path == poisoned:
            body = with_number(body, place, number)
        if path == "":
            client.send("PUT", session.job_path(job), body)
            continue
        answer = client.send("POST", session.job_path(job) + path.strip().replace("{}", here), body)
        if path == poisoned and answer.status == 400:
            answer = client.send("POST", session.job_path(job) + path.strip().replace("{}", here), BODIES[path])
        if path.startswith("/recurrences"):
            if answer.status != 201:
                return  # the job itself was refused
            here = f"/recurrences/{answer.json()['recurrence']}"


def walk_as_existing_clients_do(client: Client, job: str, poisoned: str, place: Place, number: float) -> None:
    spec = SPEC | {"job_id": job}
    client.send("POST", "/jobs", with_number(spec, place, number) if poisoned == "spec" else spec)
    for _ in range(2):
        trial = client.send("GET", f"/jobs/batch_size?job_id={job}")
        if trial.status == 200:
            report = trial.json() | REPORT
            client.send("POST", "/report", with_number(report, place, number) if poisoned == "report" else report)


class Poison(unittest.TestCase):
    def setUp(self) -> None:
        self.held = tempfile.TemporaryDirectory()
        self.addCleanup(self.held.cleanup)
        self.folder = pathlib.Path(self.held.name)

    def check(self, text: str, about: str) -> None:
        text = text.replace('le="+Inf"', "")  # the last bucket of a histogram
        found = NO_NUMBER.search(text)
        self.assertIsNone(found, (about, text[max(0, found.start() - 200):found.end() + 100] if found else ""))

    def check_all(self, server: session.Server) -> int:
        """Every list, page and metric; returns how many there were."""
        pages = 0
        names: list[str] = []
        path = "/api/v1/jobs?limit=1000"
        while path:
            answer = server.ask("GET", path)
            self.assertEqual(answer.status, 200, answer)
            self.check(answer.body.decode(), path)
            page = answer.json()
            self.assertEqual(page["unreadable"], [], path)
            names += [job["name"] for job in page["jobs"]]
            path = f"/api/v1/jobs?limit=1000&cursor={page['next']}" if page["next"] else ""
            pages += 1
        orders = [f"/api/v1/jobs?order={order}&limit=1000" for order in ("changed", "savings")]
        of_jobs = [session.job_path(name, *rest) for name in names
                   for rest in ((), ("recurrences",), ("tries",), ("next",), ("export",))]
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=session.PATIENCE)
        for path in [*orders, "/api/v1/savings", "/api/v1/nodes", "/metrics", "/readyz", *of_jobs]:
            answer = session.ask_on(connection, "GET", path)
            self.assertEqual(answer.status, 200, (path, answer))
            self.check(answer.body.decode(), path)
            pages += 1
        connection.close()
        for words in (["jobs"], ["jobs", "--json"], *(["jobs", name, "--html", "-"] for name in random.sample(names, 5))):
            done = subprocess.run([ARGUMENTS.zeus, *words, "--store", server.database], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, (words, done.stderr))
            if "--html" not in words:  # whose script has such words
                self.check(done.stdout, " ".join(words))
            pages += 1
        return pages

    def test_no_number_makes_a_list_unreadable(self) -> None:
        draws = random.Random(ARGUMENTS.seed)
        steps: list[tuple[str, Place]] = [(path, place) for path, body in BODIES.items() for place in places(body)]
        steps += [("spec", place) for place in places(SPEC)]
        steps += [("report", place) for place in places(REPORT | {"batch_size": 64, "trial_number": 1})]
        with session.Server(ARGUMENTS.zeus, self.folder) as server:
            client = Client(server)
            count = 0
            for poisoned, place in steps:
                for number in draws.sample(EDGES, min(ARGUMENTS.numbers, len(EDGES))):
                    count += 1
                    if poisoned in ("spec", "report"):
                        walk_as_existing_clients_do(client, f"e{count}", poisoned, place, number)
                    else:
                        walk(client, f"j{count}", poisoned, place, number)
            pages = self.check_all(server)
            print(f"{count} numbers at {len(steps)} places, answers {dict(sorted(client.statuses.items()))}; then {pages} pages")

    def test_an_import_has_the_same_ranges(self) -> None:
        draws = random.Random(ARGUMENTS.seed)
        with session.Server(ARGUMENTS.zeus, self.folder) as server:
            client = Client(server)
            walk(client, "origin", "", ("seed",), 1)
            lines = [json.loads(line) for line in client.send("GET", session.job_path("origin", "export")).body.splitlines()]
            count = 0
            for index, line in enumerate(lines[:-1]):
                for place in places(line):
                    for number in draws.sample(EDGES, min(ARGUMENTS.numbers, len(EDGES))):
                        count += 1
                        text = "\n".join(json.dumps(one) for one in
                                         [*lines[:index], with_number(line, place, number), *lines[index + 1:]]) + "\n"
                        client.send("POST", session.job_path(f"i{count}", "import"), text.encode())
            pages = self.check_all(server)
            print(f"{count} imports, answers {dict(sorted(client.statuses.items()))}; then {pages} pages")

    def test_a_poisoned_job_is_named_and_harms_no_other(self) -> None:
        with session.Server(ARGUMENTS.zeus, self.folder) as server:
            for name in ("innocent", "poisoned"):
                server.ask("PUT", session.job_path(name), session.definition())
                session.Recurrence(server, name).train()
            self.assertEqual(server.end(), 0)
            with sqlite3.connect(server.database) as store:
                job, = store.execute("SELECT id FROM jobs WHERE name = 'poisoned'").fetchone()
                number, body = store.execute(
                    "SELECT sequence, body FROM entries WHERE job = ? AND body LIKE '%\"finished\"%'", (job,)).fetchone()
                entry = json.loads(body)
                entry["energy_j"] = 1e200
                store.execute("UPDATE entries SET body = ? WHERE job = ? AND sequence = ?", (json.dumps(entry), job, number))
                # As its own version has stored it: a sum whose square is infinite.
                store.execute("UPDATE summaries SET body = replace(body, '\"took_uncertainty_j\":', '\"took_uncertainty_j\":null,\"was\":')"
                              " WHERE job = ?", (job,))
            store.close()
            server.start()
            page = server.get("/api/v1/jobs")
            self.assertEqual([one["name"] for one in page["jobs"]], ["innocent"])
            self.assertEqual([one["name"] for one in page["unreadable"]], ["poisoned"])
            self.assertIn(f"entry {number} of its history", page["unreadable"][0]["why"])
            self.assertNotIn(str(self.folder), json.dumps(page))
            metrics = server.ask("GET", "/metrics").body.decode()
            self.assertIn('zeus_job_unreadable{job="poisoned"} 1', metrics)
            self.assertIn('zeus_job_tries_total{job="innocent"} 1', metrics)
            for path in ("/api/v1/savings", "/api/v1/nodes", session.job_path("innocent"), session.job_path("innocent", "tries")):
                self.assertEqual(server.ask("GET", path).status, 200, path)
            shown = server.ask("GET", session.job_path("poisoned"))
            self.assertEqual(shown.status, 500)
            self.assertIn(f"this job cannot be read: entry {number}", shown.json()["detail"])
            for place in (["--store", server.database], ["--server", server.url]):
                done = subprocess.run([ARGUMENTS.zeus, "jobs", "--json", *place], capture_output=True, text=True, check=False)
                self.assertEqual([one["name"] for one in json.loads(done.stdout)["jobs"]], ["innocent"])
                self.assertIn("'poisoned' is left out", done.stderr)
                self.assertIn(place[1].removeprefix("http://") if place[0] == "--server" else place[1], done.stderr)
            self.assertEqual(server.ask("DELETE", session.job_path("poisoned")).status, 204)
            self.assertEqual(server.get("/api/v1/jobs")["unreadable"], [])

    def test_a_recurrence_is_left_out_by_hand(self) -> None:
        with session.Server(ARGUMENTS.zeus, self.folder) as server:
            server.ask("PUT", session.job_path("j"), session.definition())
            for joules in (1000.0, 9e17, 1100.0):
                recurrence = session.Recurrence(server, "j")
                step = recurrence.must("next", {})
                while step["kind"] != "run":
                    step = recurrence.must("next", {"unmeasured": {"batch_size": step["batch_size"], "limits_w": step["limits_w"]}})
                recurrence.must("finished", {
                    "try": step["try"], "outcome": "reached", "epochs": 3, "gpus": energy(joules), "metric": 0.95, "time_s": 10.0,
                    "limit_w": 150.0, "exit_code": 0, "left_out": None})
            before = {one["recurrence"]: one for one in server.get(session.job_path("j", "recurrences"))["recurrences"]}
            path = session.job_path("j", "recurrences", 2, "leave_out")
            for _ in range(2):
                self.assertEqual(server.ask("POST", path, {"reason": "its counter was broken"}).status, 200)
            after = {one["recurrence"]: one for one in server.get(session.job_path("j", "recurrences"))["recurrences"]}
            self.assertIsNone(after[2]["energy_j"])
            self.assertEqual(after[2]["reason"]["energy_j"], "its counter was broken")
            for number in (1, 3):
                for key in ("energy_j", "uncertainty_j", "time_s", "cost_j", "state", "tries"):
                    self.assertEqual(after[number][key], before[number][key], (number, key))
            page = server.get("/api/v1/jobs")["jobs"][0]
            self.assertAlmostEqual(page["took"]["energy_j"], 2100.0)
            server.end()
            server.start()
            self.assertEqual(server.get("/api/v1/jobs")["jobs"][0]["took"]["energy_j"], page["took"]["energy_j"])
            self.assertEqual(server.ask("POST", session.job_path("j", "recurrences", 9, "leave_out"), {"reason": "x"}).status, 404)
            session.Recurrence(server, "j")
            self.assertEqual(server.ask("POST", session.job_path("j", "recurrences", 4, "leave_out"), {"reason": "x"}).status, 409)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("zeus")
    parser.add_argument("--numbers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
