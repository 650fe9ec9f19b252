"""A data loader that makes training cost less energy, in the shape of the Zeus paper's listing.

    train_loader = ZeusDataLoader(train_set, batch_size, max_epochs, target_metric, higher_is_better=True)
    eval_loader = ZeusDataLoader(eval_set, batch_size)

    for epoch in train_loader.epochs():      # ends at the target, at max_epochs, or when it gets too expensive
        for batch in train_loader: ...
        for batch in eval_loader: ...
        train_loader.report_metric(accuracy)

Beside its arguments it reads the environment, which drives recurring jobs:

    ZEUS_TARGET_METRIC     the target, if it is not an argument
    ZEUS_HIGHER_IS_BETTER  true or false, if it is not an argument
    ZEUS_LOG_DIR           the folder of its files (zeus_log)
    ZEUS_JOB_ID            the name of the result file begins with it (zeus)
    ZEUS_COST_THRESH       above this cost no further epoch begins (inf)
    ZEUS_ETA_KNOB          0 counts only time, 1 only energy (0.5)
    ZEUS_PROFILE_PARAMS    steps to settle and steps to measure under each limit (10,40)
    ZEUS_USE_OPTIMAL_PL    false for observer mode: applies nothing, and reports at the end what would have been saved

In that folder it writes, for a batch size B: bsB.power.json (power and throughput under each limit; the next run uses it
instead of profiling again), JOB+bsB.train.json (the run's result) and bsB+eN+gpuI.power.log (samples of each epoch).
"""

from __future__ import annotations

import json
import math
import os
import sys
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

try:
    from torch.utils.data import DataLoader
    from torch.utils.data.distributed import DistributedSampler
except ImportError as error:
    raise ImportError("ZeusDataLoader is a data loader of PyTorch, which is not installed: `pip install torch`") from error

from zeus_cpp import _native
from zeus_cpp._dataloader_settings import Settings
from zeus_cpp._files import write_whole
from zeus_cpp._logger import logger_of, warn
from zeus_cpp._power_log import PowerLog
from zeus_cpp.optimizer._ranks import Ranks
from zeus_cpp.optimizer._training import StoreCollective
from zeus_cpp.utils.framework import sync_execution

logger = logger_of(__name__)

# A rank that does not answer for this long is dead; a rank may evaluate for minutes while the others wait.
_PATIENCE = 300.0


def _warn(line: str) -> None:
    warn(logger, line)


class ZeusDataLoader(DataLoader):
    """The loader with `max_epochs` is for training, and leads; others are for evaluation, and belong to the training loader
    that was made last. Used from one thread."""

    _latest: weakref.ref[ZeusDataLoader] | None = None

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        max_epochs: int | None = None,
        target_metric: float | None = None,
        *,
        higher_is_better: bool | None = None,
        distributed: str | None = None,
        gpu_indices: Sequence[int] | None = None,
        **options: Any,
    ) -> None:
        """`options` are those of torch.utils.data.DataLoader. `distributed` is "dp" if each process trains on its share of
        the data (with a DistributedSampler); `batch_size` is then that of each process. `gpu_indices` are the GPUs that this
        process trains on; by default the one that torch uses."""
        super().__init__(dataset, batch_size, **options)
        if distributed not in (None, "dp"):
            raise ValueError(f"distributed must be None or 'dp', not {distributed!r}")
        self._run: _Run | None = None
        if max_epochs is None or max_epochs < 0:
            return
        ranks = Ranks("dataloader") if distributed else None
        if ranks is not None:
            _require_group(self.sampler)
        self._run = _Run(
            settings=Settings(max_epochs, target_metric, higher_is_better),
            ranks=ranks,
            gpus=list(gpu_indices) if gpu_indices is not None else _own_gpus(distributed),
            batch_size=batch_size,
            steps=_length_of(self),
        )
        type(self)._latest = weakref.ref(self)

    def epochs(self) -> Iterator[int]:
        """0, 1, .. until the target is reached, the epochs are used up, or another one would cost too much."""
        run = self._leading()
        number = 0
        try:
            while run.next_epoch(number):
                yield number
                run.end_of_epoch()
                number += 1
        finally:
            run.finish()

    def report_metric(self, metric: float, higher_is_better: bool | None = None) -> None:
        """The model's metric now. Say here, to the constructor or with ZEUS_HIGHER_IS_BETTER whether higher is better;
        otherwise this is a ValueError."""
        self._leading().report(float(metric), higher_is_better)

    @property
    def reached(self) -> bool:
        """Whether the target has been reached."""
        return self._leading().reached

    @property
    def stopped_by(self) -> str | None:
        """Why the epochs ended: "target_reached", "epochs_used_up" or "too_dear"."""
        return self._leading().result().get("stopped_by")

    def result(self) -> dict[str, Any]:
        """Time, energy and cost, in total and by epoch; in observer mode also what they would have been at the optimum.
        Plain values, as zeus/training_report.hpp explains them."""
        return self._leading().result()

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        if self._run is not None:
            return self._run.training_steps(batches)
        latest = type(self)._latest
        leader = latest() if latest is not None else None
        run = leader._run if leader is not None else None
        return batches if run is None else run.evaluation_steps(batches)

    def _leading(self) -> _Run:
        if self._run is None:
            raise ValueError("this loader is for evaluation: make the one for training with max_epochs")
        return self._run


