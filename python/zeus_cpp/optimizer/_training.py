"""One C++ training session (zeus/train.hpp) for Python's fronts, and the ranks of a distributed training that share one.

Which ranks take part is found out and not assumed: in some scripts every rank has an optimizer, in others rank 0 alone has
one for all GPUs. (A GPU that several ranks monitor is set and counted by the first of them: the session sees to that.)
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

from zeus_cpp import _native
from zeus_cpp.optimizer._ranks import RankLost, Ranks

Event = dict[str, Any]


class StoreCollective:
    """What the C++ session needs of its ranks, by values in their store; see Ranks for why."""

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
        """What every member has given, in their order."""
        this_round, self._round = self._round, self._round + 1
        self._ranks.tell(f"{this_round}/{self._ranks.rank}", value)
        values = [self._ranks.hear(f"{this_round}/{member}", patience) for member in self._members]
        # Whoever gave a value for this round has read all of the last one.
        if this_round:
            self._ranks.forget(f"{this_round - 1}/{self._ranks.rank}")
        return values


class Team:
    """The ranks that optimize one training together, seen from one of them.

    Made by each rank with the GPUs it monitors; `meet` finds out who else has made one.
    """

    # No rank finishes its first step before all have begun theirs, in training that is synchronized; what is left to wait
    # for is chance.
    PATIENCE = 10.0
    # A rank that does not answer for so long is dead; one may evaluate for minutes while the others wait.
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
        """Finds out who takes part. Every rank comes to the same answer; one that comes too late to it takes no part."""
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
                patience = 0.01  # who has not come by now does not
        members = self._ranks.settle("members", present)
        self.joined = self._ranks.rank in members
        self.leads = self._ranks.rank == members[0]
        if self.joined and len(members) > 1:
            self.collective = StoreCollective(self._ranks, members)


def open_training(team: Team, options: Mapping[str, Any], synchronize: Callable[[], None]) -> Any:
    """The session; `options` are those of zeus/train.hpp, as python/native/train_options.cpp spells them."""
    values = {**options, "gpus": team.gpus, "synchronize": synchronize}
    if team.collective is not None:
        values["collective"] = team.collective
        values["collective_patience_s"] = team.DEAD_AFTER
    return _native.Training(values)
