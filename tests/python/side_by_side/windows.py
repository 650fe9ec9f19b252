"""Cases of windows: which GPUs are measured, what is logged and replayed, the effects of misuse. On 4xV100."""

import itertools
import os
import pathlib
import time

from cases import Cases
from zeus.monitor import Measurement, ZeusMonitor
from zeus.utils.testing import ReplayZeusMonitor

GPUS = 4
cases = Cases()


def choices(of) -> list:
    """All non-empty subsets, in order."""
    return [list(each) for count in range(1, len(of) + 1) for each in itertools.combinations(of, count)]


def begin(monitor, *keys: str) -> None:
    for key in keys:
        monitor.begin_window(key, sync_execution=False)


def end(monitor, *keys: str) -> list:
    return [monitor.end_window(key, sync_execution=False) for key in keys]


def check_measurement(name: str, measured: Measurement, gpus: list) -> None:
    cases.expect(f"{name} has the GPUs in their order", list(measured.gpu_energy), gpus)
    cases.expect(f"{name} took time", measured.time > 0, True)
    cases.expect(f"{name} knows nothing of memory and chips", (measured.dram_energy, measured.soc_energy), (None, None))
    cases.expect(f"{name} has the sum", measured.total_energy, sum(measured.gpu_energy.values()))


def check_gpus(visible, indices) -> None:
    """One monitor, all ways in which windows can overlap, its log, and the log's replay."""
    gpus = list(range(GPUS if visible is None else len(visible))) if indices is None else indices
    with cases.scenario(f"visible {visible}, asked for {indices}"):
        log = pathlib.Path(cases.folder) / "made" / "log.csv"
        monitor = ZeusMonitor(gpu_indices=indices, cpu_indices=[], log_file=log)
        cases.expect("the GPUs", list(monitor.gpu_indices), gpus)
        replay = ReplayZeusMonitor(gpu_indices=None, log_file=log)
        cases.expect("the GPUs by the log's header", list(replay.gpu_indices), gpus)

        measured = {}
        begin(monitor, "alone")
        cases.expect("an open window is known", list(monitor.measurement_states), ["alone"])
        cases.expect("an open window knows its GPUs", list(monitor.measurement_states["alone"].gpu_energy), gpus)
        cases.expect_error_with("a name that is open", "ValueError", "already exists", begin, monitor, "alone")
        [measured["alone"]] = end(monitor, "alone")
        cases.expect("a window that has ended is forgotten", list(monitor.measurement_states), [])
        cases.expect_error_with("a name that has ended", "ValueError", "does not exist", end, monitor, "alone")
        cases.expect_error_with("a name that never was", "ValueError", "does not exist", end, monitor, "never")
        begin(monitor, "early", "late")
        measured["early"], measured["late"] = end(monitor, "early", "late")
        begin(monitor, "outer", "inner")
        measured["inner"], measured["outer"] = end(monitor, "inner", "outer")
        begin(monitor, "alone")
        [again] = end(monitor, "alone")
        for name, each in measured.items():
            check_measurement(name, each, gpus)
        check_measurement("a name again", again, gpus)
        cases.expect("the outer window is the longer one", measured["outer"].time >= measured["inner"].time, True)

        header, *rows = log.read_text(encoding="utf-8").splitlines()
        cases.expect("the log's header", header,
                     "start_time,window_name,elapsed_time" + "".join(f",gpu{gpu}_energy" for gpu in gpus))
        rows = [row.split(",") for row in rows]
        cases.expect("the log's windows, as they end", [row[1] for row in rows],
                     ["alone", "early", "late", "inner", "outer", "alone"])
        cases.expect("the log's columns", {len(row) for row in rows}, {3 + len(gpus)})
        cases.expect("the log's times", [float(row[2]) for row in rows],
                     [each.time for each in (*measured.values(), again)])
        cases.expect("the log's energies", [[float(cell) for cell in row[3:]] for row in rows],
                     [list(each.gpu_energy.values()) for each in (*measured.values(), again)])
        check_replay(log, gpus, measured)


