"""The weak spots 25 to 44 of the existing package's batch-size server, by number: ours does the opposite of each.
docs/server.md has the table.

  weak_spots_test.py PROGRAM STEPPED_CLOCKS
"""

import concurrent.futures
import contextlib
import pathlib
import re
import shutil
import sys
import tempfile
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import existing_session  # noqa: E402
import server_session  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBERS = range(25, 45)
BEATS = {"Zeus-Gives": "beats"}

program = ""
clocks = ""


class Job:
    """One job on a server, over the existing routes. With an eta of 1, the cost of a trial is its energy."""

    def __init__(self, server, job_id: str, **spec) -> None:
        self.server, self.job_id = server, job_id
        self.spec = dict(job_id=job_id, job_id_prefix="", batch_sizes=[32, 64, 128], default_batch_size=64, eta_knob=1.0, max_epochs=10,
                         target_metric=0.9, max_power=300, number_of_gpus=1, gpu_model="V100") | spec
        self.registered, _ = server.ask("POST", "/jobs", self.spec)

    def get(self, headers: dict | None = None) -> tuple:
        path = f"/jobs/batch_size?job_id={urllib.parse.quote(self.job_id, safe='')}"
        return self.server.ask("GET", path, headers=headers)

    def choose(self, headers: dict | None = None) -> dict:
        status, answer = self.get(headers)
        assert status == 200, (status, answer)
        return answer

    def tell(self, trial: dict, epoch: int, metric: float, joules: float, seconds: float = 1.0) -> tuple:
        """The answer to the report: joules and seconds are the trial's totals."""
        return self.server.ask("POST", "/report", dict(trial, time=seconds, energy=joules, metric=metric, current_epoch=epoch))

    def report(self, *what, **more) -> dict:
        status, answer = self.tell(*what, **more)
        assert status == 200, (status, answer)
        return answer

    def reach(self, joules: float, trial: dict | None = None) -> dict:
        """A trial of one epoch that reaches the target."""
        trial = trial or self.choose()
        answer = self.report(trial, 1, 0.95, joules)
        assert (answer["stop_train"], answer["converged"]) == (True, True), answer
        return trial

    def miss(self, joules: float, trial: dict | None = None) -> dict:
        """A trial that has not reached it after all its epochs, with this total energy."""
        trial = trial or self.choose()
        most = self.spec["max_epochs"]
        for epoch in range(1, most + 1):
            if self.report(trial, epoch, 0.1, joules * epoch / most)["stop_train"]:
                return trial
        raise AssertionError("it is not stopped")

    def end(self, trial: dict) -> tuple:
        return self.server.ask("PATCH", "/trials", trial)

    def prune(self, costs: dict) -> None:
        """All batch sizes reach the target in each round; a trial has its batch size's cost, less in the first round and
        more in the second, so that costs scatter."""
        for scatter in (0.95, 1.05):
            for _ in costs:
                trial = self.choose()
                self.reach(costs[trial["batch_size"]] * scatter, trial)

    def view(self) -> dict:
        status, answer = self.server.ask("GET", f"/api/v1/jobs/{urllib.parse.quote(self.job_id, safe='')}")
        assert status == 200, answer
        return answer

    def tries(self) -> list:
        """The oldest first."""
        return sorted(self.view()["tries"], key=lambda one: one["try"])


