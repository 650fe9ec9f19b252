"""The training script's side of the batch size optimizer: asks the server for a batch size and reports each epoch."""

from __future__ import annotations

import atexit
import math
import os
import sys
import uuid
from collections.abc import Mapping
from typing import Any, TypeVar

from zeus_cpp._logger import logger_of
from zeus_cpp.callback import Callback
from zeus_cpp.device import get_gpus
from zeus_cpp.monitor import ZeusMonitor
from zeus_cpp._http import Server, ServerError, ServerRefused, ServerUnreachable
from zeus_cpp.optimizer._ranks import RankLost, Ranks
from zeus_cpp.optimizer._record import Record, ValidationError
from zeus_cpp.optimizer.batch_size._beats import BEAT_PATH, GIVES_BEATS, Beats, takes_beats
from zeus_cpp.optimizer.batch_size.common import (
    GET_NEXT_BATCH_SIZE_URL,
    REGISTER_JOB_URL,
    REPORT_END_URL,
    REPORT_RESULT_URL,
    CreatedJob,
    JobSpec,
    JobSpecFromClient,
    ReportResponse,
    TrainingResult,
    TrialId,
)
from zeus_cpp.optimizer.batch_size.exceptions import (
    ZeusBSOBadOperationError,
    ZeusBSOConfigError,
    ZeusBSOOperationOrderError,
    ZeusBSORuntimError,
    ZeusBSOTrainFailError,
)

logger = logger_of(__name__)

R = TypeVar("R", bound=Record)

WINDOW = "BatciSizeOptimizerClient"


