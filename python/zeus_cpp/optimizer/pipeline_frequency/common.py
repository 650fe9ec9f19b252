"""The messages between a training process and the server of pipeline frequencies: routes, jobs, ranks, schedules, profiles."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from zeus_cpp._files import write_whole
from zeus_cpp.optimizer._record import (
    Record,
    ValidationError,
    mapping,
    maybe,
    name,
    number,
    optional,
    pair,
    required,
    several,
    text,
    whole,
)

GET_SERVER_INFO_URL = "/info"
REGISTER_JOB_URL = "/register_job"
REGISTER_RANK_URL = "/register_rank/{job_id}"
GET_FREQUENCY_SCHEDULE_URL = "/schedule/{job_id}"
REPORT_PROFILING_RESULT_URL = "/result/{job_id}"


class JobInfo(Record):
    """A training job's shape. The server gives it an ID."""

    job_id: str = optional(text, "")
    pp_degree: int = required(whole(least=1))
    dp_degree: int = required(whole(least=1))
    tp_degree: int = required(whole(least=1))
    world_size: int = required(whole(least=1))
    job_metadata: str | None = optional(maybe(text), None)

    def check_together(self) -> Iterable[tuple[str, str]]:
        if self.job_id:
            yield "job_id", "must be left to the server"
        if self.pp_degree * self.dp_degree * self.tp_degree != self.world_size:
            yield "world_size", f"{self.world_size} is not {self.pp_degree} x {self.dp_degree} x {self.tp_degree}"

    def set_job_id(self, scheduler_name: str) -> None:
        """Names the job after the time of day, its shape and its scheduler."""
        parts = [time.strftime("%Y-%m-%d-%H-%M-%S"), f"dp{self.dp_degree}", f"pp{self.pp_degree}"]
        parts += [f"tp{self.tp_degree}", scheduler_name]
        self.job_id = "+".join(parts + ([self.job_metadata] if self.job_metadata else []))


class RankInfo(Record):
    """One rank, and the clocks its GPU can be locked to."""

    rank: int = required(whole(least=0))
    dp_rank: int = required(whole(least=0))
    pp_rank: int = required(whole(least=0))
    tp_rank: int = required(whole(least=0))
    available_frequencies: list[int] = required(several(whole()))


class FrequencySchedule(Record):
    """The instructions of one rank in an iteration, in order, and the clock in MHz for each; 0 leaves the clock as it is."""

    rank: int = required(whole(least=0))
    frequencies: list[tuple[str, int]] = required(several(pair(name, whole(least=0))))


_series = mapping(text, several(several(number())))


class ProfilingResult(Record):
    """One rank's measurements of some iterations under a schedule."""

    rank: int = required(whole(least=0))
    iter_time: list[float] = required(several(number()))
    iter_energy: list[float] = required(several(number()))
    time_breakdown: dict[str, list[list[float]]] = optional(_series, {})
    energy_breakdown: dict[str, list[list[float]]] = optional(_series, {})


_by_frequency = mapping(whole(above=0), number())


class OfflineProfilingResult(Record):
    """Mean time and energy of one rank's forward and backward at each clock."""

    rank: int = required(whole(least=0))
    dp_rank: int = required(whole(least=0))
    pp_rank: int = required(whole(least=0))
    tp_rank: int = required(whole(least=0))
    forward_time: dict[int, float] = required(_by_frequency)
    forward_energy: dict[int, float] = required(_by_frequency)
    backward_time: dict[int, float] = required(_by_frequency)
    backward_energy: dict[int, float] = required(_by_frequency)


class InstructionProfilingResult:
    """The offline profiles of all ranks; `to_csv` writes what `zeus pipeline --profile` reads."""

    COLUMNS = ("rank", "dp_rank", "pp_rank", "tp_rank", "stage", "instruction", "frequency", "time", "energy")

    def __init__(self, __root__: Sequence[Any]) -> None:
        self.__root__ = [OfflineProfilingResult.parse_obj(each) for each in __root__]

    @classmethod
    def parse_obj(cls, values: Sequence[Any]) -> InstructionProfilingResult:
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise ValidationError(cls.__name__, [("__root__", f"must be a list, not {values!r}")])
        return cls(list(values))

    def to_csv(self, filepath: str | Path) -> None:
        if not str(filepath).endswith(".csv"):
            raise ValueError(f"the profile's file must end in .csv, not {filepath}")
        with open(filepath, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.COLUMNS)
            for result in self.__root__:
                writer.writerows(_profile_rows(result))


def _profile_rows(result: OfflineProfilingResult) -> Iterable[tuple[Any, ...]]:
    place = (result.rank, result.dp_rank, result.pp_rank, result.tp_rank, result.pp_rank)
    for instruction in ("forward", "backward"):
        times = getattr(result, f"{instruction}_time")
        energies = getattr(result, f"{instruction}_energy")
        for frequency, seconds in times.items():
            if frequency not in energies:
                raise ValueError(f"rank {result.rank} has no {instruction} energy at {frequency} MHz")
            yield (*place, instruction, frequency, seconds, energies[frequency])


# Async because callers await them; the files are small, and are written at once.
async def save_ranks(data: Sequence[RankInfo], directory: str | Path) -> None:
    """Stores the ranks of a job for `load_ranks`."""
    _save(Path(directory) / "ranks.json", data)


async def save_sched(data: Sequence[FrequencySchedule], directory: str | Path, schedule_num: int) -> None:
    _save(Path(directory) / f"{schedule_num}.sched.json", data)


async def save_prof(data: Sequence[ProfilingResult], directory: str | Path, schedule_num: int) -> None:
    _save(Path(directory) / f"{schedule_num}.prof.json", data)


def _save(path: Path, records: Sequence[Record]) -> None:
    write_whole(path, json.dumps([record.dict() for record in records]))


def load_ranks(directory: str | Path) -> list[RankInfo]:
    """The ranks of a job, as a server or `save_ranks` has stored them."""
    return [RankInfo.parse_obj(each) for each in _load(Path(directory) / "ranks.json")]


def load_sched(directory: str | Path, schedule_num: int) -> list[FrequencySchedule]:
    return [FrequencySchedule.parse_obj(each) for each in _load(Path(directory) / f"{schedule_num}.sched.json")]


def load_prof(directory: str | Path, schedule_num: int) -> list[ProfilingResult]:
    return [ProfilingResult.parse_obj(each) for each in _load(Path(directory) / f"{schedule_num}.prof.json")]


def _load(path: Path) -> list[Any]:
    values = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(values, list):
        raise ValueError(f"{path}: must contain a list")
    return values
