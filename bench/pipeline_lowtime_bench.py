#!/usr/bin/env python3
"""The whole frontier of 4 stages x 8 micro-batches against `lowtime`, on the same cost functions, in one run.

  pipeline_lowtime_bench.py BUILD
  pipeline_lowtime_bench.py --lowtime FILE     run by the first form, with the interpreter that has lowtime

lowtime fits its exponentials to a synthetic profile; both solvers are given those curves at each of its 1 ms units. At
every time that lowtime yields, the two total costs are compared.
"""

import bisect
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
STAGES, MICROBATCHES, UNIT, BLOCKING = 4, 8, 0.001, 70.0


def make_profile() -> dict[str, list[list[float]]]:
    draw = random.Random(1)
    profile = {}
    for stage in range(STAGES):
        for instruction, work in (("forward", 0.1), ("backward", 0.2)):
            size = work * draw.uniform(0.85, 1.15)
            clocks = [1.0 - 0.04 * k for k in range(15)]
            times = [size * (0.25 + 0.75 / clock) for clock in clocks]
            profile[f"{instruction}{stage}"] = [[1410 * clock, t, t * (90 + 260 * clock**3)]
                                                for clock, t in zip(clocks, times)]
    return profile


def orders() -> list[list[tuple[str, int, int]]]:
    """Each stage's computations in 1F1B order."""
    result = []
    for stage in range(STAGES):
        warm_up = min(STAGES - stage, MICROBATCHES)
        order = [("forward", stage, m) for m in range(warm_up)]
        for m in range(MICROBATCHES):
            order.append(("backward", stage, m))
            if m + warm_up < MICROBATCHES:
                order.append(("forward", stage, m + warm_up))
        result.append(order)
    return result


def edges() -> list[tuple[tuple, tuple]]:
    """Between stages and within them."""
    result = [pair for order in orders() for pair in zip(order, order[1:])]
    for stage in range(STAGES - 1):
        for m in range(MICROBATCHES):
            result.append((("forward", stage, m), ("forward", stage + 1, m)))
            result.append((("backward", stage + 1, m), ("backward", stage, m)))
    return result


def run_lowtime(path: str) -> None:
    import networkx as nx
    from lowtime.cost_model import ExponentialModel
    from lowtime.operation import (CandidateExecutionOptions, DummyOperation, ExecutionOption, Operation, OperationSpec)
    from lowtime.solver import PhillipsDessouky

    profile = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    specs, curves = {}, {}
    for name, rows in profile.items():
        options = CandidateExecutionOptions([
            ExecutionOption(real_time=t, unit_time=UNIT, cost=e - BLOCKING * int(t // UNIT) * UNIT, knob=clock)
            for clock, t, e in rows])
        model = ExponentialModel(options, search_strategy="best")
        specs[name] = OperationSpec(options=options, cost_model=model)
        durations = [option.quant_time for option in options.options]
        curves[name] = [[t, float(model(t))] for t in range(min(durations), max(durations) + 1)]
    graph = nx.DiGraph()
    ids = {}
    for order in orders():
        for instruction, stage, m in order:
            ids[(instruction, stage, m)] = len(ids) + 2
            graph.add_node(ids[(instruction, stage, m)], op=Operation(specs[f"{instruction}{stage}"]))
    graph.add_edges_from((ids[a], ids[b]) for a, b in edges())
    heads = [node for node in graph.nodes if graph.in_degree(node) == 0]
    tails = [node for node in graph.nodes if graph.out_degree(node) == 0]
    graph.add_node(0, op=DummyOperation())
    graph.add_node(1, op=DummyOperation())
    graph.add_edges_from((0, node) for node in heads)
    graph.add_edges_from((node, 1) for node in tails)
    graph.graph["source_node"], graph.graph["sink_node"] = 0, 1
    begin = time.perf_counter()
    yields = [[result.quant_time, result.cost] for result in PhillipsDessouky(graph).run()]
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "yields": yields, "curves": curves}))


def dag_of(curves: dict[str, list[list[float]]]) -> str:
    lines = [f"profile {name} {t} {t}e-3 {cost!r}" for name, curve in curves.items() for t, cost in curve]
    for order in orders():
        lines += [f"computation {i}{s}.{m} {s} {i}{s} {i}" for i, s, m in order]
    lines += [f"dependency {a[0]}{a[1]}.{a[2]} {b[0]}{b[1]}.{b[2]}" for a, b in edges() if a[1] != b[1]]
    return "\n".join(lines) + "\n"


def energy_at(frontier: list[dict], seconds: float) -> float:
    times = [point["time_s"] for point in frontier]
    place = min(max(bisect.bisect_right(times, seconds), 1), len(times) - 1)
    before, after = frontier[place - 1], frontier[place]
    share = min(max((seconds - before["time_s"]) / (after["time_s"] - before["time_s"]), 0.0), 1.0)
    return before["energy_j"] + share * (after["energy_j"] - before["energy_j"])


def compare(build: pathlib.Path) -> None:
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    import python_environment
    try:
        python = python_environment.interpreter(build, "yardsticks")
    except unittest.SkipTest as skipped:
        print(f"  {skipped}")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "profile.json").write_text(json.dumps(make_profile()), encoding="utf-8")
        done = subprocess.run([python, __file__, "--lowtime", folder / "profile.json"], capture_output=True, text=True,
                              check=True)
        theirs = json.loads(done.stdout.splitlines()[-1])
        (folder / "graph.dag").write_text(dag_of(theirs["curves"]), encoding="utf-8")
        ours = None
        for _ in range(5):
            command = [build / "bin" / "zeus", "pipeline", "--dag", folder / "graph.dag", "--p2p-power", "0", "--points",
                       "1", "--json", "-"]
            run = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            if ours is None or run["solve_s"] < ours["solve_s"]:
                ours = run
    frontier = ours["frontier"] + ours["slower_than_least_energy"]
    excess = [energy_at(frontier, t * UNIT) / cost - 1.0 for t, cost in theirs["yields"]]
    print(f"  frontier of {STAGES} x {MICROBATCHES}: ours {ours['solve_s'] * 1e3:.2f} ms ({len(frontier)} breakpoints), "
          f"lowtime {theirs['seconds']:.2f} s ({len(theirs['yields'])} steps), "
          f"{theirs['seconds'] / ours['solve_s']:.0f} times faster")
    print(f"  cost at lowtime's own times: ours is {100 * max(excess):+.4f} % at most, {100 * min(excess):+.4f} % at least")
    print(f"  fastest iteration: ours {frontier[0]['time_s']:.3f} s, lowtime {theirs['yields'][-1][0] * UNIT:.3f} s")
    if max(excess) > 0.001 or theirs["seconds"] < 300 * ours["solve_s"]:
        raise SystemExit("  FAILED: more than 0.1 % more expensive at one of lowtime's times, or less than 300 times faster")


if __name__ == "__main__":
    if sys.argv[1] == "--lowtime":
        run_lowtime(sys.argv[2])
    else:
        compare(pathlib.Path(sys.argv[1]))
