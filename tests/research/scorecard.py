"""Works the numbers and verdicts of the scorecard of `zeus simulate paper` out again, from the figures of the page's JSON alone.

  scorecard.py PAPER.json      prints a row for each claim; exit code 1 if one differs from the page's
"""

import json
import math
import re
import statistics
import sys

JOBS_DENT = 0.05
NUMBERS = {  # of the paper
    "batch_size_alone_least": 3.4, "batch_size_alone_most": 65.0, "limit_alone_least": 3.0, "limit_alone_most": 31.5,
    "both_least": 23.8, "both_most": 74.7, "saved_least": 15.3, "saved_most": 75.8, "faster_most": 60.1, "slower_most": 12.8,
    "grid_regret": 72.0, "profiling_energy_of_speech": 0.01, "profiling_time_of_speech": 0.03,
    "profiling_energy_of_shufflenet": -2.8, "profiling_time_of_shufflenet": 0.6}


def student_quantile(freedom: int) -> float:
    """Two-sided, 95 %: by bisection of the distribution, integrated by Simpson's rule; from 20 on as for 20."""
    freedom = min(freedom, 20)
    scale = math.gamma((freedom + 1) / 2) / math.sqrt(freedom * math.pi) / math.gamma(freedom / 2)

    def middle(end: float) -> float:
        steps = 2000
        width = end / steps
        heights = [scale * (1 + (i * width) ** 2 / freedom) ** (-(freedom + 1) / 2) for i in range(steps + 1)]
        return 2 * width / 3 * (heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]))

    low, high = 0.0, 20.0
    for _ in range(50):
        low, high = ((low + high) / 2, high) if middle((low + high) / 2) < 0.95 else (low, (low + high) / 2)
    return low


class Page:
    def __init__(self, page: dict) -> None:
        self.page = page
        self.samples = {figure["key"]: figure for section in page["sections"] for figure in section["figures"]
                        if figure["kind"] == "samples"}
        self.main = re.search(r"the main GPU is (\w+)", page["paragraphs"][0])[1]

    def figures(self, title: str, kind: str) -> list[dict]:
        (section,) = [one for one in self.page["sections"] if one["title"].startswith(title)]
        return [figure for figure in section["figures"] if figure["kind"] == kind]

    def by_seed(self, key: str, of) -> list[float]:
        return [of(values) for values in zip(*self.samples[key]["values"])]

    def savings(self, series: int) -> list[float]:
        (chart,) = [one for one in self.figures("What could be saved", "bars") if one["title"] == self.main]
        return [100 * (1 - value) for value in chart["series"][series]["values"] if value is not None]

    def regrets(self, above: str, below: str) -> list[float]:
        above, below = self.samples["regret_of_" + above]["values"], self.samples["regret_of_" + below]["values"]
        return [max(a[seed] / b[seed] for a, b in zip(above, below)) for seed in range(len(above[0]))]

    def quotient(self, above: str, below: str) -> list[float]:
        mean = statistics.geometric_mean
        return [a / b for a, b in zip(self.by_seed(above, mean), self.by_seed(below, mean))]

    def of_job(self, key: str, job: str) -> float:
        samples = self.samples[key]
        return 100 * samples["values"][samples["groups"].index(job)][0]


def one_valley(points: list[float]) -> bool:
    lowest = points.index(min(points))
    return (all(later <= (1 + JOBS_DENT) * earlier for earlier, later in zip(points[:lowest], points[1:lowest + 1])) and
            all(later >= (1 - JOBS_DENT) * earlier for earlier, later in zip(points[lowest:], points[lowest + 1:])))


