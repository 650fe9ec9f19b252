"""The existing package's own batch-size server and ours, with the same outcomes: their choices and beliefs.

  existing_server_test.py PROGRAM BUILD_FOLDER

40 generated specs of 3 to 7 batch sizes, some of which never converge: one trial after the other, overlapping, and with
trials that crash. A trial's costs follow from its number and batch size, so that both servers see the same. Every choice of
the pruning stage must be the same. If one differs, the existing server's own history must show which of its weak spots
(docs/server.md) made the difference, and the comparison of that spec ends there.
"""

import collections
import concurrent.futures
import contextlib
import dataclasses
import math
import pathlib
import random
import sqlite3
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import existing_session  # noqa: E402

SPECS = 40
TRIALS = 60  # of a spec, at most
IN_FLIGHT = 3
AT_ONCE = 4

program = ""
build = pathlib.Path()


@dataclasses.dataclass
class World:
    """A job as registered, and the costs of a run of each batch size."""

    number: int
    spec: dict
    needs: dict  # epochs until the target, by batch size; more than max_epochs: never
    watts: dict
    seconds: dict  # of an epoch
    overlaps: bool
    crashes: bool

    def draw(self, *of) -> random.Random:
        return random.Random(f"{self.number} {of}")

    def epoch(self, trial: int, size: int) -> tuple:
        """(seconds, joules) of each epoch of a trial: runs scatter, epochs do not."""
        draw = self.draw("run", trial, size)
        seconds = self.seconds[size] * draw.uniform(0.9, 1.1)
        return seconds, seconds * self.watts[size] * draw.uniform(0.95, 1.05)

    def converges_at(self, trial: int, size: int) -> int:
        return self.needs[size] + (self.draw("epochs", trial, size).random() < 0.25)

    def crashes_at(self, trial: int) -> int | None:
        """The epoch during which a trial crashes."""
        draw = self.draw("crash", trial)
        return draw.randint(1, 2) if self.crashes and draw.random() < 0.25 else None


def world(number: int) -> World:
    draw = random.Random(number)
    sizes = sorted(draw.sample([8, 16, 32, 48, 64, 96, 128, 256, 512], draw.randint(3, 7)))
    default = draw.choice(sizes)
    overlaps = number % 4 == 1 or number % 8 == 7
    crashes = number % 4 == 3
    max_epochs = draw.randint(4, 6)
    gpus = draw.choice([1, 2, 4])
    best = draw.choice(sizes)
    needs, watts, seconds = {}, {}, {}
    for size in sizes:
        away = abs(math.log2(size / best))
        needs[size] = 99 if size != default and draw.random() < 0.15 else min(max_epochs, draw.randint(1, 2) + round(away / 3))
        watts[size] = gpus * draw.uniform(150, 290)
        seconds[size] = 60 * (1 + 0.3 * away) * draw.uniform(0.9, 1.1)
    spec = dict(
        job_id=f"differential-{number}", job_id_prefix="differential", batch_sizes=draw.sample(sizes, len(sizes)),
        default_batch_size=default, eta_knob=draw.choice([0.0, 0.25, 0.5, 1.0]), beta_knob=draw.choice([None, 2.0, 3.0, 6.0]),
        target_metric=draw.choice([0.5, 0.9]), higher_is_better_metric=draw.random() < 0.7, max_epochs=max_epochs,
        num_pruning_rounds=draw.choice([1, 2, 2, 2, 3]), window_size=draw.choice([0, 0, 5, -1]), mab_num_explorations=draw.randint(0, 3),
        mab_prior_mean=draw.choice([0.0, -20000.0]), mab_prior_precision=draw.choice([0.0, 1e-8]), mab_seed=number,
        max_power=300.0 * gpus, number_of_gpus=gpus, gpu_model=draw.choice(["V100", "NVIDIA A100-SXM4-40GB"]))
    return World(number, spec, needs, watts, seconds, overlaps, crashes)


@dataclasses.dataclass
class Trial:
    """One run on one of the servers."""

    number: int
    size: int
    epochs: int = 0
    ended: bool = False
    converged: bool | None = None  # None also for a crashed one