class BatchSizeOptimizer(Callback):
    """Asks for a batch size once, then measures and reports until the server answers that training is over.

        bso = BatchSizeOptimizer(monitor, "http://server:30100", JobSpec(job_id_prefix="mnist", ...))
        batch_size = bso.get_batch_size()
        bso.on_train_begin()
        for epoch in ...:
            train(); bso.on_evaluate(accuracy)
            if bso.training_finished: break

    One per training run, used from one thread. In a distributed run every rank makes one: rank 0 asks and reports, and all
    others follow the server's answer, so that no rank stops while another goes on. `monitor` must measure the GPUs of this
    run and no others. A server that cannot be reached during training is no reason to stop: each report counts from the
    beginning, so the next report makes up for a missing one.
    """

    def __init__(
        self,
        monitor: ZeusMonitor,
        server_url: str,
        job: JobSpec,
        rank: int = 0,
        *,
        timeout: float = 10.0,
        attempts: int = 5,
        patience: float = 300.0,
    ) -> None:
        """Registers the job. Each of up to `attempts` tries may take `timeout`; a rank waits for rank 0 for `patience`.

        A server that requires a token gets the one in ZEUS_TOKEN, or the password in `server_url`. Of one at https://, the
        certificate is checked: against the authorities in the file ZEUS_CA_FILE, or the system's.
        """
        self.monitor = monitor
        self.rank = rank
        self.cur_epoch = 0
        self.running_time = 0.0
        self.consumed_energy = 0.0
        self.training_finished = False
        self.current_batch_size = 0
        self.trial_number = 0
        self._patience = patience
        try:
            self._server = Server(server_url, timeout=timeout, attempts=attempts, token=os.environ.get("ZEUS_TOKEN"),
                                  authorities=os.environ.get("ZEUS_CA_FILE"))
        except ValueError as error:
            raise ZeusBSOConfigError(str(error)) from error
        self.server_url = self._server.url
        self._takes_beats = False
        self._ranks = Ranks("batch_size")
        self._ending: Ending | None = None

        self.job_spec = _with_gpus(job, monitor)
        self.job = self._register()
        logger.info("job %s is registered with %s", self.job.job_id, self.server_url)

    def _register(self) -> CreatedJob:
        # Without a job ID each rank would register a job of its own.
        if self._alone or self.job_spec.job_id is not None:
            return self._register_alone()
        if self.rank == 0:
            job = self._register_alone()
            self._ranks.tell("job", job.dict())
            return job
        try:
            return CreatedJob.parse_obj(self._ranks.hear("job", self._patience))
        except RankLost as error:
            raise ZeusBSORuntimError(f"rank 0 has registered no job: {error}") from error

    def _register_alone(self) -> CreatedJob:
        named = self.job_spec.job_id is not None
        request = {"body": self.job_spec.json(), "repeatable": named}
        job, told = self._ask_whole(CreatedJob, "POST", REGISTER_JOB_URL, **request)
        self._takes_beats = takes_beats(told)
        return job

    @property
    def _alone(self) -> bool:
        return self._ranks.size == 1

    def get_batch_size(self) -> int:
        """The batch size of this run. Rank 0 asks once, and the others wait for what it gets; the run counts as failed if it
        ends without a result."""
        if self.current_batch_size:
            return self.current_batch_size
        if self.rank != 0:
            return self._hear_batch_size()
        query = {"job_id": self.job.job_id}
        headers = {}
        if self._takes_beats:
            # With a key of its own, asking twice has the same effect as asking once.
            headers = {**GIVES_BEATS, "Idempotency-Key": uuid.uuid4().hex}
        trial, told = self._ask_whole(
            TrialId, "GET", GET_NEXT_BATCH_SIZE_URL, query=query, headers=headers, repeatable=bool(headers)
        )
        if trial.batch_size not in self.job.batch_sizes:
            raise ZeusBSORuntimError(
                f"{self.server_url} chose batch size {trial.batch_size}, which is not one of {self.job.batch_sizes}"
            )
        self.current_batch_size = trial.batch_size
        self.trial_number = trial.trial_number
        self._ending = Ending(self._server, trial, Beats(self._server, told[BEAT_PATH]) if BEAT_PATH in told else None)
        atexit.register(self._ending)
        self._ranks.tell("trial", [trial.batch_size, trial.trial_number])
        logger.info("job %s, trial %d: batch size %d", trial.job_id, trial.trial_number, trial.batch_size)
        return trial.batch_size

    def _hear_batch_size(self) -> int:
        if self._alone:
            raise ZeusBSOBadOperationError(
                f"rank {self.rank} may not ask for a batch size: rank 0 asks, and reaches the others by a process group alone"
            )
        try:
            self.current_batch_size, self.trial_number = self._ranks.hear("trial", self._patience)
        except RankLost as error:
            raise ZeusBSORuntimError(f"rank 0 did not pass on the batch size: {error}") from error
        return self.current_batch_size

    def on_train_begin(self) -> None:
        """Begins to measure."""
        self.training_finished = False
        self.monitor.begin_window(WINDOW, restart=True)

    def on_evaluate(self, metric: float) -> None:
        """Reports an epoch and learns whether to go on; `metric` is that of the model now.

        Sets `training_finished` when training is over, and raises ZeusBSOTrainFailError if it is over without success.
        """
        if not self.current_batch_size:
            raise ZeusBSOOperationOrderError("no batch size yet: call get_batch_size() first")
        if self.training_finished:
            return
        self._measure()
        self.cur_epoch += 1
        answer = self._decide(self._result(metric))
        if answer is None or not answer.stop_train:
            self.monitor.begin_window(WINDOW)
            return
        self.training_finished = True
        if self._ending is not None:
            self._ending.cancel()
        if not answer.converged:
            raise ZeusBSOTrainFailError(
                f"Batch size {self.current_batch_size} did not succeed: {answer.message} Start the training again: the "
                "server will choose again."
            )

    def _measure(self) -> None:
        try:
            measurement = self.monitor.end_window(WINDOW)
        except ValueError as error:
            raise ZeusBSOOperationOrderError("nothing is measured yet: call on_train_begin() first") from error
        self.running_time += measurement.time
        energy = measurement.total_energy
        if not math.isfinite(energy):
            # An energy that cannot be read must not make this batch size look cheap.
            energy = self.job_spec.max_power * measurement.time
            logger.warning("the energy of epoch %d is unknown; it is counted as the GPUs' highest limit", self.cur_epoch + 1)
        self.consumed_energy += energy

    def _result(self, metric: Any) -> TrainingResult:
        value = float(metric)
        if not math.isfinite(value):
            logger.warning("the metric of epoch %d is %s, which is not a result", self.cur_epoch, value)
            if math.isnan(value):  # as far from the target as can be
                value = -math.inf if self.job.higher_is_better_metric else math.inf
            value = math.copysign(sys.float_info.max, value)  # JSON has no infinite numbers
        return TrainingResult(
            job_id=self.job.job_id,
            batch_size=self.current_batch_size,
            trial_number=self.trial_number,
            time=self.running_time,
            energy=self.consumed_energy,
            metric=value,
            current_epoch=self.cur_epoch,
        )

    def _decide(self, result: TrainingResult) -> ReportResponse | None:
        """The server's answer; None if it cannot be reached and training goes on."""
        if self._alone:
            return self._report(result)
        key = f"{self.trial_number}/{self.cur_epoch}"
        if self.rank == 0:
            try:
                answer = self._report(result)
            except ZeusBSORuntimError as error:
                self._ranks.tell(key, {"error": str(error)})
                raise
            self._ranks.tell(key, {"answer": None if answer is None else answer.dict()})
            return answer
        try:
            told = self._ranks.hear(key, self._patience)
        except RankLost as error:
            raise ZeusBSORuntimError(f"rank 0 did not pass on the server's decision: {error}") from error
        if "error" in told:
            raise ZeusBSORuntimError(told["error"])
        return None if told["answer"] is None else ReportResponse.parse_obj(told["answer"])

    def _report(self, result: TrainingResult) -> ReportResponse | None:
        try:
            return self._ask(ReportResponse, "POST", REPORT_RESULT_URL, body=result.json(), repeatable=True)
        except ZeusBSORuntimError as error:
            if not isinstance(error.__cause__, ServerUnreachable) or self.cur_epoch >= self.job.max_epochs:
                raise
            logger.warning("training goes on without the answer to epoch %d: %s", self.cur_epoch, error)
            return None

    def _ask(self, answer: type[R], method: str, path: str, **request: Any) -> R:
        return self._ask_whole(answer, method, path, **request)[0]

    def _ask_whole(self, answer: type[R], method: str, path: str, **request: Any) -> tuple[R, Mapping[str, str]]:
        """The answer and its headers."""
        try:
            told = self._server.ask(method, path, **request)
            return answer.parse_obj(told.value), told.headers
        except ServerError as error:
            raise ZeusBSORuntimError(f"The server of batch sizes failed. {error}") from error
        except ValidationError as error:
            raise ZeusBSORuntimError(f"{method} {self.server_url}{path}: the answer makes no sense: {error}") from error


