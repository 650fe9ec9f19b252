"""Clocks for every computation of a training pipeline, so that none runs faster than the slowest one requires."""

from zeus_cpp.optimizer.pipeline_frequency.optimizer import PipelineFrequencyOptimizer
from zeus_cpp.optimizer.pipeline_frequency.profiler import PipelineProfiler, plan_pipeline

__all__ = ["PipelineFrequencyOptimizer", "PipelineProfiler", "plan_pipeline"]
