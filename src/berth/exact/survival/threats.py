"""The losses that come into the general model: not all of them, as a rule, are worth their variables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.exact.task import ExactTask
from berth.model import Loss

IndexArray = NDArray[np.intp]

TIME = "failover_response_time"
AT_ONCE = 40_000
"""Combinations of candidates up to which all losses come into the model from the beginning."""
LARGEST_MODEL = 2_000_000
"""Combinations beyond which no model with losses is built."""


class Threats:
    """Which losses a model has to know of, learnt from the plans that it finds."""

    def __init__(self, task: ExactTask) -> None:
        self._task = task
        self.modelled: list[Loss] = []
        self._left_out = 0
        if task.failovers is not None:
            relevant = self._relevant(task.failovers.losses)
            if self._size(len(relevant)) <= AT_ONCE:
                self.modelled = relevant
            elif self._counts_time:
                # without any, there would be nothing to minimise
                self.modelled = relevant[:1]

    def _relevant(self, losses: tuple[Loss, ...]) -> list[Loss]:
        """Those that can change anything; after all others the response time is that of the plan."""
        nodes = np.unique(np.concatenate(self._task.placement.candidates))
        touching = [loss for loss in losses if loss.touches(nodes)]
        others = [loss for loss in losses if not loss.touches(nodes)]
        return touching + (others[:1] if self._counts_time else [])

    @property
    def _counts_time(self) -> bool:
        """Whether the response time after losses is minimised or limited."""
        ceilings = self._task.placement.setting.ceilings
        limited = any(TIME in ceiling.goal.weights for ceiling in ceilings)
        return limited or TIME in self._task.costs.factors

    def _size(self, losses: int) -> int:
        return self._task.placement.size * (1 + losses)

    @property
    def trace(self) -> dict[str, int]:
        """How many losses are in the model, and how many of those that matter are not, for lack of room."""
        trace = {"losses": len(self.modelled), "losses_left_out": self._left_out}
        return {name: count for name, count in trace.items() if count}

    def more(self, blocks: IndexArray | None) -> bool:
        """Add the losses that a plan, the best by those known so far, does not survive; or not so well.

        True where there are any, so that a model with them has to be solved.
        """
        task = self._task
        if task.failovers is None or blocks is None or task.budget.over:
            return False
        after = task.failovers.of(task.placement.nodes_of_instances(blocks))
        known = set(map(id, self.modelled))
        missed = [item for item in after if not item.survived and id(item.loss) not in known]
        if self._counts_time and not missed and (TIME in task.costs.factors or task.judge(blocks) is None):
            worst = max((item.response_time_ms for item in after if id(item.loss) in known), default=0.0)
            slower = [item for item in after if item.response_time_ms > worst * (1 + 1e-9)]
            missed = sorted(slower, key=lambda item: -item.response_time_ms)[:1]
        if self._size(len(self.modelled) + len(missed)) > LARGEST_MODEL:
            self._left_out = len(missed)
            return False
        self.modelled += [item.loss for item in missed]
        return bool(missed)