def _require_group(sampler: Any) -> None:
    torch = sys.modules["torch"]
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        raise RuntimeError("distributed='dp' needs a process group: call torch.distributed.init_process_group() first")
    if not isinstance(sampler, DistributedSampler):
        raise ValueError("distributed='dp' needs sampler=DistributedSampler(dataset); otherwise each process trains on all of it")


def _own_gpus(distributed: str | None) -> list[int]:
    torch = sys.modules["torch"]
    if torch.cuda.is_available():
        return [torch.cuda.current_device()]
    return [int(os.environ.get("LOCAL_RANK", "0"))] if distributed else [0]


def _length_of(loader: DataLoader) -> int | None:
    try:
        return len(loader)
    except TypeError:  # a stream has no length
        return None


class _Run:
    """One training: its session, its files, and the power samples of its epochs."""

    def __init__(
        self,
        settings: Settings,
        ranks: Ranks | None,
        gpus: list[int],
        batch_size: int,
        steps: int | None,
    ) -> None:
        self._settings = settings
        self._gpus = gpus
        self.reached = False
        self._in_epoch = False
        self._finished = False
        size = ranks.size if ranks is not None else 1
        self._leads = ranks is None or ranks.rank == 0
        self._rank = ranks.rank if ranks is not None else 0
        self._batch_size = batch_size * size
        self._profile_file = settings.folder / f"bs{self._batch_size}.power.json"
        self._result_file = settings.folder / f"{settings.job_id}+bs{self._batch_size}.train.json"
        # The direction may not be known before the first metric; until then no target is reached.
        options: dict[str, Any] = {
            "mode": "optimize" if settings.apply else "observe",
            "goal": ("cost",),
            "eta": settings.eta,
            "gpus": gpus,
            "synchronize": self._synchronize,
            "warn": _warn,
            "try_clocks": False,
            "profiling": ("sweep", settings.settle, settings.measure),
            "batch_size": self._batch_size,
            "steps_per_epoch": steps,
            "known_profile": self._read_profile(),
            "target": (0.5, True),
            "max_epochs": settings.max_epochs,
            "cost_limit_j": settings.cost_limit if math.isfinite(settings.cost_limit) else None,
        }
        if size > 1 and ranks is not None:
            options["collective"] = StoreCollective(ranks, range(size))
            options["collective_patience_s"] = _PATIENCE
        self._session = _native.Training(options)
        self._evaluation: dict[str, dict[str, float]] = {"eval_power": {}, "eval_throughput": {}}
        self._monitor = _native.Monitor(gpus, [], "", "")
        self._log = PowerLog(self._monitor, gpus, settings.folder, self._batch_size)
        self._profile_known = False

    def _synchronize(self) -> None:
        sync_execution(self._gpus)

    # -- Epochs and steps.

    def next_epoch(self, number: int) -> bool:
        self._in_epoch = bool(self._session.next_epoch())
        self._take_in()
        if self._in_epoch:
            self._log.begin(number + 1)
        return self._in_epoch

    def training_steps(self, batches: Iterator[Any]) -> Iterator[Any]:
        if not self._in_epoch:  # a look at the data, not training
            yield from batches
            return
        try:
            for batch in batches:
                self._session.begin_step()
                self._log.keep_up()
                yield batch
        finally:
            self._session.end_steps()
            self._take_in()

    def evaluation_steps(self, batches: Iterator[Any]) -> Iterator[Any]:
        if not self._in_epoch:
            yield from batches
            return
        self._session.end_steps()
        count = 0
        self._monitor.begin("zeus.evaluation", True, self._synchronize)
        try:
            for batch in batches:
                yield batch
                count += 1
        finally:
            window = self._monitor.end("zeus.evaluation", self._synchronize)
            self._note_evaluation(count, window)

    def report(self, metric: float, higher_is_better: bool | None) -> None:
        higher = higher_is_better if higher_is_better is not None else self._settings.higher_is_better
        if higher is None:
            raise ValueError(
                "is a higher metric better, or a lower one? Say higher_is_better=True or False to the ZeusDataLoader or to "
                "report_metric(), or set ZEUS_HIGHER_IS_BETTER"
            )
        if math.isnan(metric):
            logger.warning("the metric is not a number, which never reaches a target")
            return
        reached = metric >= self._settings.target if higher else metric <= self._settings.target
        self.reached = self.reached or reached
        largest = sys.float_info.max
        self._session.set_target(max(-largest, min(largest, self._settings.target)), higher)
        self._session.report(metric)

    def end_of_epoch(self) -> None:
        self._log.end()

    def finish(self) -> None:
        """After the last epoch, or when the loop is left: puts back what was found, and writes the result."""
        if self._finished:
            return
        self._finished = True
        self._in_epoch = False
        self._log.end()
        self._session.finish()
        self._take_in()
        result = self.result()
        if self._leads:
            self._write_profile(result)
            self._write_result(result)
        if result["stopped_by"] == "too_dear":
            logger.warning("training stops before its target: it costs more than ZEUS_COST_THRESH allows")
        if result["prediction"] is not None:
            logger.info("at the optimum it would have taken %s", result["prediction"])

    def result(self) -> dict[str, Any]:
        return dict(self._session.result())

    # -- What was measured.

    def _take_in(self) -> None:
        for event in self._session.events():
            if event["event"] == "ProfilingDone" and self._leads:
                self._write_profile(self.result())

    def _note_evaluation(self, count: int, window: Any) -> None:
        joules = sum(window.gpu_energy.values())
        optimum = self._session.optimum
        if not count or not math.isfinite(joules) or window.time <= 0 or optimum is None or self._session.profiling:
            return
        limit = _milliwatts(optimum)
        self._evaluation["eval_power"][limit] = joules / window.time
        self._evaluation["eval_throughput"][limit] = count / window.time

    # -- Files.

    def _read_profile(self) -> tuple[str, int, list[tuple[float, int, float, float]]] | None:
        try:
            text = self._profile_file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except OSError as error:
            logger.warning("the power profile %s cannot be read: %s", self._profile_file, error)
            return None
        try:
            values = json.loads(text)
            power, throughput = values["train_power"], values["train_throughput"]
            measured = [
                (int(limit) / 1000, self._settings.measure, 1 / throughput[limit], power[limit] / throughput[limit])
                for limit in sorted(power, key=int, reverse=True)
            ]
            if not measured or not all(time > 0 and energy > 0 for _, _, time, energy in measured):
                raise ValueError("it contains no possible measurements")
        except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
            logger.warning("the power profile %s cannot be used, so the limits are profiled again: %s", self._profile_file, error)
            return None
        return "", len(self._gpus), measured

    def _write_profile(self, result: dict[str, Any]) -> None:
        measured = [each for each in result["profile"]["measurements"] if each["setting"]["clock_mhz"] is None]
        if not measured or result["optimum"] is None or not result["profile"]["complete"]:
            return
        rate = {_milliwatts(each["setting"]): 1 / each["step_time_s"] for each in measured}
        power = {_milliwatts(each["setting"]): each["step_energy_j"]["value"] / each["step_time_s"] for each in measured}
        values = {
            "job_id": self._settings.job_id,
            "train_power": power,
            "train_throughput": rate,
            **self._evaluation,
            "optimal_pl": int(_milliwatts(result["optimum"])),
        }
        self._write(self._profile_file, values)

    def _write_result(self, result: dict[str, Any]) -> None:
        energy = result["energy_j"]
        values: dict[str, Any] = {
            "energy": None if energy is None else energy["value"],
            "time": result["time_s"],
            "cost": result["cost_j"],
            "num_epochs": len(result["epochs"]),
            "reached": self.reached,
        }
        if result["prediction"] is not None:
            values["prediction"] = result["prediction"]
        self._write(self._result_file, values)

    def _write(self, path: Path, values: dict[str, Any]) -> None:
        try:
            write_whole(path, json.dumps(values))
        except OSError as error:
            logger.warning("%s could not be written: %s", path, error)


def _milliwatts(setting: dict[str, Any]) -> str:
    return str(round(setting["limit_w"] * 1000))
