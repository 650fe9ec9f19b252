"""Cases of the power-limit optimizer: what selectors choose from profiles, and what is tried, measured, recorded and chosen
while training. On 2xV100."""

import inspect
import itertools
import json
import pathlib
import time

from cases import Cases
from zeus.device import get_gpus
from zeus.monitor import ZeusMonitor
from zeus.optimizer import power_limit
from zeus.optimizer.power_limit import (
    Done,
    Energy,
    GlobalPowerLimitOptimizer,
    HFGlobalPowerLimitOptimizer,
    MaxSlowdownConstraint,
    OptimumSelector,
    PowerLimitMeasurement,
    Ready,
    Time,
    ZeusCost,
)
from zeus.utils.testing import ReplayZeusMonitor

ETAS = (0.0, 0.25, 0.5, 0.75, 1.0)
FACTORS = (1.0, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 100.0)
cases = Cases()


def profile(low: int, high: int, step: int, busy: float, floor: float, work: float) -> list:
    """(watts, joules, seconds) from the highest limit down, of a load that would draw `busy` watts and slows down below
    that."""
    points = []
    for limit in range(high, low - 1, -step):
        speed = min(1.0, max(0.05, (limit - floor) / (busy - floor)) ** 0.6)
        points.append((limit, min(limit, busy) * work / speed, work / speed))
    return points


PROFILES = {
    "V100, busy": profile(100, 250, 25, 240.0, 50.0, 10.0),
    "V100, half busy": profile(100, 250, 25, 160.0, 50.0, 4.0),
    "V100, coarse": profile(100, 250, 50, 230.0, 60.0, 7.5),
    "A40": profile(100, 300, 25, 280.0, 20.0, 12.0),
    "A100": profile(100, 400, 25, 350.0, 55.0, 3.0),
    "H100": profile(200, 700, 100, 640.0, 70.0, 1.5),
    "RTX6000": profile(100, 260, 20, 250.0, 25.0, 20.0),
    "P100": profile(125, 250, 25, 240.0, 30.0, 30.0),
    "flat": [(300, 100.0, 1.0), (250, 100.0, 1.0), (200, 100.0, 1.0)],
    "slower at the top": [(300, 120.0, 1.1), (250, 100.0, 1.0), (200, 90.0, 1.05), (150, 95.0, 1.6)],
    "one": [(250, 10.0, 2.0)],
    "dear at the bottom": [(300, 1000.0, 10.0), (200, 750.0, 10.8), (100, 800.0, 16.0)],
}


def measurements(points) -> list:
    return [PowerLimitMeasurement(power_limit=limit, energy=energy, time=time) for limit, energy, time in points]


def least(points, key) -> int:
    """The limit with the smallest value, and the first of equal ones."""
    return min(points, key=key)[0]


def choices(points):
    """Each selector, and the choice it promises from these."""
    highest = max(limit for limit, _, _ in points)
    longest = next(time for limit, _, time in points if limit == highest)
    yield "Energy", Energy(), least(points, lambda each: each[1])
    yield "Time", Time(), least(points, lambda each: each[2])
    for eta, ranks in itertools.product(ETAS, (1, 4)):
        yield (f"ZeusCost({eta}, {ranks})", ZeusCost(eta, ranks),
               least(points, lambda each: eta * each[1] + (1 - eta) * highest * ranks * each[2]))
    for factor in FACTORS:
        yield (f"MaxSlowdownConstraint({factor})", MaxSlowdownConstraint(factor),
               min(limit for limit, _, time in points if time <= factor * longest))


def check_selectors() -> None:
    for name, points in PROFILES.items():
        with cases.scenario(name):
            for selector, chooser, choice in choices(points):
                cases.expect(selector, chooser.select(measurements(points)), choice)
    with cases.scenario("selectors"):
        for eta, ranks in ((-0.1, 1), (1.1, 1), (0.5, 0), (0.5, -1)):
            cases.expect_error(f"refuse a cost of {eta} for {ranks}", "ValueError", ZeusCost, eta, ranks)
        for factor in (0.99, 0, -1):
            cases.expect_error(f"refuse a slowdown of {factor}", "ValueError", MaxSlowdownConstraint, factor)
        cases.expect_error("are abstract", "TypeError", OptimumSelector)
        for values in ((0, 1.0, 1.0), (100, 0.0, 1.0), (100, 1.0, -1.0), (100, 1.0, 0.0), (-5, 1.0, 1.0)):
            cases.expect_error(f"a measurement of {values}", "ValueError", measurements, [values])
        cases.expect_error("a measurement of words", "ValueError", measurements, [("some", 1.0, 1.0)])
        one = PowerLimitMeasurement.parse_obj({"power_limit": 250, "energy": 3.5, "time": 2})
        cases.expect("a measurement as a dictionary", one.dict(), {"power_limit": 250, "energy": 3.5, "time": 2.0})
        cases.expect("a measurement as JSON", json.loads(one.json()), {"power_limit": 250, "energy": 3.5, "time": 2.0})
        cases.expect("a measurement is a value", one, PowerLimitMeasurement(power_limit=250, energy=3.5, time=2.0))


