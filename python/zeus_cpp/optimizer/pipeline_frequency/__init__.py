"""Clocks for every computation of a training pipeline, so that none is faster than the slowest needs it to be."""

from zeus_cpp.optimizer.pipeline_frequency.optimizer import PipelineFrequencyOptimizer

__all__ = ["PipelineFrequencyOptimizer"]
