"""`zeus pipeline` against HiGHS, a second solver of linear and integer programs, through the command line alone.

  second_opinion_test.py ZEUS BUILD

The linear program of a frontier is written from the definition: mixtures of all measured points of each computation, not
only those on the hull. The integer program of a plan uses one point for each. Skipped with one line if the Python registry
cannot be reached.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environment

GRAPHS, TIMES = 12, 10
STAGES, MICROBATCHES, BLOCKING = 3, 5, 70.0


def make_graph(number: int) -> dict:
    draw = random.Random(number)
    devices, blocking = draw.randint(1, 4), draw.choice([0.0, 40.0, 70.0])
    profiles = []
    for _ in range(draw.randint(1, 6)):
        work, options = draw.uniform(0.01, 0.1), []
        for k in range(draw.randint(1, 12)):
            clock = 1.0 - 0.05 * k
            time = work / clock * draw.gauss(1, 0.03)
            options.append([time, time * (90 + 250 * clock**3) * draw.gauss(1, 0.03)])
        profiles.append(options)
    count = draw.randint(2, 30)
    computations = [[draw.randrange(devices), draw.randrange(len(profiles))] for _ in range(count)]
    edges = [[a, b, draw.choice([0.0, 0.004])] for b in range(count) for a in range(b) if draw.random() < 1.5 / count]
    return {"devices": devices, "blocking": blocking, "profiles": profiles, "computations": computations,
            "edges": edges}


def to_dag(graph: dict) -> str:
    lines = [f"profile p{i} {1400 - k} {time!r} {energy!r}"
             for i, options in enumerate(graph["profiles"]) for k, (time, energy) in enumerate(options)]
    lines += [f"computation c{i} {device} p{kind}" for i, (device, kind) in enumerate(graph["computations"])]
    lines += [f"dependency c{a} c{b} {gap}" for a, b, gap in graph["edges"]]
    return "\n".join(lines) + "\n"


SOLVER = """
import highspy, json, sys
for line in sys.stdin:
    graph = json.loads(line)
    # A device that no computation names does not exist.
    used = 1 + max(device for device, _ in graph["computations"])
    last, edges = {}, [tuple(edge) for edge in graph["edges"]]
    for i, (device, _) in enumerate(graph["computations"]):
        if device in last:
            edges.append((last[device], i, 0.0))
        last[device] = i
    answers = []
    for end in graph["times"]:
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        starts = [solver.addVariable(0, end) for _ in graph["computations"]]
        durations = []
        for _, kind in graph["computations"]:
            options = graph["profiles"][kind]
            shares = [solver.addVariable(0, 1, energy - graph["blocking"] * time) for time, energy in options]
            solver.addConstr(sum(shares) == 1)
            durations.append(sum(share * time for share, (time, _) in zip(shares, options)))
        for start, duration in zip(starts, durations):
            solver.addConstr(start + duration <= end)
        for a, b, gap in edges:
            solver.addConstr(starts[b] - starts[a] - durations[a] >= gap)
        solver.run()
        assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal, solver.getModelStatus()
        answers.append(solver.getObjectiveValue() + graph["blocking"] * used * end)
    print(json.dumps(answers), flush=True)
"""


def noisy_profile(number: int) -> dict:
    """Forward and backward of each stage at 12 clocks, 2 % noise in every time and energy."""
    draw = random.Random(number)
    profile = {}
    for stage in range(STAGES):
        for instruction, work in (("forward", 0.04), ("backward", 0.08)):
            size = work * draw.uniform(0.9, 1.2)
            points = []
            for clock in (1.0 - 0.05 * k for k in range(12)):
                time = size * (0.25 + 0.75 / clock) * draw.gauss(1, 0.02)
                points.append((time, time * (90 + 260 * clock**3) * draw.gauss(1, 0.02)))
            profile[stage, instruction] = points
    return profile


def to_csv(profile: dict) -> str:
    rows = [f"{stage},{instruction},{1410 - 50 * k},{time!r},{energy!r}"
            for (stage, instruction), points in profile.items() for k, (time, energy) in enumerate(points)]
    return "\n".join(["stage,instruction,frequency,time,energy", *rows]) + "\n"


def one_forward_one_backward(stage: int) -> list[tuple[str, int]]:
    warm_up = min(STAGES - 1 - stage, MICROBATCHES)
    order = [("forward", m) for m in range(warm_up)]
    for m in range(MICROBATCHES - warm_up):
        order += [("forward", warm_up + m), ("backward", m)]
    return order + [("backward", m) for m in range(MICROBATCHES - warm_up, MICROBATCHES)]


def to_choice(profile: dict, time: float) -> dict:
    index, edges = {}, []
    for stage in range(STAGES):
        steps = [(stage, *step) for step in one_forward_one_backward(stage)]
        for step in steps:
            index[step] = len(index)
        edges += [(index[a], index[b]) for a, b in zip(steps, steps[1:])]
    for stage in range(STAGES - 1):
        for m in range(MICROBATCHES):
            edges.append((index[stage, "forward", m], index[stage + 1, "forward", m]))
            edges.append((index[stage + 1, "backward", m], index[stage, "backward", m]))
    options = [profile[stage, instruction] for stage, instruction, _ in index]
    return {"options": options, "edges": edges, "time": time, "blocking": BLOCKING, "devices": STAGES}


CHOOSER = """
import highspy, json, sys
for line in sys.stdin:
    problem = json.loads(line)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("time_limit", 20.0)
    end = problem["time"]
    starts, durations, cost = [], [], 0.0
    for options in problem["options"]:
        taken = [solver.addBinary() for _ in options]
        solver.addConstr(sum(taken) == 1)
        starts.append(solver.addVariable(0, end))
        durations.append(sum(one * time for one, (time, _) in zip(taken, options)))
        cost = cost + sum(one * (energy - problem["blocking"] * time) for one, (time, energy) in zip(taken, options))
        solver.addConstr(starts[-1] + durations[-1] <= end)
    for a, b in problem["edges"]:
        solver.addConstr(starts[b] - starts[a] - durations[a] >= 0)
    solver.minimize(cost)
    found, least = solver.getInfo().objective_function_value, solver.getInfo().mip_dual_bound
    print(json.dumps([value + problem["blocking"] * problem["devices"] * end for value in (found, least)]), flush=True)
