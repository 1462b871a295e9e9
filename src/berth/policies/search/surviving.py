"""Plans that survive losses: searched in rounds, each of which leaves free what failovers lacked before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.engine.failovers import Survivors, search_failover
from berth.evaluation import Occupied, Setting, Situation
from berth.evaluation.evaluate import evaluation_of
from berth.evaluation.goal import Goal
from berth.evaluation.limits import Capacity, LongestResponse, Processor
from berth.evaluation.situation import assignment_of
from berth.model import Application, Plan
from berth.model.randomness import generator_for
from berth.policies.policy import Answer, Task

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
Round = Callable[[Task, Goal], Answer]
"""A search that knows nothing of losses."""

SHARE, LONGER = 0.2, 0.5
"""The share of what is left that a round takes, and the same where the last one lacked nothing."""
RELAXED = 0.7
"""The share of what is kept free that stays so after a round that lacked nothing."""
FASTER = 0.5
"""How often a failover that is too slow asks for a faster plan; else, for another one."""
BANNED = 0.3
"""How likely each operator that is concerned is sent elsewhere."""
MOST_ROUNDS = 40
"""Beyond these, rounds would be too short to come to anything."""


def search_survivable(task: Task, goal: Goal, search: Round) -> Answer:
    """The best plan that survives every loss, of those that rounds of a search come to."""
    return _Rounds(task, goal, search).answer()


class _Rounds:
    """Rounds of a search, with the best plan so far."""

    def __init__(self, task: Task, goal: Goal, search: Round) -> None:
        self._task, self._goal, self._search = task, goal, search
        self._reserve = Reserve(task.setting, task.seed)
        self._best: tuple[float, Answer] | None = None
        self._start = task.start
        self._incumbents: list[list[float]] = []
        self._steps = 0
        self._examining = 0.0
        """Seconds that the last look at failovers took."""
        self._why = ""

    def answer(self) -> Answer:
        """Search until time or steps are over."""
        share, number = SHARE, 0
        last = Answer("unknown", goal=self._goal)
        for number in range(MOST_ROUNDS):
            last = self._round(share, number)
            if last.nodes is None:
                self._why = self._why or (last.reason or "")
                self._reserve.relax(RELAXED / 2)
            else:
                share = self._examined(last, last.nodes)
            if self._over:
                break
        trace = {
            **last.trace,
            "steps": self._steps,
            "rounds": number + 1,
            "incumbents": self._incumbents,
        }
        if self._best is None:
            return Answer("unknown", goal=self._goal, reason=self._why, trace=trace)
        budget = self._task.budget
        return replace(self._best[1], reason=budget.reason if budget.over else None, trace=trace)

    @property
    def _over(self) -> bool:
        steps = self._task.parameters.steps
        late = self._task.budget.remaining <= self._examining
        return late or (steps is not None and self._steps >= steps)

    def _round(self, share: float, number: int) -> Answer:
        steps: int | None = self._task.parameters.steps
        if steps is not None:
            left = steps - self._steps
            steps = left if number == MOST_ROUNDS - 1 else max(1, int(share * left), min(left, 1_000))
        task = replace(
            self._task,
            setting=self._reserve.setting,
            parameters=replace(self._task.parameters, steps=steps),
            seed=self._task.seed + number,
            budget=self._task.budget if steps is not None else self._part(share),
            report=lambda progress: None,
            start=self._start,
        )
        answer = self._search(task, self._goal.without_losses)
        self._steps += int(answer.trace.get("steps", 0))
        return answer

    def _part(self, share: float) -> Budget:
        """The time of a round: what is left after it is enough to look at its failovers."""
        budget = self._task.budget
        return budget.part(share, most=max(budget.remaining - self._examining, 0.1))

    def _examined(self, answer: Answer, nodes: IndexArray) -> float:
        """Give a plan its failovers; keep it if it is the best, or learn from it. The next round's share."""
        task, began = self._task, self._task.budget.elapsed
        after = {
            loss.name: search_failover(task.setting, loss, nodes, task.seed)
            for loss in task.problem.losses
            if loss.touches(nodes)
        }
        failover = {name: found.moves for name, found in after.items() if found is not None and found.moves}
        plan = Plan(assignment_of(task.problem, nodes), failover=failover)
        evaluation = evaluation_of(Situation(task.setting, plan))
        self._examining = task.budget.elapsed - began
        objective = self._goal.value(evaluation.metrics)
        if evaluation.violations or objective is None:
            self._why = self._why_not(evaluation.violations)
            self._reserve.learn([found for found in after.values() if found is not None and not found.whole])
            self._start = nodes
            return SHARE
        if self._best is None or self._better(objective, self._best[0]):
            self._best = objective, replace(answer, goal=self._goal, failover=failover)
            self._start = nodes
            self._incumbents.append([round(task.budget.elapsed, 3), objective])
            task.progress(objective, None)
        free = self._reserve.empty
        self._reserve.relax(RELAXED)
        return LONGER if free else SHARE

    def _better(self, one: float, other: float) -> bool:
        return one > other if self._goal.maximise else one < other

    def _why_not(self, lines: tuple[str, ...]) -> str:
        more = f"; and {len(lines) - 1} more" if len(lines) > 1 else ""
        return f"no plan found that survives every loss; the nearest one breaks: {lines[0]}{more}"


