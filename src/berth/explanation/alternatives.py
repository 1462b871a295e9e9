"""For everything that runs: the best other node, what that would cost, and what forbids better ones."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.engine import HeldPlan
from berth.evaluation import METRIC_BY_NAME, Setting, Situation
from berth.evaluation.goal import Goal
from berth.evaluation.limits import (
    TOLERANCE,
    Capacity,
    NetworkCard,
    PlaceLimit,
    Use,
    exceeded,
    exceeds,
    place_limits,
)
from berth.evaluation.losses import loss_violations
from berth.evaluation.situation import group_maximum
from berth.evaluation.unlinked import missing_lines
from berth.evaluation.violations import violations
from berth.explanation.moves import Moves, Unit
from berth.model import BadInput, Download, Plan
from berth.policies.failover import failover_of

IndexArray = NDArray[np.intp]


@dataclass(frozen=True)
class Verdict:
    """What the judge says of a plan."""

    objective: float | None
    violations: tuple[str, ...]
    exceeded: tuple[Use, ...]
    """Everything of which there is not enough."""
    unlinked: int
    """How many flows between two nodes have no link: one violation may be about many of them."""

    @cached_property
    def broken(self) -> dict[Hashable, str]:
        """The violations by what they are about: a limit and its place, or the words without amounts."""
        of_limits = {use.line: _limited(use) for use in self.exceeded}
        return {of_limits.get(line, subject_of(line)): line for line in self.violations}

    @cached_property
    def needed(self) -> dict[Hashable, float]:
        """What is needed of everything of which there is not enough."""
        return {_limited(use): use.needed for use in self.exceeded}

    def new_trouble(self, before: Verdict) -> tuple[str, ...]:
        """What is broken here and was not before, or is worse than before."""

        def is_worse(key: Hashable) -> bool:
            return key in self.needed and exceeds(self.needed[key], before.needed.get(key, math.inf))

        return tuple(line for key, line in self.broken.items() if key not in before.broken or is_worse(key))

    def mended(self, before: Verdict) -> tuple[str, ...]:
        """What was broken before and is no longer."""
        return tuple(line for key, line in before.broken.items() if key not in self.broken)


def _limited(use: Use) -> Hashable:
    return use.kind, use.name, use.place


class Judge:
    """The judge of plans for one problem by one goal."""

    def __init__(self, setting: Setting, plan: Plan, goal: Goal | None) -> None:
        self.setting = setting
        self.plan = plan
        self.goal = goal

    @cached_property
    def situation(self) -> Situation:
        """The plan as it is."""
        return Situation(self.setting, self.plan)

    @cached_property
    def before(self) -> Verdict:
        """What the plan is worth as it is."""
        return self.verdict(self.situation)

    def verdict(self, situation: Situation) -> Verdict:
        """The objective and all that is broken."""
        with np.errstate(over="ignore", invalid="ignore"):
            broken = tuple(violations(situation))
            uses = tuple(exceeded(situation)) if broken else ()
            flows, connected = situation.flows, situation.network.table.connected
            unlinked = int((~connected[flows.sender, flows.receiver]).sum()) if broken else 0
            return Verdict(self.objective(situation), broken, uses, unlinked)

    def objective(self, situation: Situation) -> float | None:
        """The goal's value; None where it can't be computed."""
        if self.goal is None:
            return None
        metrics = {}
        for name in self.goal.weights:
            value = METRIC_BY_NAME[name].value(situation)
            if value is None or not math.isfinite(value):
                return None
            metrics[METRIC_BY_NAME[name].key] = value
        return self.goal.value(metrics)

    def moved(self, members: IndexArray, node: int) -> Situation:
        """The plan with some instances on a node; downloads from and to the nodes concerned follow."""
        graph, nodes = self.setting.graph, self.setting.problem.network.nodes
        assignment = {**self.plan.assignment, **{graph.names[k]: nodes[node].name for k in members.tolist()}}
        situation = Situation(self.setting, replace(self.plan, assignment=assignment))
        if not self.setting.problem.objects:
            return situation
        touched = {node, *self.situation.node_of[members].tolist()}
        downloads = tuple(_downloads(situation, touched))
        if downloads == self.plan.downloads:
            return situation
        return Situation(self.setting, replace(situation.plan, downloads=downloads))


def _downloads(situation: Situation, touched: set[int]) -> Iterable[Download]:
    """The plan's downloads without those that some nodes no longer need, and with those that they lack."""
    network, wanted = situation.network, situation.object_rates
    index = network.index
    for item in situation.plan.downloads:
        if index[item.target] not in touched or (item.object, index[item.target]) in wanted:
            yield item
    listed = {(item.object, index[item.target]) for item in situation.plan.downloads}
    for name, node in wanted:
        if node in touched and (name, node) not in listed:
            holders = np.array(network.holders.get(name, []), dtype=np.intp)
            delay = network.table.delay_ms[holders, np.full(len(holders), node)]
            if not np.isnan(delay).all():
                yield Download(
                    name, network.nodes[holders[np.nanargmin(delay)]].name, network.nodes[node].name
                )


