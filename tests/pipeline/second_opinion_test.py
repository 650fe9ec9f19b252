"""The frontier of `zeus pipeline` against HiGHS, a second solver of linear programs, through the command line alone.

  second_opinion_test.py ZEUS BUILD

The linear program is written from the definition: mixtures of the measured points of each computation, all of them
and not their hull. Skipped with one line where the Python registry cannot be reached.
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
        python = python_environment.interpreter(self.build, "highspy")
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


if __name__ == "__main__":
    SecondOpinion.zeus, SecondOpinion.build = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