class Side:
    """A job on one of the servers."""

    def __init__(self, server, of: World) -> None:
        self.server = server
        self.world = of
        self.job_id = of.spec["job_id"]
        status, answer = server.ask("POST", "/jobs", of.spec)
        assert status == 201, (status, answer)

    def choose(self) -> Trial | None:
        """None where the server fails."""
        status, answer = self.server.ask("GET", f"/jobs/batch_size?job_id={self.job_id}")
        if status == 500:
            return None
        assert status == 200, (status, answer)
        return Trial(answer["trial_number"], answer["batch_size"])

    def advance(self, trial: Trial) -> None:
        """One more epoch of it."""
        trial.epochs += 1
        identity = dict(job_id=self.job_id, batch_size=trial.size, trial_number=trial.number)
        if trial.epochs == self.world.crashes_at(trial.number):
            status, answer = self.server.ask("PATCH", "/trials", identity)
            assert (status, answer) == (200, None), (status, answer)
            trial.ended = True
            return
        seconds, joules = self.world.epoch(trial.number, trial.size)
        target, better = self.world.spec["target_metric"], self.world.spec["higher_is_better_metric"]
        there = trial.epochs >= self.world.converges_at(trial.number, trial.size)
        result = dict(time=seconds * trial.epochs, energy=joules * trial.epochs, current_epoch=trial.epochs,
                      metric=target if there else target + (-0.1 if better else 0.1))
        status, answer = self.server.ask("POST", "/report", {**identity, **result})
        assert status == 200, (status, answer)
        if answer["stop_train"]:
            trial.ended, trial.converged = True, answer["converged"]

    def finish(self, trial: Trial) -> None:
        while not trial.ended:
            self.advance(trial)

    def cost(self, trial: Trial) -> float:
        seconds, joules = self.world.epoch(trial.number, trial.size)
        eta = self.world.spec["eta_knob"]
        return trial.epochs * (eta * joules + (1 - eta) * self.world.spec["max_power"] * seconds)


class Difference(Exception):
    """Where the two differ, and because of which weak spot."""

    def __init__(self, spot: int, what: str) -> None:
        super().__init__(f"{spot}: {what}")
        self.spot = spot


class Unexplained(AssertionError):
    pass


class Comparison:
    """One spec on both servers."""

    def __init__(self, of: World, theirs: Side, ours: Side) -> None:
        self.world, self.theirs, self.ours = of, theirs, ours
        self.pairs: list = []
        self.choices = 0  # that were the same

    def database(self):
        return contextlib.closing(sqlite3.connect(self.theirs.server.folder / "jobs.db"))

    def is_pruning(self) -> bool:
        with self.database() as database:
            [(stage,)] = database.execute("select stage from Job where job_id = ?", (self.theirs.job_id,))
        return stage == "Pruning"

    def run(self) -> None:
        """Until pruning is over."""
        draw = self.world.draw("schedule")
        flying: list = []
        while len(self.pairs) < TRIALS:
            most = draw.randint(1, IN_FLIGHT) if self.world.overlaps else 1
            if len(flying) < most:
                pair = self.choose()
                if pair is None:
                    return
                flying.append(pair)
                continue
            pair = draw.choice(flying)
            self.advance(*pair)
            if pair[0].ended:
                flying.remove(pair)

    def choose(self):
        theirs, ours = self.theirs.choose(), self.ours.choose()
        if theirs is None:
            assert ours is not None, "ours fails"
            raise Difference(30, "no batch size is left there, and each request fails")
        if not self.is_pruning():
            return None
        if (theirs.number, theirs.size) != (ours.number, ours.size):
            self.explain_choice(theirs, ours)
        self.choices += 1
        self.pairs.append((theirs, ours))
        return theirs, ours

    def advance(self, theirs: Trial, ours: Trial) -> None:
        self.theirs.advance(theirs)
        self.ours.advance(ours)
        if theirs.ended != ours.ended:
            # The order of stopping does not matter: no other trial comes in between.
            self.theirs.finish(theirs)
            self.ours.finish(ours)
        if theirs.ended and theirs.converged != ours.converged:
            self.explain_end(theirs, ours)

    # The existing server's state, from the reports it got.

    def cheapest_there(self, before: Trial | None = None) -> Trial | None:
        """The trial whose cost is that server's least, converged or not."""
        ended = [theirs for theirs, _ in self.pairs if theirs.ended and theirs.converged is not None and theirs is not before]
        return min(ended, key=self.theirs.cost, default=None)

    def explain_choice(self, theirs: Trial, ours: Trial) -> None:
        what = f"trial {theirs.number} is of {theirs.size} there and of {ours.size} here"
        least = self.cheapest_there()
        if theirs.number == ours.number and least is not None and theirs.size == least.size and not least.converged:
            raise Difference(26, f"{what}: the cheapest failure is its best")
        raise Unexplained(what)

    def explain_end(self, theirs: Trial, ours: Trial) -> None:
        what = (f"trial {theirs.number} of {theirs.size} ended after {theirs.epochs} epochs there, converged: {theirs.converged}, and "
                f"after {ours.epochs} here, converged: {ours.converged}")
        least = self.cheapest_there(theirs)
        if least is None or not ours.converged:
            raise Unexplained(what)
        bound = self.world.spec["beta_knob"] * self.theirs.cost(least)
        if not self.theirs.cost(theirs) > bound:
            raise Unexplained(what)
        if not least.converged:
            raise Difference(26, f"{what}: its bound is that of a failure")
        if theirs.epochs == ours.epochs:
            raise Difference(34, f"{what}: reached over budget is not reached there")
        raise Unexplained(what)

    def arms_there(self) -> dict:
        """(mean, deviation) of the cost of each remaining batch size."""
        with self.database() as database:
            rows = database.execute("select batch_size, param_mean, param_precision from GaussianTsArmState where job_id = ?",
                                    (self.theirs.job_id,)).fetchall()
        return {size: (-mean, precision ** -0.5) for size, mean, precision in rows}

    def arms_here(self) -> dict:
        status, view = self.ours.server.ask("GET", f"/api/v1/jobs/{self.ours.job_id}")
        assert status == 200, view
        half = 1.959963984540054
        return {arm["batch_size"]: (arm["expected_cost_j"], (arm["high_cost_j"] - arm["low_cost_j"]) / (2 * half))
                for arm in view["batch_sizes"] if arm["expected_cost_j"] is not None}

    def scatter(self, size: int) -> float:
        """Of the costs seen at a batch size, relative to their mean."""
        costs = [self.theirs.cost(theirs) for theirs, _ in self.pairs if theirs.size == size]
        mean = math.fsum(costs) / len(costs)
        return math.sqrt(math.fsum((cost - mean) ** 2 for cost in costs) / len(costs)) / mean