def subject_of(line: str) -> str:
    """What a violation is about, without its amounts."""
    subject, _, rest = line.partition(": ")
    words = [word for word in rest.split() if not word[0].isdigit()]
    return " ".join([subject, *words[:3]])


FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Obstacles:
    """The limits of the nodes, and what a plan has taken of them."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation

    @cached_property
    def _limits(self) -> list[tuple[PlaceLimit, FloatArray]]:
        """Every limit of a place, with what is used of it."""
        situation = self._situation
        return [(limit, limit.used(situation)) for limit in place_limits(situation.setting)]

    @cached_property
    def _cards(self) -> FloatArray:
        return NetworkCard(self._situation.setting).used(self._situation)

    def of(self, moves: Moves) -> dict[str, BoolArray]:
        """By the name of what is in the way, the moves that it forbids."""
        found = {"not allowed there": self._misplaced(moves), "no link": moves.unlinked}
        if moves.unit.node >= 0 or (self._situation.node_of[moves.unit.members] < 0).all():
            found |= self._full(moves)
        away = moves.nodes != moves.unit.node
        return {name: forbids & away for name, forbids in found.items() if (forbids & away).any()}

    def _misplaced(self, moves: Moves) -> BoolArray:
        graph, members, size = self._situation.graph, moves.unit.members, len(moves.nodes)
        allowed = graph.may_run_on(np.repeat(members, size), np.tile(moves.nodes, len(members)))
        return np.asarray(~allowed.reshape(len(members), size).all(axis=0))

    def _full(self, moves: Moves) -> dict[str, BoolArray]:
        """Limits of the place that the unit would come to."""
        situation, nodes, home = self._situation, moves.nodes, moves.unit.node
        new = ~self._has_equal(moves)
        found: dict[str, BoolArray] = {}
        for limit, used in self._limits:
            if not limit.grows and (used > limit.room).any():
                continue  # broken as it is: only the judge knows whether a move makes it worse
            places, added = limit.place_of[nodes], self._added(moves, limit)
            elsewhere = places != limit.place_of[home] if home >= 0 else np.ones(len(nodes), dtype=bool)
            over = elsewhere & _over(used[places], added, limit.room[places])
            counts = new if limit.once else np.ones(len(nodes), dtype=bool)
            found[limit.label] = found.get(limit.label, np.zeros(len(nodes), dtype=bool)) | (counts & over)
        # where equal results cross once, only the judge knows what a card carries
        once = situation.problem.sharing_keys.possible
        if situation.network.cards_bound and situation.rates_known and not once:
            found["network card"] = self._card(moves)
        return found

    def _added(self, moves: Moves, limit: PlaceLimit) -> float:
        """What the unit would take, its containers as a whole."""
        unit = moves.unit
        if not limit.once:
            return float(limit.needed[unit.members].sum())
        needed = limit.needed_in(self._situation)[unit.members]
        whole = 0.0
        if isinstance(limit, Capacity):
            needed[[number in unit.packed for number in unit.members.tolist()]] = 0.0
            whole = sum(size.capacity.get(limit.resource, 0.0) for size in unit.containers)
        return self._once(moves, needed) + whole

    def _once(self, moves: Moves, amounts: FloatArray) -> float:
        """The members' amounts added up, equal computations once."""
        keys = self._situation.problem.sharing_keys
        if not keys.possible:
            return float(amounts.sum())
        group = np.unique(keys.computation_keys(moves.unit.members), return_inverse=True)[1]
        return float(group_maximum(amounts, group).sum())

    def _has_equal(self, moves: Moves) -> BoolArray:
        """The nodes on which something is computed already that the unit computes, too."""
        keys = self._situation.problem.sharing_keys
        if not keys.possible:
            return np.zeros(len(moves.nodes), dtype=bool)
        mine = keys.computation_keys(moves.unit.members)
        equal = moves.others[np.isin(keys.computation_keys(moves.others), mine)]
        return np.isin(moves.nodes, self._situation.node_of[equal])

    def _card(self, moves: Moves) -> BoolArray:
        """Cards that can't take what the unit exchanges on its new node."""
        card, used = self._situation.network.nic_bytes_per_s, self._cards
        rate = self._situation.pairs.rate[moves.touched][:, None]
        sender, receiver = moves.touched_ends
        home = moves.unit.node
        before = self._crossing(moves, home) if home >= 0 else 0.0
        after = np.where((sender != receiver) & (sender >= 0) & (receiver >= 0), rate, 0.0).sum(axis=0)
        more = after - before > used * TOLERANCE
        return np.asarray(more & (used + after - before > card * (1.0 + TOLERANCE)))

    def _crossing(self, moves: Moves, home: int) -> FloatArray:
        """By node, what it exchanges with the unit as it is."""
        nodes, pairs = self._situation.node_of, self._situation.pairs
        sender, receiver = nodes[pairs.sender[moves.touched]], nodes[pairs.receiver[moves.touched]]
        rate = pairs.rate[moves.touched]
        size = len(moves.nodes)
        apart = (sender != receiver) & (sender >= 0) & (receiver >= 0)
        other = np.where(sender == home, receiver, sender)[apart]
        return np.bincount(other, rate[apart], size).astype(np.float64)


