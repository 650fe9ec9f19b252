"""Runs a training pipeline by a frequency plan: every computation at its clock, set before it starts."""

from __future__ import annotations

import atexit
import os
import sys
import urllib.parse
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from zeus_cpp import _native
from zeus_cpp._logger import logger_of, warn
from zeus_cpp.callback import Callback
from zeus_cpp.device import get_gpus
from zeus_cpp.exception import ZeusInvalidArgumentError
from zeus_cpp._http import Server, ServerError
from zeus_cpp.optimizer._ranks import RankLost, Ranks, in_process_group
from zeus_cpp.optimizer._record import ValidationError
from zeus_cpp.optimizer.pipeline_frequency.common import (
    GET_FREQUENCY_SCHEDULE_URL,
    REGISTER_JOB_URL,
    REGISTER_RANK_URL,
    FrequencySchedule,
    JobInfo,
    RankInfo,
)
from zeus_cpp.optimizer.pipeline_frequency.frequency_controller import FrequencyController
from zeus_cpp.optimizer.pipeline_frequency.plan import Instructions, instructions_from
from zeus_cpp.utils.framework import sync_execution

logger = logger_of(__name__)


class PipelineFrequencyOptimizer(Callback):
    """Follows the plan of a server, or of a file (`plan`: from `zeus pipeline --json`, or a `freqs_pipeline_*.py`).

        optimizer = PipelineFrequencyOptimizer(..., plan="plan.json")
        for batch in ...:
            optimizer.on_instruction_begin("forward"); ...; optimizer.on_instruction_end("forward")
            ...
            optimizer.on_step_end()

    One for each rank, used from the thread that runs its computations. A thread of its own locks the clocks under a lease,
    faster ones ahead of time; meanwhile the power limit is the model's default and the memory's clock its highest. What was
    found is put back when the optimizer is closed or collected, or dies with its process. If the GPU cannot be set, the
    training goes on without the plan: the logger warns once, and `trouble` says why. Computations in another order than
    the plan's are a RuntimeError.
    """

    def __init__(
        self,
        rank: int,
        dp_rank: int,
        pp_rank: int,
        tp_rank: int,
        device_id: int,
        dp_degree: int,
        pp_degree: int,
        tp_degree: int,
        world_size: int,
        server_url: str | None = None,
        job_metadata: str | None = None,
        *,
        plan: str | Path | None = None,
        iteration_time: float | None = None,
        lead: float | None = None,
        timeout: float = 10.0,
        patience: float = 3600.0,
    ) -> None:
        """Exactly one of `server_url` and `plan`. `iteration_time` chooses among the plans of a file. `lead` is how many
        seconds ahead of its computation a faster clock is set; by default it is measured while training. `patience` is how
        long to wait until the server has heard from all ranks."""
        if (server_url is None) == (plan is None):
            raise ValueError("give either server_url or plan, not both")
        job = JobInfo(
            pp_degree=pp_degree,
            dp_degree=dp_degree,
            tp_degree=tp_degree,
            world_size=world_size,
            job_metadata=job_metadata,
        )
        self.server_url = server_url
        self.job_id: str | None = None  # the server's ID of the job
        self.rank = rank
        self.dp_rank = dp_rank
        self.pp_rank = pp_rank
        self.tp_rank = tp_rank
        self.device_id = device_id
        _use_device(device_id)
        if plan is not None:
            self.schedule = instructions_from(plan, iteration_time, rank, pp_rank, world_size)
        else:
            place = RankInfo(
                rank=rank,
                dp_rank=dp_rank,
                pp_rank=pp_rank,
                tp_rank=tp_rank,
                available_frequencies=_available_frequencies(device_id),
            )
            server = Server(str(server_url), timeout=timeout, token=os.environ.get("ZEUS_TOKEN"),
                            authorities=os.environ.get("ZEUS_CA_FILE"))
            self.job_id, self.schedule = _ask_server(server, job, place, timeout, patience)
        self._clocks = _native.PipelineClocks(self.schedule, device_id, lead)
        self._warned = ""
        self._report_trouble()
        reference = weakref.ref(self)
        atexit.register(lambda: getattr(reference(), "close", lambda: None)())

    @property
    def freq_schedule(self) -> Instructions:
        """(computation, clock in MHz), in the order of an iteration."""
        return self.schedule

    @property
    def freq_schedule_iter(self) -> Iterator[tuple[str, int]]:
        """The same from the beginning; iterating over it changes nothing."""
        return iter(self.schedule)

    @cached_property
    def frequency_controller(self) -> FrequencyController:
        """For scripts that set the clock themselves; once it is used, it sets the clock beside the plan."""
        return FrequencyController(self.device_id)

    def on_instruction_begin(self, name: str) -> None:
        """Before a computation: waits for the one before, and sets the clock for this one."""
        if "torch" in sys.modules:
            sync_execution([self.device_id])
        _in_order(self._clocks.begin, name)

    def on_instruction_end(self, name: str) -> None:
        """After a computation was given to the GPU."""
        _in_order(self._clocks.end, name)

    def on_step_end(self) -> None:
        """After an iteration, which must have run everything in the plan."""
        self._report_trouble()
        _in_order(self._clocks.end_iteration)

    @property
    def trouble(self) -> str:
        """Why the plan is not followed, or what could not be put back; empty while all is well."""
        return self._clocks.trouble

    @property
    def latency(self) -> float | None:
        """Seconds from requesting a clock to having it: the longest recent measurement."""
        return self._clocks.latency

    def close(self) -> None:
        """Puts the clocks back to what was found."""
        controller = vars(self).get("frequency_controller")
        if controller is not None:
            controller.end()
        self._clocks.close()
        self._report_trouble()

    def _report_trouble(self) -> None:
        trouble = self.trouble
        if trouble != self._warned:
            self._warned = trouble
            warn(logger, f"rank {self.rank}, GPU {self.device_id}: {trouble}")