def exact_numbers(page: Page) -> dict[str, float]:
    found = {}
    for series, name in enumerate(("batch_size_alone", "limit_alone", "both")):
        found[name + "_least"], found[name + "_most"] = min(page.savings(series)), max(0.0, *page.savings(series))
    for key, samples, job in (("energy_of_speech", "energy", "DeepSpeech2"), ("time_of_speech", "time", "DeepSpeech2"),
                              ("energy_of_shufflenet", "energy", "ShuffleNet V2"), ("time_of_shufflenet", "time", "ShuffleNet V2")):
        if job in page.samples["profiling_" + samples]["groups"]:
            found["profiling_" + key] = page.of_job("profiling_" + samples, job)
    return found


def numbers(page: Page) -> dict[str, list[float]]:
    energy, time = f"energy_on_{page.main}", f"time_on_{page.main}"
    return {"saved_least": [100 * (1 - one) for one in page.by_seed(energy, max)],
            "saved_most": [100 * (1 - one) for one in page.by_seed(energy, min)],
            "faster_most": [100 * (1 - one) for one in page.by_seed(time, min)],
            "slower_most": [100 * (one - 1) for one in page.by_seed(time, max)],
            "grid_regret": page.regrets("grid", "zeus")}


def bounds(page: Page) -> dict[str, tuple[list[float], int]]:
    """Each with +1 if it has to lie above 1, and -1 if below."""
    mean = statistics.geometric_mean
    betas = [page.quotient(f"energy_at_beta_{beta}", "energy_at_beta_2.0") for beta in ("1.5", "2.5", "3.0", "3.5", "4.0", "4.5", "5.0")]
    parts = [page.by_seed("cost_without_" + part, mean) for part in ("early_stopping", "pruning", "profiling")]
    gpus = [page.by_seed(key, mean) for key in page.samples if key.startswith("energy_on_")]
    return {"less_regret": (page.regrets("zeus", "grid"), -1),
            "eta_energy": (page.quotient("energy_at_eta_1.0", "energy_at_eta_0.0"), -1),
            "eta_time": (page.quotient("time_at_eta_0.0", "time_at_eta_1.0"), -1),
            "beta": ([min(one) for one in zip(*betas)], 1),
            "early_stopping": ([stopping / max(others) for stopping, *others in zip(*parts)], 1),
            "gpus": ([max(one) for one in zip(*gpus)], -1)}


def counts(page: Page) -> dict[str, tuple[int, int]]:
    shapes = [([point["y"] for point in chart["series"][0]["points"]], chart["x_axis"]["label"] == "batch size")
              for chart in page.figures("Energy over each knob", "chart") if chart["series"][0]["points"]]
    over_sizes = [points for points, of_sizes in shapes if of_sizes]
    over_limits = [points for points, of_sizes in shapes if not of_sizes]
    chosen = [({point["y"] for point in chart["series"][1]["points"]}, [point["y"] for point in chart["series"][0]["points"]])
              for chart in page.figures("How batch sizes are chosen", "chart")]
    found = {"convex": (sum(map(one_valley, over_sizes)), len(over_sizes)),
             "below_highest_limit": (sum(min(points) < points[-1] for points in over_limits), len(over_sizes)),
             "explored_twice": (sum(explored.count(size) == 2 for used, explored in chosen for size in used),
                                sum(len(used) for used, _ in chosen))}
    for chart in page.figures("Time against energy", "chart"):
        if chart["title"] == "DeepSpeech2":
            front = {(point["x"], point["y"]) for point in chart["series"][1]["points"]}
            best = [(point["x"], point["y"]) for point in chart["series"][3]["points"]]
            found["eta_on_front"] = (sum(one in front for one in best), len(best))
    return found


def interval(of_seeds: list[float]) -> tuple[float, float, float]:
    mean = statistics.fmean(of_seeds)
    if len(of_seeds) < 2:
        return mean, math.nan, math.nan
    half = student_quantile(len(of_seeds) - 1) * statistics.stdev(of_seeds) * math.sqrt(1 + 1 / len(of_seeds))
    return mean, mean - half, mean + half


