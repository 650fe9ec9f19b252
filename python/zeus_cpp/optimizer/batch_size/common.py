"""The messages between a training script and the server of batch sizes: routes, job specifications, results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from zeus_cpp.optimizer._record import (
    Record,
    ValidationError,
    maybe,
    name,
    number,
    optional,
    required,
    several,
    text,
    truth,
    whole,
)

__all__ = [
    "CreatedJob",
    "DELETE_JOB_URL",
    "GET_NEXT_BATCH_SIZE_URL",
    "GpuConfig",
    "JobParams",
    "JobSpec",
    "JobSpecFromClient",
    "REGISTER_JOB_URL",
    "REPORT_END_URL",
    "REPORT_RESULT_URL",
    "ReportResponse",
    "TrainingResult",
    "TrialId",
    "ValidationError",
]

REGISTER_JOB_URL = "/jobs"
DELETE_JOB_URL = "/jobs"
GET_NEXT_BATCH_SIZE_URL = "/jobs/batch_size"
REPORT_RESULT_URL = "/report"
REPORT_END_URL = "/trials"


def _batch_sizes(value: object) -> list[int]:
    sizes = sorted(several(whole(above=0))(value))
    if not sizes:
        raise ValueError("must not be empty")
    if len(set(sizes)) != len(sizes):
        raise ValueError(f"must not have a size twice: {sizes}")
    return sizes


class JobParams(Record):
    """A job: the batch sizes to choose from, the target, and how its cost is computed."""

    job_id: str = required(text)
    job_id_prefix: str = required(text)
    batch_sizes: list[int] = required(_batch_sizes)
    default_batch_size: int = required(whole(above=0))
    eta_knob: float = optional(number(least=0, most=1), 0.5)
    beta_knob: float | None = optional(maybe(number(above=0)), 2.0)
    target_metric: float = optional(number(), 0.50)
    higher_is_better_metric: bool = optional(truth, True)
    max_epochs: int = optional(whole(above=0), 100)
    num_pruning_rounds: int = optional(whole(least=0), 2)
    window_size: int = optional(whole(), 0)
    mab_prior_mean: float = optional(number(), 0.0)
    mab_prior_precision: float = optional(number(), 0.0)
    mab_num_explorations: int = optional(whole(least=0), 2)
    mab_seed: int | None = optional(maybe(whole(least=0)), None)

    def check_together(self) -> Iterable[tuple[str, str]]:
        if self.default_batch_size not in self.batch_sizes:
            yield "default_batch_size", f"{self.default_batch_size} is not one of batch_sizes {self.batch_sizes}"


class JobSpec(JobParams):
    """A user's description of a job. Without `job_id` the server makes one, and the next run is another job.

    `eta_knob`: 0 counts only time, 1 only energy. `beta_knob`: a run is stopped when it has spent this many times the best cost;
    None for no bound. `window_size`: how many of the last runs of a batch size count; 0 for all.
    """

    job_id: str | None = optional(maybe(text), None)  # type: ignore[assignment]

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            job_id: str | None = ...,
            job_id_prefix: str,
            batch_sizes: list[int],
            default_batch_size: int,
            eta_knob: float = ...,
            beta_knob: float | None = ...,
            target_metric: float = ...,
            higher_is_better_metric: bool = ...,
            max_epochs: int = ...,
            num_pruning_rounds: int = ...,
            window_size: int = ...,
            mab_prior_mean: float = ...,
            mab_prior_precision: float = ...,
            mab_num_explorations: int = ...,
            mab_seed: int | None = ...,
        ) -> None: ...

    def check_together(self) -> Iterable[tuple[str, str]]:
        yield from super().check_together()
        if self.job_id is not None and not self.job_id.startswith(self.job_id_prefix):
            yield "job_id", f"{self.job_id!r} does not begin with job_id_prefix {self.job_id_prefix!r}"


class GpuConfig(Record):
    """The devices of a job; watts are summed over its GPUs."""

    max_power: float = required(number(above=0))
    number_of_gpus: int = required(whole(above=0))
    gpu_model: str = required(name)


class JobSpecFromClient(JobSpec, GpuConfig):
    """The registration of a job."""


class CreatedJob(JobParams, GpuConfig):
    """A job as the server keeps it."""


class TrialId(Record):
    """One run of a job at one batch size."""

    job_id: str = required(text)
    batch_size: int = required(whole())
    trial_number: int = required(whole())


class TrainingResult(TrialId):
    """Time and energy of a run from its beginning to the end of this epoch, and the model's metric."""

    time: float = required(number())
    energy: float = required(number())
    metric: float = required(number())
    current_epoch: int = required(whole())


class ReportResponse(Record):
    """Whether to go on."""

    stop_train: bool = required(truth)
    converged: bool = required(truth)
    message: str = required(text)
