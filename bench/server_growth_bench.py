#!/usr/bin/env python3
"""How a server's answers slow down as jobs and histories grow: a batch size, a report and a view of a job with 100 000 entries
against one with 100; the first page of 10 000 jobs against that of 100; the first answer after a start; and the first list
after an import of 10 000 jobs against later ones. The two of each pair are asked in turns.

  server_growth_bench.py BUILD
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from server_subjects import Connection, Server  # noqa: E402

TURNS = 200
SHORT, LONG = 100, 100_000  # entries
TURNS_OF_A_SHORT = 10  # then another job takes its place, since each turn makes it longer
FEW, MANY = 100, 10_000  # jobs
STARTS = 15
HOUR_US = 3_600_000_000
JOB = {"job_id_prefix": "growth", "batch_sizes": [8, 16, 32, 64, 128], "default_batch_size": 32, "eta_knob": 0.5, "beta_knob": 2.0,
       "target_metric": 0.9, "higher_is_better_metric": True, "max_epochs": 100, "num_pruning_rounds": 2, "window_size": 0,
       "mab_num_explorations": 2, "mab_seed": 1, "max_power": 300.0, "number_of_gpus": 1, "gpu_model": "V100"}


def path_of(job: str, *rest: str) -> str:
    return "/".join(["/api/v1/jobs", job, *rest])


def ask_batch_size(connection: Connection, job: str) -> tuple:
    answer, took = connection.ask("GET", f"/jobs/batch_size?job_id={job}")
    return json.loads(answer), took


def report(connection: Connection, trial: dict) -> float:
    """The report of a trial that reaches the target in its first epoch; its cost scatters."""
    seconds = 60.0 + trial["trial_number"] * 7 % 11
    result = dict(trial, time=seconds, energy=200 * seconds, max_power=300.0, metric=0.95, current_epoch=1)
    return connection.ask("POST", "/report", json.dumps(result).encode())[1]


def view(connection: Connection, job: str) -> float:
    """Its summary, with the last 50 tries."""
    return connection.ask("GET", path_of(job))[1]


class History:
    """The text of an export with so many entries: one job that was run, its later recurrences repeated again and again."""

    def __init__(self, connection: Connection) -> None:
        job = dict(JOB, job_id="growth-pattern")
        connection.ask("POST", "/jobs", json.dumps(job).encode())
        while len(self._of(connection)) < SHORT:
            report(connection, ask_batch_size(connection, job["job_id"])[0])
        self.entries = self._of(connection)

    def _of(self, connection: Connection) -> list:
        lines = connection.ask("GET", path_of("growth-pattern", "export"))[0].splitlines()
        self.head = json.loads(lines[0])
        return [json.loads(line) for line in lines[1:-1]]

    def export(self, count: int) -> bytes:
        """A recurrence an hour, the last one an hour ago; ends with a whole recurrence."""
        recurrences = self.entries[-1]["recurrence"] + 1
        again = [entry for entry in self.entries if entry["recurrence"] >= recurrences // 2]
        period = recurrences - again[0]["recurrence"]
        entries = [dict(entry) for entry in self.entries]
        shift = 0
        while len(entries) < count:
            shift += period
            for entry in again:
                shifted = dict(entry, recurrence=entry["recurrence"] + shift)
                if "try" in entry:
                    shifted["try"] += shift
                entries.append(shifted)
        began = time.time_ns() // 1000 - (entries[-1]["recurrence"] + 1) * HOUR_US
        for sequence, entry in enumerate(entries, 1):
            entry.update(sequence=sequence, written_us=began + entry["recurrence"] * HOUR_US)
        lines = [dict(self.head, created_us=began), *entries, {"end": len(entries)}]
        return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()


class Table:
    def __init__(self) -> None:
        self.missed = 0

    def head(self, what: str, large: str, small: str) -> None:
        print(f"  {what:<44}{large:>14}{small:>14}{'ratio':>9}{'bound':>9}")

    def row(self, name: str, large: float, small: float, seen: float, bound: float) -> None:
        missed = seen > bound
        self.missed += missed
        print(f"  {name:<44}{large:>14.3g}{small:>14.3g}{seen:>9.3g}{bound:>9g}{'  MISSED' if missed else ''}")


def import_job(connection: Connection, name: str, export: bytes) -> float:
    return connection.ask("POST", path_of(name, "import"), export, "application/x-ndjson")[1]


def compare_histories(build: pathlib.Path, folder: pathlib.Path, table: Table) -> None:
    with Server(build, folder, str(folder / "histories.sqlite")) as server:
        connection = Connection(server.port)
        history = History(connection)
        imported = import_job(connection, "long", history.export(LONG))
        first_view = view(connection, "long")
        short = history.export(SHORT)
        times: dict = {what: {"long": [], "short": []} for what in ("batch size", "report", "view")}
        for turn in range(TURNS):
            fresh = f"short-{turn // TURNS_OF_A_SHORT}"
            if turn % TURNS_OF_A_SHORT == 0:
                import_job(connection, fresh, short)
                view(connection, fresh)
            for which, job in (("long", "long"), ("short", fresh)) if turn % 2 else (("short", fresh), ("long", "long")):
                trial, took = ask_batch_size(connection, job)
                times["batch size"][which].append(took)
                times["report"][which].append(report(connection, trial))
                times["view"][which].append(view(connection, job))
        table.head("ms, of a history of", f"{LONG} entries", f"{SHORT} entries")
        for what, seen in times.items():
            long, few = statistics.median(seen["long"]), statistics.median(seen["short"])
            table.row({"view": "view: summary and 50 tries"}.get(what, what), long, few, long / few, 2)
        print(f"  its import and first view took {imported / 1e3:.3g} s and {first_view / 1e3:.3g} s")
        connection.close()
        compare_starts(server, table)


def compare_starts(server: Server, table: Table) -> None:
    """Killed and started again before each answer."""
    for name, ask in (("first view after a start", view), ("first batch size after a start", lambda *of: ask_batch_size(*of)[1])):
        first: dict = {"long": [], "short-0": []}
        for _ in range(STARTS):
            for job, seen in first.items():
                server.kill()
                server.start()
                connection = Connection(server.port)
                seen.append(ask(connection, job))
                connection.close()
        long, short = (statistics.median(seen) for seen in first.values())
        table.row(f"{name} (bound: 50 ms later)", long, short, long - short, 50)


def compare_lists(build: pathlib.Path, folder: pathlib.Path, table: Table) -> None:
    few, many = (Server(build, folder, str(folder / f"{jobs}.sqlite")) for jobs in (FEW, MANY))
    with few, many:
        connections = []
        for server, jobs in ((few, FEW), (many, MANY)):
            done = subprocess.run([build / "bench" / "server_load", "list", str(jobs), "16", "0", str(server.port)], capture_output=True,
                                  text=True, check=False)
            if done.returncode or json.loads(done.stdout)["registered"]["failed"]:
                raise RuntimeError(f"jobs cannot be registered: {done.stdout}{done.stderr}")
            connections.append(Connection(server.port))
        times: tuple = [], []
        for _ in range(TURNS):
            for connection, seen in zip(connections, times):
                seen.append(connection.ask("GET", "/api/v1/jobs")[1])
        of_few, of_many = map(statistics.median, times)
        table.head("ms, of a list of", f"{MANY} jobs", f"{FEW} jobs")
        table.row("first page", of_many, of_few, of_many / of_few, 3)


def compare_with_first_list(build: pathlib.Path, folder: pathlib.Path, table: Table) -> None:
    with Server(build, folder, str(folder / "imported.sqlite")) as server:
        connection = Connection(server.port)
        export = History(connection).export(SHORT)
        for number in range(MANY):
            import_job(connection, f"imported-{number}", export)
        first, *later = (connection.ask("GET", "/api/v1/jobs")[1] for _ in range(TURNS))
        table.head(f"ms, after an import of {MANY} jobs", "first", "later")
        table.row("first page", first, statistics.median(later), first / statistics.median(later), 20)
        connection.close()


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    table = Table()
    with tempfile.TemporaryDirectory(prefix="zeus_server_") as folder:
        compare_histories(build, pathlib.Path(folder), table)
        compare_lists(build, pathlib.Path(folder), table)
        compare_with_first_list(build, pathlib.Path(folder), table)
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
