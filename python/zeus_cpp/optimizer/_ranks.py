"""What the ranks of a distributed training exchange beside their gradients: small values. They go through the store at which
the process group met, not through collectives.

A collective waits for every rank, possibly without end, and needs the backend's devices. A value in the store waits for one
key, on the CPU, for a given time. So a rank that dies, or does not take part, costs a timeout and never a hang. Any thread
may call these functions; the store is torch.distributed's own.
"""

from __future__ import annotations

import collections
import contextlib
import datetime
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

_GLANCE = 0.2  # seconds between two looks at the store while others make progress

_made: collections.Counter[str] = collections.Counter()


class RankLost(RuntimeError):
    """A rank did not send in time what the others wait for, or the store is gone, with the rank that has it."""


def in_process_group() -> bool:
    """Whether torch.distributed runs with more than one rank; never imports torch."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return False
    return int(distributed.get_world_size()) > 1


class Ranks:
    """The ranks of the default process group. Every rank that takes part makes one in the same order, with the same topic.

    `rank` and `size` are those of the group; without a group, 0 and 1.
    """

    def __init__(self, topic: str) -> None:
        self.rank = 0
        self.size = 1
        self._store: Any = None
        if in_process_group():
            distributed = sys.modules["torch"].distributed
            self.rank = distributed.get_rank()
            self.size = distributed.get_world_size()
            store = distributed.distributed_c10d._get_default_store()
            self._store = distributed.PrefixStore(f"zeus/{topic}/{_made[topic]}", store)
            _made[topic] += 1

    def tell(self, key: str, value: Any) -> None:
        """Stores a value, which JSON can hold, for the other ranks; RankLost if the store is gone, as of the two below."""
        text = json.dumps(value)
        if self._store is not None:
            with self._reaching_others():
                self._store.set(key, text)

    def hear(self, key: str, patience: float, progress: str = "") -> Any:
        """The value that some rank stores; waits for at most `patience` seconds, then raises RankLost. With the name of a
        `progress`, the seconds begin again with each `advance` of it by any rank."""
        try:
            if progress:
                self._wait_while_it_advances(key, patience, progress)
            else:
                self._store.wait([key], datetime.timedelta(seconds=patience))
            return json.loads(self._store.get(key))
        except Exception as error:  # torch has no error of its own for each way in which a store fails
            raise RankLost(f"rank {self.rank} waited {patience:g} s for {key!r} without an answer: {error}") from error

    def _wait_while_it_advances(self, key: str, patience: float, progress: str) -> None:
        seen, since = -1, time.monotonic()
        while not self._store.check([key]):
            now = self._store.add(progress, 0)
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since >= patience:
                raise TimeoutError("no rank makes progress")
            time.sleep(min(_GLANCE, patience))

    def advance(self, progress: str) -> None:
        """Lets those wait on that wait for what takes this rank long."""
        if self._store is not None:
            with self._reaching_others():
                self._store.add(progress, 1)

    def forget(self, key: str) -> None:
        """Removes a value that no rank needs any more; if the store cannot, it stays."""
        with contextlib.suppress(Exception):
            self._store.delete_key(key)

    def settle(self, key: str, proposal: Any) -> Any:
        """The first proposal that any rank makes for this key; all ranks get the same."""
        if self._store is None:
            return proposal
        text = json.dumps(proposal)
        with self._reaching_others():
            return json.loads(self._store.compare_set(key, "", text))

    @contextlib.contextmanager
    def _reaching_others(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            raise RankLost(f"rank {self.rank} does not reach the others any more: {error}") from error