def check_replay(log: pathlib.Path, gpus: list, measured: dict) -> None:
    replay = ReplayZeusMonitor(log_file=log)
    begin(replay, "alone")
    cases.expect_error_with("replay: a name that is open", "RuntimeError", "is already ongoing", begin, replay, "alone")
    [alone] = end(replay, "alone")
    cases.expect("replay: what was measured", (alone.time, alone.gpu_energy),
                 (measured["alone"].time, measured["alone"].gpu_energy))
    cases.expect_error_with("replay: a name that is not open", "RuntimeError", "is not ongoing", end, replay, "early")
    begin(replay, "early", "late")
    cases.expect("replay: windows that overlap", [each.gpu_energy for each in end(replay, "early", "late")],
                 [measured["early"].gpu_energy, measured["late"].gpu_energy])
    begin(replay, "outer", "inner")
    cases.expect_error("replay: an end out of turn", "RuntimeError", end, replay, "outer")
    nested = ReplayZeusMonitor(log_file=log, match_window_name=False)
    times = []
    for name in ("a", "b", "c", "d", "e", "f"):
        begin(nested, name)
        times += [each.time for each in end(nested, name)]
    cases.expect("replay: whatever the names", times[:5], [each.time for each in measured.values()])
    begin(nested, "more")
    cases.expect_error("replay: beyond the log's end", "RuntimeError", end, nested, "more")
    cancelling = ReplayZeusMonitor(log_file=log)
    begin(cancelling, "alone")
    nothing = cancelling.end_window("alone", sync_execution=False, cancel=True)
    cases.expect("replay: a cancelled window is zeros", (nothing.time, nothing.gpu_energy), (0.0, dict.fromkeys(gpus, 0.0)))
    begin(cancelling, "alone")
    cases.expect("replay: a cancelled window takes no line", end(cancelling, "alone")[0].time, measured["alone"].time)


def check_edges_of_use() -> None:
    with cases.scenario("restart"):
        log = pathlib.Path(cases.folder) / "log.csv"
        monitor = ZeusMonitor(gpu_indices=[0], log_file=str(log))
        begin(monitor, "w")
        first = monitor.measurement_states["w"].time
        monitor.begin_window("w", sync_execution=False, restart=True)
        cases.expect("begins anew", monitor.measurement_states["w"].time >= first, True)
        monitor.begin_window("new", sync_execution=False, restart=True)
        cases.expect("begins what was not there", list(monitor.measurement_states), ["w", "new"])
        end(monitor, "w", "new")
        cases.expect("is one line", [line.split(",")[1] for line in log.read_text().splitlines()[1:]], ["w", "new"])
        cases.expect_error("twice the same end", "ValueError", end, monitor, "w")
    with cases.scenario("cancel"):
        log = pathlib.Path(cases.folder) / "log.csv"
        monitor = ZeusMonitor(gpu_indices=[2, 1], cpu_indices=[], log_file=log)
        begin(monitor, "w")
        nothing = monitor.end_window("w", sync_execution=False, cancel=True)
        cases.expect("measures zeros", (nothing.time, nothing.gpu_energy, nothing.total_energy), (0.0, {2: 0.0, 1: 0.0}, 0.0))
        cases.expect("has no memory", nothing.dram_energy, None)
        cases.expect("leaves no line", len(log.read_text().splitlines()), 1)
        cases.expect("forgets the window", "w" in monitor.measurement_states, False)
        cases.expect_error("of what is not open", "ValueError", monitor.end_window, "w", sync_execution=False, cancel=True)
        begin(monitor, "w")
        cases.expect("lets the name be used again", list(end(monitor, "w")[0].gpu_energy), [2, 1])
    with cases.scenario("reset"):
        monitor = ZeusMonitor(gpu_indices=[0])
        begin(monitor, "a", "b", "c")
        monitor.reset_windows()
        cases.expect("drops what is open", list(monitor.measurement_states), [])
        cases.expect_error("of what was dropped", "ValueError", end, monitor, "a")
        begin(monitor, "a")
        cases.expect("lets names be used again", list(end(monitor, "a")[0].gpu_energy), [0])
    with cases.scenario("windows taken out by hand"):
        monitor = ZeusMonitor(gpu_indices=[0])
        begin(monitor, "a", "b")
        monitor.measurement_states.pop("a")
        begin(monitor, "a")
        monitor.measurement_states.clear()
        begin(monitor, "a", "b")
        cases.expect("can be begun again", [list(each.gpu_energy) for each in end(monitor, "b", "a")], [[0], [0]])
    with cases.scenario("many windows"):
        monitor = ZeusMonitor(gpu_indices=[0, 1])
        names = [f"w{number}" for number in range(50)]
        begin(monitor, *names)
        times = [each.time for each in end(monitor, *names)]
        cases.expect("end in any order", len(times), 50)
        for number, order in enumerate(itertools.permutations("abc")):
            begin(monitor, "a", "b", "c")
            cases.expect(f"end in order {number}", [list(each.gpu_energy) for each in end(monitor, *order)], [[0, 1]] * 3)


