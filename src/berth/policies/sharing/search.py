"""The search of `forest`: plans to start from, rounds of annealing, and cheaper sets of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core import sharing as core
from berth.model import Problem
from berth.policies.sharing.case import Case
from berth.policies.sharing.goals import Needs, Prices
from berth.policies.sharing.heuristics import HEURISTICS, STRATEGIES, ran_through

IntArray = NDArray[np.intp]
HOT, COLD = 0.03, 0.001
"""Temperatures of a round, in shares of a limit by which one load may be exceeded for a while."""
ROUNDS = 4
"""A search of many rounds finds less in each, one of few gets stuck once."""
SHARES, ANNEALED = (0.5, 0.5), 0.6
"""Annealing and sets of nodes take turns; how much goes into the first."""
PACKINGS = ((0.02, 0.02), (0.05, 0.02), (0.02, 0.1), (0.005, 0.02))
"""How much nodes and traffic count when all is placed greedily."""
FEW = 12
"""Of so many nodes all sets are tried; of so many in use also those with one node instead of two."""
_FOR_EACH = 25
"""Steps of a round for each instance: with fewer, nothing comes to rest."""
_CHEAP, _WARM = 0.2, 0.01
"""How much prices count in the first round for a first plan, and how warm these rounds are."""
_LOWER = 0.9
"""The highest share of a link that is tried next, against the best so far."""
_SET_HOT = (0.03, 0.1)
_SET_STEPS, _SET_FOR_EACH = 1000, 30
"""Steps for one set of nodes: so many, and so many for each instance whose node isn't in it."""
_SET_CROSSED = 0.02
_NOTHING = -1.0
"""A cost that is never reached."""
_ROUNDING = 1e-9
Exchange = tuple[tuple[int, ...], tuple[int, ...]]
"""Nodes that are left, and nodes that are taken instead."""


@dataclass(eq=False)
class Search:
    """A plan that is changed, and the best that it has been."""

    case: Case
    state: core.State
    prices: Prices
    chance: np.random.Generator
    budget: Budget
    report: Callable[[float], None]
    home: IntArray
    """Where every instance was before; -1: nowhere."""
    fixed: NDArray[np.bool_]
    """Operators that are not to be touched."""
    free_moves: float = 0.0
    """How many instances may leave their place."""
    best: tuple[float, float] | None = None
    """How many instances too many have moved, and the cost of the best plan."""
    taken: int = 0
    """Steps so far."""
    _saved: core.Snapshot | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.limit = self.case.core.limit.copy()
        self.lowest = self.prices.bound()
        """What no plan can cost less than."""
        needs = Needs(self.case)
        self.nodes = np.flatnonzero(needs.hosting)
        """Those that may host anything."""
        self.work = float(needs.work.sum())
        """The speed that all nodes of a plan need together."""
        self.engine = core.Search(self.state, int(self.chance.integers(2**63)))

    @property
    def moved(self) -> int:
        """Instances that had a place and are elsewhere, or not computed any more."""
        return int(((self.home >= 0) & (self.state.node_of != self.home)).sum())

    @property
    def done(self) -> bool:
        """Whether no better plan is possible."""
        enough = self.lowest * (1.0 + _ROUNDING)
        return self.best is not None and self.best[0] <= 0.0 and self.best[1] <= enough

    def save(self) -> bool:
        """Remember the plan as it is now if it keeps all constraints and is better than all before."""
        if not self.state.complete:
            return False
        rank = max(0.0, self.moved - self.free_moves), self.prices.value(self.state)
        if self.best is not None and rank >= self.best:
            return False
        self.best = rank
        self._saved = self.state.snapshot()
        self.report(rank[1])
        return True

    def back(self) -> None:
        """Go back to the best plan."""
        if self._saved is not None:
            self.state.resume(self._saved)

    def aim(self, weight: float, stay: float, crossed: float = 0.0, nodes: IntArray | None = None) -> None:
        """Set what is aimed at.

        Args:
            weight: how much prices count beside limits.
            stay: the price of an instance that leaves its place.
            crossed: how much traffic counts beside the goal.
            nodes: those that are offered; None: all that may host anything.
        """
        self.engine.aim(
            limit=self.limit,
            node_price=weight * self.prices.node_prices,
            crossed_price=weight * self.prices.crossed + crossed * self.prices.traffic,
            busy_price=weight * self.prices.busy,
            nodes=self.nodes if nodes is None else nodes,
            home=self.home,
            stay=stay,
            fixed=self.fixed,
        )

    def round(self, steps: int, *, hot: float = HOT, cold: float = COLD, enough: float = _NOTHING) -> None:
        """Anneal the plan; what it is in the end is looked at by `save`."""
        self.engine.start(hot=hot, cold=cold, steps=steps, enough=enough)
        while not self.budget.over and not self.engine.anneal():
            pass
        self.taken += self.engine.steps_taken
        self.save()

    def place_all(self) -> None:
        """Give everything a node greedily, as far as the time allows."""
        first = 0
        while first < len(self.home) and not self.budget.over:
            first = self.engine.place_all(first)


