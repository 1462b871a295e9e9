"""Pipelines whose response time after the worst loss is minimised.

As long as some loss takes nothing from a plan, the plan is as slow after it as before. So no plan is faster
after the worst loss than without any, and it suffices to look at the plans that are fast enough without: they
are listed, threshold by threshold, each with the time after its worst loss, until one is below the threshold.
Candidates, capacities, processors and links are held; everything else is left to the judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from berth.core import exact as core
from berth.evaluation import Setting
from berth.exact.placement import LOOSE, Placement, unmodelled
from berth.exact.structure.by_shape import small_enough
from berth.exact.structure.pipelines import FINE, Room, best_chain, chain_of, delays_between, scaled
from berth.exact.structure.shape import Pipeline, parts_of
from berth.exact.survival.failovers import FASTEST
from berth.exact.task import ExactTask, Found
from berth.model import Loss

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

THRESHOLDS = (1.005, 1.01, 1.02, 1.03, 1.045, 1.06, 1.08, 1.1, 1.13, 1.16, 1.2, 1.25, 1.3, 1.4, 1.6, 2.0, 3.0)
"""Times up to which plans are listed, as shares of what no plan is faster than."""
MEMORY, PRICE_CHANGES, AT_ONCE = 4, 100, 20_000
"""Of the search: places remembered, changes of prices, and steps between two looks at the list."""
MOST_PLANS = 500_000
"""Plans in a list after which others may try."""
MOST_WORK = 2_000_000_000
"""Operators that are moved, in all, before the same."""
MOST_JUDGED = 20
"""Plans that the judge looks at, the fastest first."""


def solve_pipeline_failovers(task: ExactTask) -> Found | None:
    """The pipeline that is fastest after its worst loss; a bound where that takes too long.

    None where something else is asked for, or the graph has another shape.
    """
    placement = task.placement
    if (
        task.goal.single != "failover_response_time"
        or placement.setting.ceilings
        or unmodelled(placement.setting.problem) is not None
        or len(placement.blocks) != len(placement.graph)
    ):
        return None
    parts = parts_of(placement)
    if parts is None or len(parts) > 1 or not small_enough(placement, parts[0]):
        return None
    part = parts[0]
    return _Search(task, part).found() if isinstance(part, Pipeline) else None


@dataclass(frozen=True, eq=False)
class _Listed:
    """Plans below a threshold that are below it after their worst loss, too, the fastest first."""

    places: IndexArray
    """[plan, block]"""
    times: FloatArray


class _Search:
    """One pipeline, its losses, and what is known so far."""

    def __init__(self, task: ExactTask, part: Pipeline) -> None:
        self._task, self._blocks = task, np.array(part.blocks, dtype=np.intp)
        self._placement = task.placement
        self._chain = chain_of(task.placement, part.blocks, Room(task.placement))
        self._losses = self._placement.setting.problem.losses
        self._work = MOST_WORK
        self._plans = 0

    def found(self) -> Found | None:
        """Threshold by threshold."""
        budget = self._task.budget
        whole = best_chain(self._chain, budget, 0.0, lambda best, bound: None).bound
        reached = np.inf if np.isinf(whole) else self._least_after_losses()
        if budget.over:
            return None
        if np.isinf(reached):
            return Found("infeasible", None, np.inf, trace=self._trace)
        after, least = self._after(), max(whole, reached)
        for share in THRESHOLDS:
            most = least * share
            if not self._slow_beyond(most):
                break
            fastest = self._listed(most, after, only_faster=True)
            if fastest is None:
                break
            if len(fastest.times):
                return self._concluded(fastest, most, after)
            reached = most
        return Found("unknown", None, reached, trace=self._trace)

    @property
    def _trace(self) -> dict[str, object]:
        return {"method": "pipeline after losses", "plans": self._plans}

    def _least_after_losses(self) -> float:
        """No plan is faster after its worst loss: so fast is what each of them leaves, by itself."""
        from berth.exact.minimise import minimise  # which asks for all of this

        task, least = self._task, 0.0
        for loss in self._losses:
            if len(loss.kept) and np.isfinite(least):
                left = Setting(loss.left, occupied=self._placement.setting.occupied)
                solution = minimise(left, FASTEST, task.budget, task.seed)
                infeasible = solution.status == "infeasible"
                least = max(least, np.inf if infeasible else solution.bound or 0.0)
        return least

    def _slow_beyond(self, most: float) -> bool:
        """Whether plans that lose something by every loss are slower than this, whatever they are.

        After a loss that takes no operator with it they are still on places of all other losses.
        """
        blocks, losses, nodes = len(self._blocks), len(self._losses), self._chain.nodes
        if losses > blocks or any(not np.isin(nodes, loss.nodes).any() for loss in self._losses):
            return True
        if losses < 2 or all(loss.lost.any() for loss in self._losses):
            return False
        work = float(self._chain.cost.min(axis=1).sum())
        leaving = np.sort([self._least_step(np.isin(nodes, loss.nodes)) for loss in self._losses])
        return work + float(leaving[: losses - 2].sum()) >= most

    def _least_step(self, inside: NDArray[np.bool_]) -> float:
        """The least step from some places to others."""
        return float(self._chain.step[np.ix_(inside, ~inside)].min(initial=np.inf))

    def _after(self) -> core.ChainLosses:
        chain, placement = self._chain, self._placement
        gone = np.array([np.isin(chain.nodes, loss.nodes) for loss in self._losses])
        lost = np.array([loss.lost[[placement.blocks[k][0] for k in self._blocks]] for loss in self._losses])
        step = chain.step[None]
        if placement.network.routing == "shortest_path":
            step = np.array([self._rerouted(loss) for loss in self._losses])
        return core.ChainLosses(chain.cost, step, chain.demand, chain.limit, gone, lost)

    def _rerouted(self, loss: Loss) -> FloatArray:
        """What lies between places after a loss; on lost ones nobody is."""
        left = Placement(Setting(loss.left), prune=False)
        return delays_between(left, np.arange(len(left.blocks)), self._chain.nodes)

    def _listed(self, most: float, after: core.ChainLosses, only_faster: bool) -> _Listed | None:
        """All plans below a threshold, before and after, or only ever faster ones; None: too many."""
        found = list(self._below(most, after, only_faster))
        if any(part is None for part in found):
            return None
        parts = [part for part in found if part is not None]
        places = np.concatenate([part.places for part in parts])
        times = np.concatenate([part.times for part in parts])
        order = np.argsort(times, kind="stable")
        return _Listed(places[order], times[order])

    def _below(self, most: float, after: core.ChainLosses, only_faster: bool) -> Iterator[_Listed | None]:
        count, seen = len(self._blocks), 0
        search = core.RunSearch(self._chain.cost, self._chain.step, *scaled(self._chain), 0.0)
        search.list_below(most)
        search.prepare(MEMORY, PRICE_CHANGES, 0, lambda: self._task.budget.over)
        while True:
            plans = search.listed.reshape(-1, count)
            times, self._work = after.worst(np.ascontiguousarray(plans[seen:]), most, self._work)
            self._plans += len(plans) - seen
            seen = len(plans)
            kept = np.isfinite(times)
            yield _Listed(plans[seen - len(times) :][kept], times[kept])
            if only_faster and kept.any():
                most = float(times[kept].min())
                search.list_below(most)
            if search.done:
                return
            if seen > MOST_PLANS or self._work < 0 or self._task.budget.over:
                yield None
                return
            search.go_on(AT_ONCE)

    def _concluded(self, fastest: _Listed, most: float, after: core.ChainLosses) -> Found:
        """What the judge says of the fastest plan; where that isn't as fast as it looks, of others, too."""
        found = self._judged(
            replace(fastest, places=fastest.places[:1], times=fastest.times[:1]), fastest.times[0]
        )
        if found.outcome == "optimal":
            return found
        listed = self._listed(most, after, only_faster=False)
        return replace(found, bound=float(fastest.times[0])) if listed is None else self._judged(listed, most)

    def _judged(self, listed: _Listed, most: float) -> Found:
        """The fastest of some plans that breaks nothing, and a bound on those that nobody has judged."""
        best: tuple[float, IndexArray | None] = np.inf, None
        for places, time in zip(listed.places[:MOST_JUDGED], listed.times, strict=False):
            if time >= best[0]:
                break
            nodes = np.zeros(len(self._blocks), dtype=np.intp)
            nodes[self._blocks] = self._chain.nodes[places]
            reached = self._task.costs_at(nodes)
            if reached < best[0]:
                best = reached, nodes
        open_ = listed.times[MOST_JUDGED] if len(listed.times) > MOST_JUDGED else most
        # what is not below the threshold was not listed
        bound = min(best[0], float(open_))
        if best[1] is None:
            return Found("unknown", None, bound, trace=self._trace)
        proved = best[0] <= bound * (1 + LOOSE)
        return Found("optimal" if proved else "feasible", best[1], bound * (1 - FINE), trace=self._trace)