def _over(load: FloatArray, added: FloatArray | float, there: FloatArray) -> BoolArray:
    return np.asarray(
        (np.asarray(added) > 0) & (load + added > there + TOLERANCE * np.maximum(load + added, there))
    )


MOST_JUDGED = 24
"""Moves of a unit that go before the judge until one is found that breaks nothing."""
MOST_READERS = 64
"""The same where objects are read or results are shared: then scores leave out what that would change."""
MOST_SURVIVED = 10_000
"""Losses times nodes in use times instances up to which moves are looked at after every loss, too."""
MOST_FORBIDDEN = 3
"""Better nodes that are told, with what forbids them."""
TIE = 1e-9
"""Scores that differ by less, relatively, are equally good: sums of floats are not exact."""


@dataclass(frozen=True)
class Alternative:
    """Another node for a unit, as the judge sees it."""

    node: str
    objective: float | None
    change: float | None
    """Of the objective, against the plan as it is."""
    better: bool
    breaks: tuple[str, ...] = ()
    """What the move would break, and what it would make worse."""
    mends: tuple[str, ...] = ()
    """What the plan breaks, and would no longer."""


@dataclass(frozen=True)
class Explained:
    """Why a unit is where it is."""

    instances: tuple[str, ...]
    node: str | None
    best: Alternative | None
    """The best other node that breaks nothing; None: there is none."""
    forbidden: tuple[Alternative, ...]
    """Nodes that would be better, if it were not for what they break."""
    obstacles: dict[str, int] = field(default_factory=dict)
    """How many other nodes each obstacle forbids; a node may have several."""
    refused: tuple[Alternative, ...] = ()
    """Where there is no best: the most promising nodes that no obstacle forbids, and what they break."""
    fixed: bool = False
    """Whether it may run nowhere else."""
    searched: bool = True
    """False: all promising nodes break something; there may be one among the others that doesn't."""

    @property
    def name(self) -> str:
        """The first instance, and how many move with it."""
        more = len(self.instances) - 1
        return self.instances[0] if not more else f"{self.instances[0]} (+{more})"