def check_names() -> None:
    for name in ("plain", "", "with space", "with/slash", "ü", "{}", "%s", "0", "a" * 300, 3, 2.5, None, True, ("epoch", 1),
                 ("epoch", ("step", 2)), frozenset({1}), b"bytes"):
        with cases.scenario(f"a window named {name!r:.40}"):
            log = pathlib.Path(cases.folder) / "log.csv"
            monitor = ZeusMonitor(gpu_indices=[0], log_file=log)
            monitor.begin_window(name, sync_execution=False)
            cases.expect("is known by it", list(monitor.measurement_states), [name])
            cases.expect_error("is open", "ValueError", monitor.begin_window, name, sync_execution=False)
            cases.expect("ends", list(monitor.end_window(name, sync_execution=False).gpu_energy), [0])
            cases.expect("is a line", len(log.read_text(encoding="utf-8").splitlines()), 2)
    with cases.scenario("names that no dictionary takes"):
        monitor = ZeusMonitor(gpu_indices=[0])
        cases.expect_error("begin", "TypeError", monitor.begin_window, [1], sync_execution=False)


def check_making() -> None:
    with cases.scenario("made"):
        cases.expect_error("with a GPU that is not there", "Exception", lambda: begin(ZeusMonitor(gpu_indices=[9]), "w"))
        none = ZeusMonitor(gpu_indices=[], cpu_indices=[])
        begin(none, "w")
        [nothing] = end(none, "w")
        cases.expect("with no GPU", (nothing.gpu_energy, nothing.total_energy), ({}, 0))
        cases.expect("with positional arguments", list(ZeusMonitor([1], None, True).gpu_indices), [1])
        cases.expect_error("with a log that cannot be written", "OSError", ZeusMonitor, [0], log_file=cases.folder)
        text = os.path.join(cases.folder, "text.csv")
        ZeusMonitor(gpu_indices=[0], log_file=text)
        ZeusMonitor(gpu_indices=[1], log_file=text)
        cases.expect("anew over an old log", pathlib.Path(text).read_text().splitlines(),
                     ["start_time,window_name,elapsed_time,gpu1_energy"])
        for order in itertools.permutations([0, 2, 3]):
            monitor = ZeusMonitor(gpu_indices=list(order))
            begin(monitor, "w")
            cases.expect(f"with GPUs in the order {order}", list(end(monitor, "w")[0].gpu_energy), list(order))
        cases.expect_error("a replay without a log", "ValueError", ReplayZeusMonitor)
        old = os.path.join(cases.folder, "old.csv")
        with open(old, "w", encoding="utf-8") as file:
            file.write("start_time,window_name,elapsed_time,gpu2_energy,gpu0_energy\n"
                       "12.5,one,1.25,100.5,200.25\n14.0,two,2.0,5.0,6.0\n")
        replay = ReplayZeusMonitor(log_file=old)
        cases.expect("a replay of an old log knows its GPUs", list(replay.gpu_indices), [2, 0])
        begin(replay, "one", "two")
        one, two = end(replay, "one", "two")
        cases.expect("a replay of an old log", (one.time, one.gpu_energy, two.total_energy), (1.25, {2: 100.5, 0: 200.25}, 11.0))


def check_visibility() -> None:
    for text, gpus in (("0", 1), ("3,1", 2), (" 2 , 0 ", 2), ("1,0,3,2", 4)):
        def look(text=text, gpus=gpus):
            with cases.scenario(f"CUDA_VISIBLE_DEVICES={text!r}"):
                cases.expect("has so many GPUs", list(ZeusMonitor().gpu_indices), list(range(gpus)))
        cases.in_a_process_of_its_own(look, CUDA_VISIBLE_DEVICES=text)

    def beyond():
        with cases.scenario("CUDA_VISIBLE_DEVICES='9'"):
            cases.expect_error("is an error", "Exception", lambda: begin(ZeusMonitor(), "w"))
    cases.in_a_process_of_its_own(beyond, CUDA_VISIBLE_DEVICES="9")


def main() -> None:
    for visible in [None, *choices(range(GPUS))]:
        def of_these(visible=visible):
            # Windows of microseconds have no known energy before the counters have moved once.
            settled = ZeusMonitor()
            begin(settled, "settled")
            time.sleep(0.05)
            end(settled, "settled")
            for indices in [None, *choices(range(GPUS if visible is None else len(visible)))]:
                check_gpus(visible, indices)
        environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": ",".join(map(str, visible))}
        cases.in_a_process_of_its_own(of_these, **environment)
    for work in (check_edges_of_use, check_names, check_making):
        cases.in_a_process_of_its_own(work)
    check_visibility()
    cases.print()


if __name__ == "__main__":
    main()
