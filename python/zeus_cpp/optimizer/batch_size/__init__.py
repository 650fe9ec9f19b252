"""Batch sizes for training jobs that recur, chosen by a server that remembers them."""

from zeus_cpp.optimizer.batch_size.client import BatchSizeOptimizer
from zeus_cpp.optimizer.batch_size.common import JobSpec

__all__ = ["BatchSizeOptimizer", "JobSpec"]