def start(search: Search, problem: Problem, seed: int) -> int:
    """Let the heuristics place what has no place; how many of them could."""
    before, found = search.state.snapshot(), 0
    for retry in (False, True):
        for complete in _heuristic_plans(search, problem, seed, retry):
            if complete:
                found += 1
                search.save()
        if found:
            break
    search.state.resume(before)
    return found


def _heuristic_plans(search: Search, problem: Problem, seed: int, retry: bool) -> Iterator[bool]:
    """Bring the state through all 24 combinations, from what it is now; after each, whether it is a plan."""
    state, before = search.state, search.state.snapshot()
    for heuristic in HEURISTICS:
        order = heuristic.order(problem, seed)
        order = order[~search.fixed[order]]
        usual = heuristic.parameters(retry=retry, relatives="any")
        for processors in STRATEGIES:
            state.resume(before)
            run = heuristic.start(state, order, replace(usual, processors=processors))
            yield ran_through(run, search.budget) and run.stuck_at < 0 and state.complete
            if search.budget.over:
                return


def pack(search: Search) -> None:
    """Place everything greedily in several ways, and go on from the one that looks best."""
    empty = best = search.state.snapshot()
    least = np.inf
    for weight, crossed in PACKINGS:
        search.state.resume(empty)
        search.aim(weight, 0.0, crossed)
        search.place_all()
        search.save()
        search.aim(1.0, 0.0)
        energy = search.engine.energy
        if energy.excess + energy.cost < least:
            least, best = energy.excess + energy.cost, search.state.snapshot()
    search.state.resume(best)