def work_out(page: Page) -> dict[str, tuple[str, float | None, float, float]]:
    """By key: the verdict, the number, and its range (NaN where there is none)."""
    found = {}
    for key, value in exact_numbers(page).items():
        digits = len(str(NUMBERS[key]).split(".")[1])
        same = f"{value:.{digits}f}" == f"{NUMBERS[key]:.{digits}f}"
        found[key] = ("agrees" if same else "differs", value, math.nan, math.nan)
    for key, of_seeds in numbers(page).items():
        value, low, high = interval(of_seeds)
        inside, narrow = low <= NUMBERS[key] <= high, high - low <= 0.2 * abs(NUMBERS[key])
        known = not math.isnan(low)
        found[key] = ("differs" if known and not inside else "agrees" if inside and narrow else "too uncertain to say", value, low, high)
    for key, (of_seeds, side) in bounds(page).items():
        value, low, high = interval(of_seeds)
        holds, fails = (low > 1, high < 1) if side > 0 else (high < 1, low > 1)
        found[key] = ("agrees" if holds else "differs" if fails else "too uncertain to say", value, low, high)
    for key, (holds, of) in counts(page).items():
        found[key] = ("agrees" if holds == of else "differs", holds, math.nan, math.nan)
    for table in page.figures("Time against energy", "table"):
        for job, time, _, energy, _ in table["rows"]:
            if job == "DeepSpeech2":
                found["best_for_time"] = ("agrees" if time == "(48, 250 W)" else "differs", None, math.nan, math.nan)
                found["best_for_energy"] = ("agrees" if energy == "(32, 100 W)" else "differs", None, math.nan, math.nan)
    grid = page.samples["grid_ends_at_optimum"]
    if "DeepSpeech2" in grid["groups"]:
        off = grid["values"][grid["groups"].index("DeepSpeech2")].count(0)
        found["grid_misses"] = ("agrees" if off else "too uncertain to say", off, math.nan, math.nan)
    return found


def close(said: float | None, found: float, scale: float, width: float = 0.0) -> bool:
    """`width` is that of a range whose ends are compared: the page's quantiles have four digits."""
    tolerance = max(1e-9, 1e-6 * abs(found), 1e-3 * width)
    return said is None if math.isnan(found) else said is not None and abs(scale * said - found) <= tolerance


def differences(content: dict) -> list[str]:
    page = Page(content)
    mine = work_out(page)
    rows = content["scorecard"]
    wrong = [f"the page has no row '{key}'" for key in mine if key not in {row["key"] for row in rows}]
    for row in rows:
        if row["verdict"] == "not repeated":
            wrong += [f"'{row['key']}' is not repeated, and has a number"] if row["value"] is not None or not row["reason"] else []
            continue
        if row["key"] not in mine:
            wrong.append(f"row '{row['key']}' has no check")
            continue
        verdict, value, low, high = mine[row["key"]]
        scale = 100 if row["key"] in NUMBERS and row["key"] != "grid_regret" else 1
        if row["verdict"] != verdict:
            wrong.append(f"'{row['key']}' is '{verdict}' by the page's figures, and not '{row['verdict']}'")
        if not (close(row["value"], math.nan if value is None else value, scale) and close(row["low"], low, scale, high - low) and
                close(row["high"], high, scale, high - low)):
            wrong.append(f"'{row['key']}' is {value} ({low} to {high}) by the page's figures, and not {row['value']} "
                         f"({row['low']} to {row['high']})")
        if not row["reason"] and (row["paper"] == "no number" or row["verdict"] == "differs"):
            wrong.append(f"'{row['key']}' has neither a criterion nor a reason")
    return wrong


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        content = json.load(file)
    for row in content["scorecard"]:
        print(f"{row['verdict']:22}{row['key']:32}{row['paper']:24}{row['here']}".rstrip())
    found = differences(content)
    for one in found:
        print(one)
    sys.exit(1 if found else 0)