class Ending:
    """At the end of the process, tells the server that a trial has ended without a result."""

    def __init__(self, server: Server, trial: TrialId, beats: Beats | None) -> None:
        self._server = server
        self._trial = trial
        self._beats = beats
        self._process = os.getpid()

    def cancel(self) -> None:
        atexit.unregister(self)
        self._stop_beating()

    def _stop_beating(self) -> None:
        if self._beats is not None:
            self._beats.stop()

    def __call__(self) -> None:
        if os.getpid() != self._process:  # the end of a forked child is not the end of the training
            return
        self._stop_beating()
        try:
            body = self._trial.json()
            self._server.request("PATCH", REPORT_END_URL, body=body, repeatable=True, timeout=5.0, attempts=2)
        except ServerRefused as error:
            logger.info("the server does not accept how the trial ended: %s", error)
        except ServerError as error:
            logger.warning("the server does not know that trial %d has ended: %s", self._trial.trial_number, error)


def _with_gpus(job: JobSpec, monitor: ZeusMonitor) -> JobSpecFromClient:
    indices = list(monitor.gpu_indices)
    if not indices:
        raise ZeusBSOConfigError("the monitor has no GPUs, so there is nothing to optimize")
    gpus = get_gpus()
    models = {gpus.get_name(index) for index in indices}
    if len(models) > 1:
        raise ZeusBSOConfigError(f"the monitor's GPUs must be of one model, not {', '.join(sorted(models))}")
    max_power = sum(gpus.get_power_management_limit_constraints(index)[1] // 1000 for index in indices)
    try:
        gpus_of_job = {"max_power": max_power, "number_of_gpus": len(indices), "gpu_model": models.pop()}
        return JobSpecFromClient.parse_obj({**job.dict(), **gpus_of_job})
    except ValidationError as error:
        raise ZeusBSOConfigError(str(error)) from error
