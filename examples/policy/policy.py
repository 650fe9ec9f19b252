"""Policy `grid` as a program of its own: every batch size at every power limit once, then the cheapest. Zeus writes a line for
each event of a job, and wants one line back for each 'decide'. docs/policy-programs.md has all of them."""

import json
import sys


def next_cell() -> int:
    cell = visited
    while cell < len(cells) and cells[cell][0] in failed:
        cell += 1
    return cell


for event in map(json.loads, sys.stdin):
    kind = event["kind"]
    if kind == "job":
        default, limits = event["default_batch_size"], event["limits_w"][::-1]
        sizes = [default] + [size for size in event["batch_sizes"] if size != default]
        cells = [(size, limit) for size in sizes for limit in limits]
        visited, failed, running, best, best_cost = 0, set(), {}, None, 0.0
    elif kind == "moved" and event["limits_w"]:
        cells = [(size, limit) for size in sizes for limit in event["limits_w"][::-1]]
        visited, running, best = 0, {}, None
    elif kind == "started":
        exploring = event["purpose"] == "explore"
        running[event["try"]] = next_cell() if exploring else best or 0
        visited = running[event["try"]] + 1 if exploring else visited
    elif kind == "finished" and event["try"] in running:
        cell = running.pop(event["try"])
        if event["outcome"] == "reached":
            if best is None or event["cost_j"] < best_cost:
                best, best_cost = cell, event["cost_j"]
        elif event["outcome"] != "lost" and best is not None and cells[best][0] != cells[cell][0]:
            failed.add(cells[cell][0])
    elif kind == "decide":
        cell = next_cell()
        size, limit = cells[cell if cell < len(cells) else best or 0]
        purpose = "explore" if cell < len(cells) else "exploit"
        print(json.dumps({"batch_size": size, "limit_w": limit, "purpose": purpose}), flush=True)