class Alternatives:
    """The alternatives in one plan."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._situation = judge.situation
        self._obstacles = Obstacles(self._situation)

    @cached_property
    def _held(self) -> HeldPlan | None:
        """The plan in the engine's hands; None where that can't say what moves are worth."""
        situation, goal = self._situation, self.judge.goal
        if goal is None or situation.problem.sharing_keys.possible:
            return None
        if situation.complete and situation.supplied and self.judge.before.objective is None:
            return None  # something is not known, wherever the instances are
        try:
            return HeldPlan(situation, goal)
        except BadInput:
            return None

    def explain(self, unit: Unit) -> Explained:
        """The best other node for a unit, and the better ones that are forbidden."""
        graph, nodes = self._situation.graph, self._situation.network.nodes
        names = tuple(graph.names[number] for number in unit.members.tolist())
        node = None if unit.node < 0 else nodes[unit.node].name
        allowed = [graph.allowed_nodes[graph.operator_of[number]] for number in unit.members.tolist()]
        if all(len(numbers) == 1 for numbers in allowed) and all(unit.node in numbers for numbers in allowed):
            return Explained(names, node, None, (), fixed=True)
        order, score, obstacles = self.ranked(unit)
        blocked = _any(obstacles, len(nodes))
        open_nodes = [number for number in order if not blocked[number]]
        best, refused = self._first_open(unit, open_nodes)
        here = score[unit.node] if unit.node >= 0 else np.inf
        limit = here if best is None else min(here, score[self._index(best)])
        margin = TIE * abs(limit) if np.isfinite(limit) else 0.0
        better = [number for number in order if score[number] < limit - margin]
        forbidden = list(self._forbidden(unit, [number for number in better if blocked[number]], refused))
        counts = {name: int(forbids.sum()) for name, forbids in obstacles.items()}
        searched = best is not None or len(refused) == len(open_nodes)
        shown = () if best is not None else tuple(refused[:MOST_FORBIDDEN])
        return Explained(names, node, best, tuple(forbidden), counts, shown, searched=searched)

    def ranked(self, unit: Unit) -> tuple[list[int], FloatArray, dict[str, BoolArray]]:
        """All other nodes, the most promising first; a score and what is in the way for every node."""
        moves = Moves(self._situation, unit)
        score = self._scores(moves)
        rank = score if np.isfinite(score).any() else _nearness(moves)
        # Sums in another order differ in their last digits: equal scores go by the smallest index.
        scale = np.abs(rank[np.isfinite(rank)]).max(initial=0.0)
        steps = np.round(np.nan_to_num(rank / scale if scale else rank, posinf=np.inf), 12)
        order = [number for number in np.argsort(steps, kind="stable").tolist() if number != unit.node]
        return order, score, self._obstacles.of(moves)

    def _scores(self, moves: Moves) -> FloatArray:
        """The goal after every move, less is better; infinite where that can't be said."""
        unknown = np.full(len(moves.nodes), np.inf)
        if not moves.clear:
            return unknown
        if self._held is not None:
            return np.where(moves.unlinked, np.inf, self._held.values_on(moves.unit.members, moves.nodes))
        if self._judges_all:
            return np.array([self._cost(self.judged(moves.unit, node)) for node in moves.nodes.tolist()])
        return unknown

    @cached_property
    def _judges_all(self) -> bool:
        """Whether every move goes before the judge: equal results count once, and nodes are few."""
        situation = self._situation
        return situation.problem.sharing_keys.possible and len(situation.network.nodes) <= MOST_READERS

    def judged(self, unit: Unit, node: int) -> Alternative:
        """A move as the judge sees it."""
        before = self.judge.before
        moved = self.judge.moved(unit.members, node)
        after = self.judge.verdict(moved)
        change = None
        if after.objective is not None and before.objective is not None:
            change = after.objective - before.objective
        goal = self.judge.goal
        better = change is not None and (change > 0 if goal is not None and goal.maximise else change < 0)
        if change is not None and abs(change) <= TIE * max(
            abs(after.objective or 0), abs(before.objective or 0)
        ):
            change, better = 0.0, False
        mends = after.mended(before)
        trouble = tuple(dict.fromkeys([*after.new_trouble(before), *_without_link(moved, unit)]))
        trouble = trouble or self._unsurvived(moved)
        return Alternative(
            self._situation.network.nodes[node].name,
            after.objective,
            change,
            better,
            trouble,
            () if trouble else mends,
        )

    def _unsurvived(self, moved: Situation) -> tuple[str, ...]:
        """What breaks after losses, with failovers found anew; asked of small plans that survive all."""
        losses = len(moved.problem.losses) * len(moved.used_nodes)
        if not losses or losses * len(moved.graph) > MOST_SURVIVED or any(self._lost_already):
            return ()
        failover = failover_of(moved.setting, replace(moved.plan, failover={}), moved.plan.seed)
        return tuple(loss_violations(Situation(moved.setting, replace(moved.plan, failover=failover))))

    @cached_property
    def _lost_already(self) -> tuple[str, ...]:
        return tuple(loss_violations(self._situation))

    def _first_open(self, unit: Unit, nodes: list[int]) -> tuple[Alternative | None, list[Alternative]]:
        """The first of some nodes that breaks nothing, and those before it."""
        keys = self._situation.problem.sharing_keys
        reads = keys.possible or any(self._reads(number) for number in unit.members.tolist())
        refused: list[Alternative] = []
        accepted: list[Alternative] = []
        for node in nodes[: MOST_READERS if reads else MOST_JUDGED]:
            found = self.judged(unit, node)
            if found.breaks:
                refused.append(found)
                continue
            accepted.append(found)
            if not reads:
                break
        return (min(accepted, key=self._cost) if accepted else None), refused

    def _cost(self, found: Alternative) -> float:
        if found.objective is None:
            return np.inf
        maximise = self.judge.goal is not None and self.judge.goal.maximise
        return -found.objective if maximise else found.objective

    def _forbidden(self, unit: Unit, better: list[int], refused: list[Alternative]) -> Iterator[Alternative]:
        """The best of the nodes that would be better and are forbidden."""
        judged = [self.judged(unit, node) for node in better[:MOST_FORBIDDEN]]
        candidates = [item for item in [*judged, *refused] if item.better and item.breaks]
        yield from sorted(candidates, key=self._cost)[:MOST_FORBIDDEN]

    def _index(self, found: Alternative) -> int:
        return self._situation.network.index[found.node]

    def _reads(self, instance: int) -> bool:
        graph = self._situation.graph
        return bool(graph.operators[graph.operator_of[instance]].operator.reads)