class Reserve:
    """What plans leave free: room on nodes, time of applications, and nodes that operators keep away from."""

    def __init__(self, setting: Setting, seed: int) -> None:
        self._setting = setting
        self._amounts: dict[str, FloatArray] = {}
        self._busy = np.zeros(len(setting.problem.network.nodes))
        self._sooner = np.zeros(len(setting.problem.applications))
        self._banned: set[tuple[int, int]] = set()
        self._random = generator_for(seed)

    @property
    def empty(self) -> bool:
        """Whether nothing is left free."""
        amounts = (*self._amounts.values(), self._busy, self._sooner)
        return not self._banned and not any(part.any() for part in amounts)

    @property
    def setting(self) -> Setting:
        """The setting without what is left free, and without losses."""
        whole, problem = self._setting, self._setting.problem
        size = len(problem.network.nodes)
        taken = whole.occupied or Occupied({}, np.zeros(size), np.zeros(size))
        amounts = dict(taken.amounts)
        for resource, amount in self._amounts.items():
            amounts[resource] = amounts.get(resource, np.zeros(size)) + amount
        occupied = Occupied(amounts, taken.busy + self._busy, taken.operators)
        applications = tuple(map(self._guarded, range(len(problem.applications)), problem.applications))
        guarded = replace(problem, survive=None, applications=applications)
        return replace(
            whole,
            problem=guarded,
            occupied=whole.occupied if self.empty else occupied,
            ceilings=tuple(replace(item, goal=item.goal.without_losses) for item in whole.ceilings),
        )

    def _guarded(self, number: int, application: Application) -> Application:
        """An application that is faster than it has to be, and keeps away from some nodes."""
        graph, latest = self._setting.graph, application.max_response_time_ms
        operators = list(application.operators)
        for position, operator in enumerate(operators):
            index = graph.operator_index[f"{application.name}/{operator.name}"]
            nodes = [
                node for node in graph.allowed_nodes[index].tolist() if (index, node) not in self._banned
            ]
            if 0 < len(nodes) < len(graph.allowed_nodes[index]):
                names = tuple(self._setting.problem.network.nodes[node].name for node in nodes)
                operators[position] = replace(operator, candidates=names)
        return replace(
            application,
            operators=tuple(operators),
            max_response_time_ms=None if latest is None else max(latest - self._sooner[number], 0.0),
        )

    def relax(self, share: float) -> None:
        """Leave only a share of it free."""
        for part in (*self._amounts.values(), self._busy, self._sooner):
            part *= share
            part[part < 1e-6 * part.max(initial=0.0)] = 0.0
        self._banned = {item for item in sorted(self._banned) if self._random.uniform() < share}

    def learn(self, missed: Iterable[Survivors]) -> None:
        """What failovers would have needed beyond what there is."""
        short: dict[str, FloatArray] = {}
        busy, late = np.zeros_like(self._busy), np.zeros_like(self._sooner)
        for item in missed:
            lacked = _lacked(item)
            for limit, excess in lacked:
                if isinstance(limit, Capacity):
                    known = short.setdefault(limit.resource, np.zeros(len(excess)))
                    np.maximum(known, excess, out=known)
                elif isinstance(limit, Processor):
                    np.maximum(busy, excess, out=busy)
                elif isinstance(limit, LongestResponse) and self._random.uniform() < FASTER:
                    np.maximum(late, excess, out=late)
                else:
                    self._ban(item)
            if not lacked:
                self._ban(item)
        for resource, amount in short.items():
            self._amounts[resource] = self._amounts.get(resource, np.zeros(len(amount))) + amount
        self._busy += busy
        self._sooner += late

    def _ban(self, item: Survivors) -> None:
        """Something else is in the way: some of what moves, or of what it has to do with, goes elsewhere."""
        graph, placement, kept = self._setting.graph, item.placement, item.loss.kept
        for block in _concerned(item).tolist():
            if self._random.uniform() < BANNED:
                first = int(kept[placement.blocks[block][0]])
                moves = graph.names[first] in item.moves
                nodes = item.loss.nodes.tolist() if moves else [int(item.nodes[block])]
                self._banned |= {(int(graph.operator_of[first]), node) for node in nodes}


def _concerned(item: Survivors) -> IndexArray:
    """Blocks that move, those that exchange anything with them, and those under the same rules.

    Where routes went over what is lost, also those that stay and can't reach each other any more.
    """
    placement = item.placement
    moves = np.zeros(len(placement.blocks), dtype=bool)
    moves[[placement.block_of[placement.graph.index[name]] for name in item.moves]] = True
    concerned = moves.copy()
    for edge in placement.edges:
        ends = [edge.first, edge.second]
        first, second = (np.searchsorted(placement.candidates[end], item.nodes[end]) for end in ends)
        if moves[ends].any() or not placement.linked(edge)[first, second]:
            concerned[ends] = True
    for limit in placement.limits:
        if not limit.of.of_nodes and (limit.needed[moves] > 0).any():
            concerned |= limit.needed > 0
    return np.flatnonzero(concerned)


def _lacked(item: Survivors) -> list[tuple[Any, FloatArray]]:
    """Limits of nodes and response times that a failover exceeds, and by how much."""
    lacked: list[tuple[Any, FloatArray]] = []
    for limit in item.placement.limits:
        if isinstance(limit.of, Capacity | Processor):
            used = np.bincount(limit.of.place_of[item.nodes], limit.needed, len(limit.of.room))
            excess = np.where(used > limit.of.room * (1 + 1e-9), used - limit.of.room, 0.0)
            if excess.any():
                lacked.append((limit.of, excess))
    if not lacked:
        setting = item.placement.setting
        nodes = item.placement.nodes_of_instances(item.nodes)
        situation = Situation(setting, Plan(assignment_of(setting.problem, nodes)))
        latest = LongestResponse(setting)
        numbers, needed, there = latest.amounts(situation)
        late = np.zeros(len(setting.problem.applications))
        late[numbers] = np.maximum(needed - there, 0.0)
        if late.any():
            lacked.append((latest, late))
    return lacked
