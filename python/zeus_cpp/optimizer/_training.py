"""One C++ training session (zeus/train.hpp) for Python's interfaces, and the ranks of a distributed training that share one.

Zeus finds out which ranks take part: in some scripts every rank has an optimizer, in others rank 0 alone has one for all GPUs.
(If several ranks monitor a GPU, the first of them sets and counts it; the session takes care of that.)
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

from zeus_cpp import _native
from zeus_cpp.optimizer._ranks import RankLost, Ranks

Event = dict[str, Any]


class StoreCollective:
    """The C++ session's collective, through values in the ranks' store; Ranks says why."""

    def __init__(self, ranks: Ranks, members: Sequence[int]) -> None:
        self._ranks = ranks
        self._members = list(members)
        self.rank = self._members.index(ranks.rank)
        self.size = len(self._members)
        self._round = 0

    def sum(self, values: list[float], patience: float) -> list[float]:
        return [sum(each) for each in zip(*self._exchange(values, patience))]

    def max(self, values: list[float], patience: float) -> list[float]:
        return [max(each) for each in zip(*self._exchange(values, patience))]

    def broadcast(self, message: bytes, root: int, patience: float) -> bytes:
        mine = base64.b64encode(message).decode() if self.rank == root else ""
        return base64.b64decode(self._exchange(mine, patience)[root])

    def _exchange(self, value: Any, patience: float) -> list[Any]:
        """The values of all members, in their order."""
        this_round, self._round = self._round, self._round + 1
        self._ranks.tell(f"{this_round}/{self._ranks.rank}", value)
        values = [self._ranks.hear(f"{this_round}/{member}", patience) for member in self._members]
        # A rank that stored a value for this round has read all of the last one.
        if this_round:
            self._ranks.forget(f"{this_round - 1}/{self._ranks.rank}")
        return values


class Team:
    """The ranks that optimize one training together, as one of them sees them.

    Each rank makes one with the GPUs that it monitors; `meet` finds out which other ranks have made one.
    """

    # In synchronized training no rank finishes its first step before all have begun theirs; only scheduling delays
    # remain.
    PATIENCE = 10.0
    # A rank that does not answer for this long is dead; a rank may evaluate for minutes while the others wait.
    DEAD_AFTER = 300.0

    def __init__(self, topic: str, gpu_indices: Iterable[int]) -> None:
        self.gpus = list(dict.fromkeys(gpu_indices))
        self.collective: StoreCollective | None = None
        self.leads = True  # writes files for all
        self.joined = True
        self._met = False
        self._ranks = Ranks(topic)
        if self.distributed:
            self._ranks.tell(f"member/{self._ranks.rank}", True)

    @property
    def distributed(self) -> bool:
        return self._ranks.size > 1

    def meet(self) -> None:
        """Finds out which ranks take part. Every rank gets the same answer; a rank that comes too late takes no part."""
        if self._met or not self.distributed:
            return
        self._met = True
        present = []
        patience = self.PATIENCE
        for rank in range(self._ranks.size):
            try:
                self._ranks.hear(f"member/{rank}", patience)
                present.append(rank)
            except RankLost:
                patience = 0.01  # a rank that has not come by now will not come
        members = self._ranks.settle("members", present)
        self.joined = self._ranks.rank in members
        self.leads = self._ranks.rank == members[0]
        if self.joined and len(members) > 1:
            self.collective = StoreCollective(self._ranks, members)


def open_training(team: Team, options: Mapping[str, Any], synchronize: Callable[[], None]) -> Any:
    """The session; `options` are those of zeus/train.hpp, with the names of python/native/train_options.cpp."""
    values = {**options, "gpus": team.gpus, "synchronize": synchronize}
    if team.collective is not None:
        values["collective"] = team.collective
        values["collective_patience_s"] = team.DEAD_AFTER
    return _native.Training(values)