def _without_link(situation: Situation, unit: Unit) -> list[str]:
    """The links that a unit's streams need and that don't exist, whether or not others lack them, too."""
    pairs, nodes = situation.pairs, situation.node_of
    touched = np.isin(pairs.sender, unit.members) | np.isin(pairs.receiver, unit.members)
    ends = nodes[pairs.sender[touched]], nodes[pairs.receiver[touched]]
    placed = (ends[0] >= 0) & (ends[1] >= 0)
    sender, receiver = ends[0][placed], ends[1][placed]
    gone = ~situation.network.table.connected[sender, receiver]
    lacking = zip(sender[gone].tolist(), receiver[gone].tolist(), strict=True)
    return list(missing_lines(situation.network, lacking, "stream"))


def _nearness(moves: Moves) -> FloatArray:
    """Where no score can be computed: the delays to all that the unit exchanges streams with."""
    sender, receiver = moves.touched_ends
    placed = (sender >= 0) & (receiver >= 0)
    delay = np.zeros(sender.shape)
    delay[placed] = moves.situation.network.table.delay_ms[sender[placed], receiver[placed]]
    return np.asarray(np.where(np.isnan(delay), np.inf, delay).sum(axis=0))


def _any(obstacles: dict[str, BoolArray], size: int) -> BoolArray:
    blocked = np.zeros(size, dtype=bool)
    for forbids in obstacles.values():
        blocked |= forbids
    return blocked