"""


class SecondOpinion(unittest.TestCase):
    zeus: str
    build: pathlib.Path

    def frontier(self, graph: dict, folder: pathlib.Path) -> list[tuple[float, float]]:
        (folder / "graph.dag").write_text(to_dag(graph), encoding="utf-8")
        command = [self.zeus, "pipeline", "--dag", folder / "graph.dag", "--p2p-power", str(graph["blocking"]),
                   "--points", "1", "--json", "-"]
        result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        return [(point["time_s"], point["energy_j"])
                for point in result["frontier"] + result["slower_than_least_energy"]]

    def test_the_frontier_is_the_optimum(self):
        python = python_environment.interpreter(self.build, "clients")
        graphs, claims = [], []
        with tempfile.TemporaryDirectory() as name:
            for number in range(GRAPHS):
                graph = make_graph(number)
                points = self.frontier(graph, pathlib.Path(name))
                chosen = points if len(points) <= TIMES else random.Random(number).sample(points[1:], TIMES)
                graph["times"] = [time * (1 + 1e-12) + 1e-12 for time, _ in chosen]
                graphs.append(graph)
                claims.append([energy for _, energy in chosen])
        done = subprocess.run([python, "-c", SOLVER], input="".join(json.dumps(graph) + "\n" for graph in graphs),
                              capture_output=True, text=True, check=True)
        for number, (claim, line) in enumerate(zip(claims, done.stdout.splitlines(), strict=True)):
            for ours, optimum in zip(claim, json.loads(line), strict=True):
                self.assertLess(abs(ours / optimum - 1), 1e-6, f"graph {number}: {ours} J, HiGHS {optimum} J")

    def test_plans_of_noisy_profiles_are_nearly_the_best_there_are(self):
        python = python_environment.interpreter(self.build, "clients")
        problems, ours = [], []
        with tempfile.TemporaryDirectory() as name:
            for number in range(2):
                profile = noisy_profile(number)
                path = pathlib.Path(name, "profile.csv")
                path.write_text(to_csv(profile), encoding="utf-8")
                command = [self.zeus, "pipeline", "--profile", path, "--stages", str(STAGES), "--microbatches",
                           str(MICROBATCHES), "--points", "3", "--json", "-"]
                plans = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["plans"]
                for plan in plans[:2]:  # where little time is left, and where some is
                    problems.append(to_choice(profile, plan["time_s"] * (1 + 1e-6)))
                    ours.append((plan["energy_j"], plan["bound_j"]))
        done = subprocess.run([python, "-c", CHOOSER], input="".join(json.dumps(one) + "\n" for one in problems),
                              capture_output=True, text=True, check=True)
        for (energy, bound), line in zip(ours, done.stdout.splitlines(), strict=True):
            found, least = json.loads(line)
            print(f"ours {100 * (energy / bound - 1):.3f} % above the frontier, HiGHS found {100 * (found / bound - 1):.3f} % "
                  f"and proved that none is below {100 * (least / bound - 1):.3f} %")
            self.assertLess(energy / found, 1.003)
            self.assertGreater(energy / least, 1 - 1e-6)


if __name__ == "__main__":
    SecondOpinion.zeus, SecondOpinion.build = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