def _in_order(report: Callable[..., None], *instruction: Any) -> None:
    try:
        report(*instruction)
    except ZeusInvalidArgumentError as error:
        raise RuntimeError(str(error)) from None


def _use_device(device_id: int) -> None:
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.set_device(device_id)


def _available_frequencies(device_id: int) -> list[int]:
    gpus = get_gpus()
    memory = max(gpus.get_supported_memory_clocks(device_id))
    return sorted(gpus.get_supported_graphics_clocks(device_id, memory), reverse=True)


def _ask_server(server: Server, job: JobInfo, place: RankInfo, timeout: float, patience: float) -> tuple[str, Instructions]:
    """Registers and waits for the schedule. The server counts requests, so only the first may be sent twice."""
    if job.world_size > 1 and not in_process_group():
        raise RuntimeError("torch.distributed is not initialized: call init_process_group() before the optimizer is made")
    try:
        job_id = _job_id(server, job, place.rank, timeout)
        path = urllib.parse.quote(job_id, safe="+")
        server.request("POST", REGISTER_RANK_URL.format(job_id=path), body=place.json(), repeatable=False)
        answer = server.request(
            "GET",
            GET_FREQUENCY_SCHEDULE_URL.format(job_id=path),
            query={"rank": place.rank},
            repeatable=False,
            timeout=patience,
        )
        schedule = FrequencySchedule.parse_obj(answer)
    except (ServerError, RankLost, ValidationError) as error:
        raise RuntimeError(f"Rank {place.rank} got no frequency schedule. {error}") from error
    if schedule.rank != place.rank:
        raise RuntimeError(f"The server sent the schedule of rank {schedule.rank} to rank {place.rank}.")
    if not schedule.frequencies:
        raise RuntimeError(f"The server sent an empty schedule to rank {place.rank}.")
    return job_id, schedule.frequencies


def _job_id(server: Server, job: JobInfo, rank: int, timeout: float) -> str:
    ranks = Ranks("pipeline_frequency")
    if rank != 0:
        return str(ranks.hear("job_id", 6 * timeout))
    job_id = server.request("POST", REGISTER_JOB_URL, body=job.json(), repeatable=False)
    if not isinstance(job_id, str) or not job_id:
        raise ServerError(f"the server answered {job_id!r} instead of a job's ID")
    logger.info("pipeline frequency job %s", job_id)
    ranks.tell("job_id", job_id)
    return job_id