def limits() -> list:
    return [get_gpus().get_power_management_limit(gpu) for gpu in (0, 1)]


def check_profiles_on_disk() -> None:
    for name in ("V100, busy", "V100, half busy", "V100, coarse"):
        points = PROFILES[name]
        for selector, chooser, choice in choices(points):
            with cases.scenario(f"profile on disk, {name}, {selector}"):
                path = pathlib.Path(cases.folder) / "profile.json"
                path.write_text(json.dumps({"measurements": [each.dict() for each in measurements(points)]}))
                optimizer = GlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=[0, 1]), chooser, profile_path=path)
                cases.expect("is applied at once", (optimizer.state, optimizer.current_power_limit, limits()),
                             (Done(optimal_power_limit=choice * 1000), choice * 1000, [choice * 1000] * 2))
                cases.expect("is what was measured", optimizer.measurements, measurements(points))
                before = path.read_bytes()
                for _ in range(5):
                    optimizer.on_step_begin()
                    optimizer.on_step_end()
                optimizer.on_epoch_end()
                cases.expect("stays as it is", (type(optimizer.state).__name__, limits(), path.read_bytes() == before),
                             ("Done", [choice * 1000] * 2, True))


def write_log(path: pathlib.Path, points) -> None:
    """As logged by a monitor of two GPUs, with the optimizer's windows."""
    lines = ["start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy"]
    for number, (limit, energy, time) in enumerate(points):
        lines.append(f"{100.0 + number},__GlobalPowerLimitOptimizer_{limit},{time},{energy / 4},{energy * 3 / 4}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def train(optimizer, epochs: int, steps: int) -> tuple:
    """The limits in force after each change, and the states."""
    held, states = [limits()], ["Ready"]
    for _ in range(epochs):
        optimizer.on_epoch_begin()
        for _ in range(steps):
            optimizer.on_step_begin()
            states.append(type(optimizer.state).__name__)
            held.append(limits())
            optimizer.on_step_end()
        optimizer.on_epoch_end()
        states.append(type(optimizer.state).__name__)
        held.append(limits())
    return [each for each, _ in itertools.groupby(held)], [each for each, _ in itertools.groupby(states)]


def check_training() -> None:
    """A sweep over seven limits, in one epoch and in several that interrupt it, on a monitor that replays a log."""
    interruptions = (("never", 7, 3), ("in warm-up", 4, 2), ("while measuring", 3, 6), ("each time", 1, 7))
    for eta, (interrupted, at_once, rest) in itertools.product(ETAS, interruptions):
        with cases.scenario(f"training with eta {eta}, interrupted {interrupted}"):
            check_sweep(PROFILES["V100, busy"], ZeusCost(eta, world_size=2), at_once, rest)


def swept(tried: list, at_once: int, choice: int, interrupted_epochs: int) -> list:
    """The limits of both GPUs, if the first epochs begin one limit more than fits."""
    held, left = [tried[0]], list(tried)
    while left:
        held += left[:at_once]
        left = left[at_once:]
        if left:
            held += [left[0], tried[0]] if interrupted_epochs > 0 else [tried[0]]
            interrupted_epochs -= 1
    return [[limit] * 2 for limit, _ in itertools.groupby([*held, choice])]


def check_sweep(points, chooser, at_once: int, rest: int) -> None:
    """Epochs long enough for this many limits, plus this many steps."""
    wait, warmup, measure = 1, 3, 5
    tried = [limit * 1000 for limit, _, _ in points]
    choice = chooser.select(measurements(points)) * 1000
    log, path = pathlib.Path(cases.folder) / "log.csv", pathlib.Path(cases.folder) / "profile.json"
    write_log(log, points)
    optimizer = GlobalPowerLimitOptimizer(
        ReplayZeusMonitor(log_file=log, ignore_sync_execution=True), chooser, wait_steps=wait, warmup_steps=warmup,
        profile_steps=measure, pl_step=25, profile_path=path)
    cases.expect("tries these", optimizer.power_limits, tried)
    cases.expect("waits first", optimizer.state, Ready(next_power_limit=tried[0], steps=wait + 1))
    held, states = train(optimizer, -(-len(tried) // at_once) + 2, at_once * (warmup + measure) + rest)
    # A limit interrupted by the end of an epoch is tried again in the next one: in each, or until the length of an
    # epoch is known.
    promised = [swept(tried, at_once, choice, each) for each in (len(tried), 1)]
    cases.expect("limits that held", held in promised or held, True)
    cases.expect("is done", (optimizer.state, states[-1]), (Done(optimal_power_limit=choice), "Done"))
    cases.expect("measured what the monitor did", optimizer.measurements, measurements(points))
    written = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    cases.expect("the profile on disk", written, {"measurements": [
        {"power_limit": limit, "energy": energy / 4 + energy * 3 / 4, "time": time} for limit, energy, time in points]})
    again = GlobalPowerLimitOptimizer(ReplayZeusMonitor(log_file=log, ignore_sync_execution=True), Energy(), profile_path=path)
    cases.expect("another selector takes the profile", again.state,
                 Done(optimal_power_limit=Energy().select(measurements(points)) * 1000))


class Watched(ZeusMonitor):
    """Records which windows are opened and closed."""

    def __init__(self, *arguments, **more) -> None:
        super().__init__(*arguments, **more)
        self.calls: list = []

    def begin_window(self, key, sync_execution=True, restart=False):
        self.calls.append(("begin", key))
        return super().begin_window(key, sync_execution=False, restart=restart)

    def end_window(self, key, sync_execution=True, cancel=False):
        self.calls.append(("cancel" if cancel else "end", key))
        return super().end_window(key, sync_execution=False, cancel=cancel)


def check_monitor_that_was_given() -> None:
    with cases.scenario("the monitor that was given"):
        log = pathlib.Path(cases.folder) / "log.csv"
        monitor = Watched(gpu_indices=[0, 1], log_file=log)
        optimizer = GlobalPowerLimitOptimizer(monitor, Energy(), wait_steps=0, warmup_steps=1, profile_steps=2, pl_step=50)
        optimizer.on_epoch_begin()
        for step in range(30):
            optimizer.on_step_begin()
            time.sleep(0.05)
            optimizer.on_step_end()
            if step == 5:
                optimizer.on_epoch_end()
                optimizer.on_epoch_begin()
        optimizer.on_epoch_end()
        windows = [f"__GlobalPowerLimitOptimizer_{limit}" for limit in (250, 200, 150, 100)]
        ended = [key for what, key in monitor.calls if what == "end"]
        cases.expect("has each limit's window", ended, windows)
        cases.expect("logs them", [line.split(",")[1] for line in log.read_text().splitlines()[1:]], windows)
        cases.expect("has them begun before", [key for what, key in monitor.calls if what == "begin"][0], windows[0])
        cases.expect("is done", type(optimizer.state).__name__, "Done")


def check_making() -> None:
    with cases.scenario("made"):
        monitor = ZeusMonitor(gpu_indices=[0, 1])
        for name, value in (("wait_steps", -1), ("warmup_steps", -1), ("profile_steps", 0), ("profile_steps", -3), ("pl_step", 0),
                            ("pl_step", -25)):
            cases.expect_error(f"with {name}={value}", "ValueError", GlobalPowerLimitOptimizer, monitor, **{name: value})
        cases.expect("for Hugging Face by the same call", str(inspect.signature(HFGlobalPowerLimitOptimizer.__init__)),
                     str(inspect.signature(GlobalPowerLimitOptimizer.__init__)))
        for step, count in ((10, 16), (25, 7), (40, 4), (100, 2), (300, 1)):
            optimizer = GlobalPowerLimitOptimizer(monitor, pl_step=step)
            cases.expect(f"with limits {step} W apart", optimizer.power_limits,
                         [250_000 - number * step * 1000 for number in range(count)])
            cases.expect(f"with limits {step} W apart, waits", optimizer.state, Ready(next_power_limit=250_000, steps=2))
        default = GlobalPowerLimitOptimizer(monitor)
        cases.expect("with nothing", type(default.optimum_selector).__name__, "ZeusCost")
        cases.expect("callbacks that do nothing", [getattr(default, name)(*more) for name, more in (
            ("on_train_begin", ()), ("on_step_end", ()), ("on_evaluate", (0.5,)), ("on_instruction_begin", ("forward",)),
            ("on_instruction_end", ("forward",)), ("on_train_end", ()))], [None] * 6)
        for name in ("Ready", "Warmup", "Profiling", "Done"):
            fields = {"Ready": ("next_power_limit", "steps"), "Done": ("optimal_power_limit",)}.get(
                name, ("current_power_limit", "steps"))
            state = getattr(power_limit, name)
            for wrong in (0, -1):
                cases.expect_error(f"{name} of {wrong}", "ValueError", state, **dict.fromkeys(fields, wrong))
            cases.expect(f"{name} as a dictionary", state(**dict.fromkeys(fields, 3)).dict(), dict.fromkeys(fields, 3))


def main() -> None:
    for work in (check_selectors, check_making, check_profiles_on_disk, check_training, check_monitor_that_was_given):
        cases.in_a_process_of_its_own(work)
    cases.print()


if __name__ == "__main__":
    main()
