"""Batch sizes for recurring training jobs, chosen by a server that remembers the jobs."""

from zeus_cpp.optimizer.batch_size.client import BatchSizeOptimizer
from zeus_cpp.optimizer.batch_size.common import JobSpec

__all__ = ["BatchSizeOptimizer", "JobSpec"]