class WeakSpots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        context = existing_session.ours(program)
        cls.server = context.__enter__()
        cls.addClassCleanup(context.__exit__, None, None, None)

    def job(self, **spec) -> Job:
        job = Job(self.server, self.id().rsplit("_", 1)[-1], **spec)
        self.assertEqual(job.registered, 201)
        return job

    @contextlib.contextmanager
    def stepped(self):
        with existing_session.ours(program, clocks=clocks) as server:
            yield server

    # The algorithm

    def test_25_a_client_that_is_lost_blocks_pruning_for_its_lease_alone(self):
        with self.stepped() as server:
            job = Job(server, "25")
            lost = job.choose()
            self.assertEqual(job.choose()["batch_size"], lost["batch_size"])  # a parallel trial, while the first may be alive
            server.step("monotonic", 3700)
            job.reach(1000)  # the size that the lost one had explored, once more
            self.assertEqual(job.choose()["batch_size"], 32)
            self.assertEqual(job.tries()[0]["outcome"], "lost")

    def test_26_a_cheap_failure_is_no_best_cost(self):
        job = self.job(batch_sizes=[32, 64, 128, 256])
        job.reach(1000)
        self.assertEqual(job.miss(10)["batch_size"], 32)
        exploring = job.choose()
        self.assertEqual(exploring["batch_size"], 128)
        self.assertEqual(job.choose()["batch_size"], 64, "what is run beside it is the best that reached")
        answer = job.report(exploring, 1, 0.1, 1500)
        self.assertFalse(answer["stop_train"], "2 x 1000 is the bound, not 2 x 10")

    def test_27_a_job_that_costs_more_than_before_is_not_stopped_for_good(self):
        job = self.job()
        job.prune({32: 1000, 64: 1100, 128: 1200})
        outcomes = []
        for _ in range(12):
            trial = job.choose()
            for epoch in range(1, 4):  # three times as expensive as ever before
                answer = job.report(trial, epoch, 0.95 if epoch == 3 else 0.1, 1100.0 * epoch)
                if answer["stop_train"]:
                    break
            outcomes.append(answer["converged"])
        self.assertFalse(outcomes[0])
        self.assertTrue(all(outcomes[6:]), outcomes)

    def test_28_draws_are_independent_of_the_second_and_of_one_another(self):
        job = self.job(mab_num_explorations=0)
        self.assertIsNone(job.spec.get("mab_seed"))
        job.prune({32: 1000, 64: 1000, 128: 1000})
        begun = time.monotonic()
        chosen = [job.choose()["batch_size"] for _ in range(60)]
        self.assertLess(time.monotonic() - begun, 300)
        self.assertEqual(set(chosen), {32, 64, 128}, "they differ, whatever the seconds they were made in")

    def test_29_a_window_shorter_than_explorations_lets_go(self):
        job = self.job(window_size=1, mab_num_explorations=2)
        job.prune({32: 1000, 64: 1000, 128: 1000})
        picks = []
        for _ in range(20):
            trial = job.choose()
            picks.append(trial["batch_size"])
            job.reach(20000 if trial["batch_size"] == picks[0] else 1000, trial)
        self.assertLess(picks.count(picks[0]), 5, picks)

    def test_30_without_pruning_and_without_a_survivor_there_is_an_answer(self):
        job = Job(self.server, "30 none", num_pruning_rounds=0)
        self.assertEqual({job.reach(1000)["batch_size"] for _ in range(12)}, {32, 64, 128})
        job = Job(self.server, "30 no survivor", max_epochs=2)
        sizes = [job.miss(100)["batch_size"] for _ in range(8)]
        self.assertEqual(sizes[:2], [64, 128])
        self.assertEqual(job.get()[0], 200)

    def test_31_equal_costs_make_no_belief_infinite(self):
        job = self.job()
        for _ in range(10):
            job.reach(1000)
        for arm in job.view()["batch_sizes"]:
            if arm["expected_cost_j"] is not None:
                self.assertGreater(arm["high_cost_j"] - arm["low_cost_j"], 1)
                self.assertLess(arm["high_cost_j"] - arm["low_cost_j"], 1000)
        self.assertEqual(job.get()[0], 200)

    def test_32_what_was_issued_in_pruning_and_ends_afterwards_counts(self):
        job = self.job(batch_sizes=[32, 64], num_pruning_rounds=1)
        exploring, beside = job.choose(), job.choose()
        job.reach(1000, exploring)
        job.reach(900)
        job.reach(800)  # pruning is over
        before = next(arm for arm in job.view()["batch_sizes"] if arm["batch_size"] == beside["batch_size"])
        job.reach(3000, beside)
        after = next(arm for arm in job.view()["batch_sizes"] if arm["batch_size"] == beside["batch_size"])
        self.assertEqual(after["reached"], before["reached"] + 1)
        self.assertGreater(after["expected_cost_j"], before["expected_cost_j"])

    def test_33_ranks_with_figures_on_both_sides_of_the_bound_get_the_same_answer(self):
        job = self.job()
        job.reach(1000)
        trial = job.choose()
        for epoch, (one, other) in enumerate([(900, 2100), (2100, 900)], 1):
            first, second = job.report(trial, epoch, 0.1, one), job.report(trial, epoch, 0.1, other)
            self.assertEqual(first["stop_train"], second["stop_train"], epoch)
        self.assertTrue(second["stop_train"])
        # Only the client can make one job for all ranks, by naming it: without a name each registers its own.
        unnamed = [self.server.ask("POST", "/jobs", job.spec | {"job_id": None, "job_id_prefix": "33"}) for _ in range(2)]
        self.assertEqual([status for status, _ in unnamed], [201, 201])
        self.assertEqual(len({answer["job_id"] for _, answer in unnamed}), 2)

    def test_34_a_run_stops_before_the_epoch_over_budget_and_a_target_reached_is_reached(self):
        job = self.job()
        job.reach(1000)
        trial = job.choose()
        self.assertFalse(job.report(trial, 1, 0.1, 700)["stop_train"])
        stopped = job.report(trial, 2, 0.1, 1400)  # a third would make it 2100
        self.assertEqual((stopped["stop_train"], stopped["converged"]), (True, False))
        over_budget = job.report(job.choose(), 1, 0.95, 5000)
        self.assertEqual((over_budget["stop_train"], over_budget["converged"]), (True, True))

    def test_35_what_the_server_says_of_a_failed_size_is_true(self):
        # The client prints that a failed size is not chosen again. The server's message is the correct one.
        job = self.job(max_epochs=1)
        job.reach(1000)
        trial = job.choose()
        answer = job.report(trial, 1, 0.1, 100)
        self.assertTrue(answer["stop_train"])
        self.assertRegex(answer["message"], "the next trial is chosen independently, and may have this batch size again")

    # The service

    def test_36_several_servers_number_trials_without_a_gap(self):
        with existing_session.ours(program, store=self.server.store) as other:
            job = self.job()
            asked = [server.another() for server in (self.server, other) * 3]
            with concurrent.futures.ThreadPoolExecutor(len(asked)) as pool:
                batches = pool.map(lambda server: [_at(job, server).choose()["trial_number"] for _ in range(8)], asked)
                numbers = sorted(number for batch in batches for number in batch)
            for each in asked:
                each.hang_up()
        self.assertEqual(numbers, list(range(1, 49)))

    def test_37_concurrent_deletes_are_one_and_the_rest_find_nothing(self):
        for round_ in range(5):
            job = Job(self.server, f"37 {round_}")
            job.choose()
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                path = f"/jobs?job_id={urllib.parse.quote(job.job_id)}"
                statuses = list(pool.map(lambda _: _ask_alone(self.server, "DELETE", path), range(8)))
            self.assertEqual(sorted(statuses), [200] + 7 * [404])

    def test_38_names_that_are_none_leave_nothing_and_tokens_say_who_may(self):
        def resident() -> int:
            status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text(encoding="ascii")
            return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1])

        def ask(rounds: range) -> None:
            for number in rounds:
                self.assertEqual(self.server.ask("GET", f"/jobs/batch_size?job_id={number}{'x' * 150}")[0], 400)

        ask(range(1000))
        before = resident()
        ask(range(1000, 5000))
        self.assertLess(resident() - before, 1024)  # kB; 4000 names alone would be 600
        with tempfile.TemporaryDirectory() as folder:
            key = server_session.write_key(pathlib.Path(folder))
            with existing_session.ours(program, "--signing-key-path", str(key), "--jobs-per-user", "1") as server:
                self.assertEqual(Job(server, "38").registered, 401)
                ann = server_session.bearer(server_session.token("ann", ["jobs-read", "jobs-write"]))
                bob = server_session.bearer(server_session.token("bob", ["jobs-read", "jobs-write"]))
                spec = Job(server, "38").spec
                self.assertEqual(server.ask("POST", "/jobs", spec, ann)[0], 201)
                self.assertEqual(server.ask("POST", "/jobs", spec | {"job_id": "38 more"}, ann)[0], 403)
                _, trial = server.ask("GET", "/jobs/batch_size?job_id=38", headers=ann)
                result = dict(trial, time=1, energy=1, metric=0.95, current_epoch=1)
                self.assertEqual(server.ask("POST", "/report", result, bob)[0], 403)
                self.assertEqual(server.ask("DELETE", "/jobs?job_id=38", headers=ann)[0], 403)
                self.assertEqual(server.ask("POST", "/report", result, ann)[0], 200)

    def test_39_a_clock_that_steps_back_harms_no_job(self):
        with self.stepped() as server:
            server.step("civil", 7200)
            job = Job(server, "39")
            trial = job.choose()
            server.step("civil", 0)
            job.reach(1000, trial)
            job.reach(900)
            self.assertEqual([one["outcome"] for one in job.tries()], ["reached", "reached"])
            server.kill()
            server.start()
            self.assertEqual(job.get()[0], 200)

    def test_40_lengths_are_one_and_numbers_are_kept_whole(self):
        spec = dict(gpu_model="NVIDIA GH200 144G HBM3e Superchip, as long as it takes", eta_knob=0.1 + 1e-15, max_power=299.999999999)
        job = Job(self.server, "40" + 198 * "x", **spec)
        self.assertEqual(job.registered, 201)
        self.assertEqual(Job(self.server, job.job_id, **spec).registered, 200)
        self.assertEqual(Job(self.server, job.job_id, **(spec | {"eta_knob": 0.1})).registered, 409)
        job.reach(1000)
        self.assertEqual(Job(self.server, job.job_id + "x").registered, 422)

    def test_41_what_cannot_be_used_is_refused_with_a_reason_and_no_sql(self):
        good = Job(self.server, "41").spec
        for bad in ({"batch_sizes": [32, 64, 64]}, {"batch_sizes": [0, 64]}, {"batch_sizes": [-4, 64]}, {"mab_seed": -1},
                    {"eta_knob": float("nan")}, {"max_epochs": 10**30}, {"mab_prior_precision": -1},
                    {"job_id": "a\0b"}, {"job_id": "Robert'); DROP TABLE jobs; --", "max_power": 10**400}):
            with self.subTest(bad):
                status, answer = self.server.ask("POST", "/jobs", good | {"job_id": "41 bad"} | bad)
                self.assertEqual(status, 422, answer)
                self.assertTrue(answer["detail"])
                self.assertNotRegex(str(answer), "(?i)insert|select|sqlite|constraint")
        self.assertEqual(Job(self.server, "41'); DROP TABLE jobs; --").registered, 201)
        self.assertEqual(Job(self.server, "41").registered, 200)

    def test_42_a_long_history_is_not_read_for_each_request(self):
        def read() -> int:
            counters = pathlib.Path(f"/proc/{self.server.pid}/io").read_text(encoding="ascii")
            return int(re.search(r"rchar: (\d+)", counters)[1])

        job = self.job()

        def cost(trials: int) -> float:
            """Bytes that the server reads for a trial."""
            before = read()
            for _ in range(trials):
                job.reach(1000 + trials)
            return (read() - before) / trials

        cost(20)
        young = cost(40)
        cost(500)
        self.assertLess(cost(40), 2 * young + 4096)

    def test_43_a_store_is_made_and_brought_up_to_date_by_the_server_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            store = pathlib.Path(folder) / "deep" / "jobs.sqlite"
            store.parent.mkdir()
            with existing_session.ours(program, store=store) as server:
                self.assertEqual(Job(server, "43").registered, 201)
            kept = pathlib.Path(folder) / "kept.sqlite"
            shutil.copyfile(ROOT / "fixtures" / "jobs" / "store.sqlite", kept)
            with existing_session.ours(program, store=kept) as server:
                self.assertEqual(server.ask("GET", "/api/v1/jobs/nightly")[0], 200)
                self.assertEqual(Job(server, "43").registered, 201)

    def test_44_a_client_that_is_killed_is_noticed(self):
        with self.stepped() as server:
            job = Job(server, "44")
            status, headers, killed = server.ask_whole("GET", "/jobs/batch_size?job_id=44", headers=BEATS)
            beat = headers["Zeus-Beat-Path"]
            for seconds in (100, 200, 300):  # it beats, and is believed to live
                server.step("monotonic", seconds)
                self.assertEqual(server.ask("POST", beat, {"gpus": []})[0], 200)
                job.end(job.choose())
            job.choose()  # looks at it
            server.step("monotonic", 430)
            again = job.choose()
            self.assertEqual(again["batch_size"], killed["batch_size"])
            self.assertEqual(job.tries()[0]["outcome"], "lost")
            # If it is alive after all, it is told when to stop by its own figures, and does not count.
            late = job.report(killed, 1, 0.95, 1000)
            self.assertEqual((late["stop_train"], late["converged"]), (True, True))
            on_record = job.tries()[0]
            self.assertEqual((on_record["outcome"], on_record["epochs"]), ("lost", 1))
            self.assertEqual(on_record["energy_j"]["value"], 1000)
            self.assertIn("after it was given up", on_record["left_out"])

    def test_each_number_has_a_test_and_a_line_in_the_table(self):
        tests = [name for name in dir(self) if re.match(r"test_\d\d_", name)]
        self.assertEqual([int(name[5:7]) for name in sorted(tests)], list(NUMBERS))
        section = (ROOT / "docs" / "server.md").read_text(encoding="utf-8").split("## Weak spots of the existing server\n")[1]
        rows = re.findall(r"^\| (\d\d) \|", section.split("\n## ")[0], re.MULTILINE)
        self.assertEqual(list(map(int, rows)), list(NUMBERS))


def _ask_alone(server, method: str, path: str) -> int:
    """The status, on a separate connection."""
    asked = server.another()
    status, _ = asked.ask(method, path)
    asked.hang_up()
    return status


def _at(job: Job, server) -> Job:
    """The same job at another server."""
    other = object.__new__(Job)
    other.__dict__.update(job.__dict__, server=server)
    return other


if __name__ == "__main__":
    program, clocks = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