def first_plan(search: Search, steps: int, stay: float = 0.0) -> bool:
    """Look for a plan that keeps all constraints, whatever it costs; all steps may go into that."""
    if search.best is not None or search.save():
        return True
    end, share, weight = search.taken + steps, max(1, steps // ROUNDS), _CHEAP
    while search.best is None and search.taken < end and not search.budget.over:
        search.aim(weight, stay)
        search.round(share, hot=_WARM, enough=np.inf)
        weight = 0.0
    return search.best is not None


def improve(search: Search, steps: int, stay: float = 0.0) -> None:
    """Use so many steps to find cheaper plans than the best.

    Args:
        search: with a plan.
        steps: how many there are.
        stay: the price of an instance that leaves its place.
    """
    if search.prices.name == "bandwidth_max":
        lower_shares(search, steps, stay)
    elif search.prices.node.any():
        for share in SHARES:
            anneal(search, int(share * ANNEALED * steps), stay)
            try_sets(search, int(share * (1.0 - ANNEALED) * steps), stay)
    else:
        anneal(search, steps, stay)


def anneal(search: Search, steps: int, stay: float) -> None:
    """Rounds of annealing, the first from where the search is, the others from the best plan."""
    least = min(steps, _FOR_EACH * len(search.home))
    end, part = search.taken + steps, max(1, steps // ROUNDS, least)
    while search.taken < end and not search.budget.over and not search.done:
        search.aim(1.0, stay)
        search.round(part)
        search.back()


def lower_shares(search: Search, steps: int, stay: float) -> None:
    """Lower the limits of links to below the highest share so far, as long as there are plans within them."""
    limit, links = search.case.core.limit, slice(search.case.core.loads.link, None)
    part, factor, end = max(1, steps // (2 * ROUNDS)), _LOWER, search.taken + steps
    while search.taken < end and not search.budget.over and search.best is not None:
        share = search.best[1]
        if share <= 0.0:
            break
        search.back()
        search.limit[links] = np.minimum(limit[links], factor * share * limit[links])
        before = search.taken
        search.aim(1.0, stay)
        search.round(part)
        if search.taken == before:
            break
        factor = factor**2 if search.best[1] < share else factor**0.5
    search.limit[:] = limit


def try_sets(search: Search, steps: int, stay: float) -> None:
    """Try sets of nodes that cost less than the best plan's and have the speed, until the steps are used up.

    Args:
        search: with a plan, for a goal that is about nodes.
        steps: how many there are.
        stay: the price of an instance that leaves its place.
    """
    end, number = search.taken + steps, 0
    tried: set[frozenset[int]] = set()
    search.back()
    waiting = _cheaper_sets(search)
    while waiting and search.taken < end and not search.budget.over:
        out, into = waiting.pop()
        search.back()
        hosted = search.state.hosted
        chosen = frozenset(np.flatnonzero(hosted > 0).tolist()) - set(out) | set(into)
        if chosen in tried:
            continue
        tried.add(chosen)
        enough = _SET_STEPS + _SET_FOR_EACH * int(hosted[list(out)].sum())
        hot = _SET_HOT[number % 2]
        if _fits(search, np.array(sorted(chosen)), min(enough, end - search.taken), hot, stay):
            search.back()
            waiting = _cheaper_sets(search)
        search.taken += 1
        number += 1


def _fits(search: Search, nodes: IntArray, steps: int, hot: float, stay: float) -> bool:
    """Whether a better plan on these nodes alone was found."""
    best = search.best
    search.aim(0.0, stay, _SET_CROSSED, nodes)
    search.engine.clear()
    search.place_all()
    if not search.save():
        search.aim(0.0, stay, nodes=nodes)
        search.round(steps, hot=hot, enough=np.inf)
    return search.best != best


def _cheaper_sets(search: Search) -> list[Exchange]:
    """Sets near the best plan's, or all of few nodes, with the speed and at a lower price; by chance."""
    price = search.prices.node
    work = search.case.place_limits[0].room
    hosts = search.state.hosted > 0
    used = np.flatnonzero(hosts).tolist()
    others = np.setdiff1d(search.nodes, np.flatnonzero(hosts)).tolist()
    if len(search.nodes) <= FEW:
        left = [some for size in range(len(used) + 1) for some in combinations(used, size)]
        taken = [some for size in range(len(others) + 1) for some in combinations(others, size)]
    else:
        left = [*combinations(used, 1), *(combinations(used, 2) if len(used) <= FEW else ())]
        taken = [(), *combinations(others, 1)]
    out_price, out_work = (np.array([values[list(some)].sum() for some in left]) for values in (price, work))
    in_price, in_work = (np.array([values[list(some)].sum() for some in taken]) for values in (price, work))
    total = price[used].sum() - out_price[:, None] + in_price
    enough = work[used].sum() - out_work[:, None] + in_work >= search.work * (1.0 - _ROUNDING)
    cheaper = (total < price[used].sum() * (1.0 - _ROUNDING)) & (total > 0.0)
    cheaper &= total >= search.lowest * (1.0 - _ROUNDING)
    found = [(left[out], taken[into]) for out, into in np.argwhere(enough & cheaper).tolist()]
    return [found[number] for number in search.chance.permutation(len(found)).tolist()]