class Differential(unittest.TestCase):
    """All specs, once; several tests check the results."""

    @classmethod
    def setUpClass(cls):
        with existing_session.theirs(build) as theirs, existing_session.ours(program) as ours:
            # Several at once, independently: most of the time is waiting for disks.
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                results = pool.map(lambda number: cls.compare(world(number), theirs.another(), ours.another()), range(SPECS))
                cls.results = list(results)

    @staticmethod
    def compare(of: World, theirs, ours):
        comparison = Comparison(of, Side(theirs, of), Side(ours, of))
        comparison.difference = None
        comparison.beliefs = None
        try:
            comparison.run()
            comparison.beliefs = comparison.arms_there(), comparison.arms_here()
        except Difference as difference:
            comparison.difference = difference
        return comparison

    def test_every_choice_of_the_pruning_stage_is_the_same_or_a_weak_spot_of_theirs(self):
        exceptions = collections.Counter(one.difference.spot for one in self.results if one.difference)
        choices = sum(one.choices for one in self.results)
        print(f"{choices} choices the same over {SPECS} specs; parted by weak spot: {dict(sorted(exceptions.items()))}")
        for one in self.results:
            if one.difference:
                print(f"  spec {one.world.number}: weak spot {one.difference}")
        self.assertGreater(choices, 300)
        # Most specs are compared to the end of pruning.
        self.assertGreater(sum(one.difference is None for one in self.results), SPECS / 2)
        self.assertTrue(any(one.difference is None and one.world.crashes and one.world.overlaps for one in self.results))

    def test_beliefs_after_pruning_are_the_same_where_costs_scatter(self):
        compared = 0
        for one in self.results:
            if one.beliefs is None or one.world.overlaps or one.world.crashes:
                continue
            there, here = one.beliefs
            for size, (mean, deviation) in there.items():
                if one.scatter(size) <= 0.02:
                    continue
                with self.subTest(spec=one.world.number, size=size):
                    self.assertAlmostEqual(here[size][0] / mean, 1, delta=1e-9)
                    self.assertAlmostEqual(here[size][1] / deviation, 1, delta=1e-9)
                    compared += 1
        print(f"{compared} beliefs the same")
        self.assertGreater(compared, 20)


if __name__ == "__main__":
    program, build = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
