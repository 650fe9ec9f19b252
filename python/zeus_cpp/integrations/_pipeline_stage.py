"""A pipeline's stage, and what it takes to run its instructions alone."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.tensor import DTensor

from zeus_cpp.utils.framework import sync_execution


class Captured:
    """What a stage's instructions need to be run alone: the first micro-batch's inputs, gradients and target."""

    def __init__(self, stage: Any, schedule: Any, in_step: Callable[[], bool]) -> None:
        self.stage = stage
        self.schedule = schedule
        self.inputs: tuple[tuple[Any, ...], dict[str, Any]] | None = None
        self.gradients: Any = None
        self.has_backward = False
        self.target: tuple[Any, tuple[Any, ...], dict[str, Any]] | None = None
        self._forward = stage.forward_maybe_with_nosync
        self._backward = stage.backward_maybe_with_nosync
        self._loss = schedule._compute_loss
        self._in_step = in_step
        self._listening = False

    def refusal(self) -> str:
        """Why the stage's instructions cannot be run alone, again and again; empty if they can."""
        parameters = list(self.stage.submod.parameters())
        # Each rank chooses how often it runs an instruction, so collectives within would never end.
        if any(isinstance(each, DTensor) for each in parameters) or any(
                isinstance(each, FullyShardedDataParallel) for each in self.stage.submod.modules()):
            return "stages that are sharded (FSDP, tensor parallelism) are not profiled yet"
        if any(each._post_accumulate_grad_hooks for each in parameters):
            return "a hook that runs after a gradient (register_post_accumulate_grad_hook) would run while instructions are profiled"
        return ""

    def listen(self) -> None:
        self._listening = True

        def forward(*args: Any, **kwargs: Any) -> Any:
            if self.inputs is None and self._in_step():
                self.inputs = _copy(args), _copy(kwargs)
            return self._forward(*args, **kwargs)

        def backward(kind: str, values: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
            if not self.has_backward and kind == "full":
                self.has_backward = True
                self.gradients = _copy(values["output_grads"])
            return self._backward(kind, values, *args, **kwargs)

        def loss(output: Any, target: Any, *more: Any, **named: Any) -> Any:  # before PyTorch 2.13, there are no more
            if self.target is None and self._in_step():
                self.target = _copy(target), more, named
            return self._loss(output, target, *more, **named)

        self.stage.forward_maybe_with_nosync = forward
        self.stage.backward_maybe_with_nosync = backward
        if self.stage.is_last:
            self.schedule._compute_loss = loss

    def drop(self) -> None:
        """Forgets what was captured, which takes memory."""
        if self._listening:
            self._listening = False
            del self.stage.forward_maybe_with_nosync, self.stage.backward_maybe_with_nosync
            if self.stage.is_last:
                del self.schedule._compute_loss
        self.inputs = self.gradients = self.target = None

    def works(self, device_id: int) -> Iterator[tuple[str, Callable[[int], None], str]]:
        """(instruction, what runs it so many times, the instruction that each of these runs includes)"""
        assert self.inputs is not None
        args, kwargs = self.inputs

        def forward(times: int) -> None:
            with torch.enable_grad():
                for _ in range(times):
                    self._forward(*_copy(args), **_copy(kwargs))
            wait_for(device_id)

        def both(times: int) -> None:
            with torch.enable_grad():
                for _ in range(times):
                    self._run_both(_copy(args), _copy(kwargs))
            wait_for(device_id)

        yield "forward", forward, ""
        if self.has_backward:
            yield "backward", both, "forward"

    def _run_both(self, args: Any, kwargs: Any) -> None:
        output = self._forward(*args, **kwargs)
        inputs = [each for each in _tensors((args, kwargs)) if each.requires_grad]
        values: dict[str, Any] = {"stage_output": output if isinstance(output, tuple) else (output,),
                                  "output_grads": self.gradients, "input_values": inputs}
        if self.stage.is_last:
            assert self.target is not None
            target, more, named = self.target
            values["stage_output"] = self._loss(output, target, *more, **named)
        self._backward("full", values, last_backward=False)

    @contextmanager
    def as_it_was(self, device_id: int) -> Iterator[None]:
        """Puts gradients, buffers and generators back."""
        module = self.stage.submod
        gradients = [(each, each.grad, None if each.grad is None else each.grad.clone()) for each in module.parameters()]
        buffers = [(each, each.clone()) for each in module.buffers()]
        numpy = sys.modules.get("numpy")
        drawn = random.getstate(), torch.get_rng_state(), None if numpy is None else numpy.random.get_state()
        on_gpu = torch.cuda.get_rng_state(device_id) if torch.cuda.is_available() and torch.cuda.is_initialized() else None
        try:
            yield
        finally:
            with torch.no_grad():
                for parameter, gradient, copy in gradients:
                    parameter.grad = gradient if gradient is None else gradient.copy_(copy)
                for buffer, copy in buffers:
                    buffer.copy_(copy)
            random.setstate(drawn[0])
            torch.set_rng_state(drawn[1])
            if numpy is not None:
                numpy.random.set_state(drawn[2])
            if on_gpu is not None:
                torch.cuda.set_rng_state(on_gpu, device_id)


def wait_for(device_id: int) -> None:
    if torch.cuda.is_initialized():
        sync_execution([device_id])


def _copy(values: Any) -> Any:
    """The same with tensors of its own, which require gradients as before."""
    if isinstance(values, torch.Tensor):
        return values.detach().clone().requires_grad_(values.requires_grad)
    if isinstance(values, dict):
        return {key: _copy(value) for key, value in values.items()}
    if isinstance(values, (list, tuple)):
        copies = [_copy(value) for value in values]
        return type(values)(*copies) if hasattr(values, "_fields") else type(values)(copies)
    return values


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    if isinstance(values, torch.Tensor):
        yield values
    elif isinstance(values, dict):
        for value in values.values():
            yield from _tensors(value)
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from _tensors(value)
