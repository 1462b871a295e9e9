"""Search: good plans soon, better ones until the time is over, for problems of any size."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Situation
from berth.evaluation.evaluate import evaluation_of
from berth.evaluation.goal import Goal
from berth.evaluation.situation import assignment_of
from berth.exact.minimise import LARGEST_LOOKAHEAD
from berth.exact.paths import PathTimes
from berth.exact.placement import Placement, modelled, unmodelled
from berth.exact.start import first_plan
from berth.model import Download, Plan
from berth.model.pair_fields import AllPairsError
from berth.policies.downloads import choose_downloads
from berth.policies.odp import infeasible
from berth.policies.policy import About, Answer, Task, problem_goal
from berth.policies.search.cycles import TIMES, LocalSearch
from berth.policies.search.surviving import search_survivable

LONGEST_REASON = 3
"""Broken constraints that a reason names."""
JUDGING = 0.2
"""The share of the time that judging plans may take, where they are large."""
STEPS_WITHOUT_LIMIT = 50_000_000


@dataclass(frozen=True)
class SearchParameters:
    """What users may set."""

    steps: int | None = field(
        default=None,
        metadata={"help": "steps to search, with the same plan every time; none: until the time limit"},
    )

    def __post_init__(self) -> None:
        if self.steps is not None and self.steps < 0:
            raise ValueError(f"steps: {self.steps} is below 0")


class Search:
    """The anytime policy."""

    about = About(
        name="search",
        paper="berth's own: local search with incremental evaluation",
        optimises="any objective but those of containers; proves nothing",
        holds="all but containers and reuse; object downloads are chosen afterwards",
    )
    parameters = SearchParameters
    keeps_order = True
    survives = True

    def solve(self, task: Task) -> Answer:
        """Improve plans until the time or the steps are over."""
        if any(application.containers is not None for application in task.problem.applications):
            reason = "search fills no containers; try --policy mips"
            return Answer("unknown", reason=reason)
        try:
            goal = problem_goal(task)
        except AllPairsError as error:
            reason = f"no bounds to normalise with: {error}; give objective_bounds, or objective_scale: raw"
            return Answer("unknown", reason=reason)
        if goal is None:
            return infeasible(task)
        if task.problem.losses:
            return search_survivable(task, goal, lambda part, goal: _Run(part, goal).answer())
        return _Run(task, goal).answer()


class _Run:
    """One search, with every plan that counts judged."""

    def __init__(self, task: Task, goal: Goal) -> None:
        self._task, self._goal = task, goal
        setting = modelled(task.setting)
        self._setting = setting
        self._placement = Placement(self._setting, prune=False)
        self._judged = np.inf
        self._nodes: NDArray[np.intp] | None = None
        self._downloads: tuple[Download, ...] = ()
        self._incumbents: list[list[float]] = []
        self._refused: tuple[str, ...] = ()
        self._next_judgement = 0.0

    def answer(self) -> Answer:
        """Search, and say what came of it."""
        steps: int | None = self._task.parameters.steps
        if steps is None and np.isinf(self._task.budget.remaining):
            steps = STEPS_WITHOUT_LIMIT
        self._search = LocalSearch(self._placement, self._goal, self._task.seed)
        alone = self._nowhere()
        if alone is not None:
            return Answer("unknown", goal=self._goal, reason=f"no plan found: {alone}")
        self._search.start()
        self._look_ahead()
        if self._task.start is not None:
            self._search.offer(self._task.start)
        self._search.run(self._task.budget, steps, self._look)
        self._look(last=True)
        return self._concluded()

    def _look_ahead(self) -> None:
        """Where paths count, `odp`'s first plan is a start as well: it knows the least of what is left."""
        paths = [name for name in TIMES if self._goal.weights.get(name)]
        if not paths or self._placement.size > LARGEST_LOOKAHEAD:
            return
        times = PathTimes(self._placement, loaded=paths[0].startswith("loaded"))
        blocks = first_plan(self._placement, self._goal, times)
        if blocks is not None:
            self._search.offer(self._placement.nodes_of_instances(blocks))

    def _nowhere(self) -> str | None:
        """Why some block fits nowhere, even alone; None: each does."""
        empty = np.flatnonzero(self._search.case.choices == 0)
        if len(empty) == 0:
            return None
        members = self._placement.blocks[int(empty[0])]
        names = ", ".join(self._placement.graph.names[number] for number in members)
        return f"no node may host {names} and has room for it"

    def _look(self, last: bool = False) -> None:
        """Judge the best plan, if it is new."""
        search = self._search
        if not search.whole or not search.value < self._judged:
            return
        if not last and self._nodes is not None and self._task.budget.elapsed < self._next_judgement:
            return
        began = time.perf_counter()
        nodes = self._placement.nodes_of_instances(search.nodes)
        evaluation, downloads = self._evaluated(nodes)
        objective = self._goal.value(evaluation.metrics)
        if evaluation.violations or objective is None:
            self._refused = evaluation.violations
            search.forget()
        else:
            self._judged = search.value
            self._keep(nodes, downloads, objective)
        spent = time.perf_counter() - began
        self._next_judgement = self._task.budget.elapsed + spent / JUDGING

    def _keep(self, nodes: NDArray[np.intp], downloads: tuple[Download, ...], objective: float) -> None:
        known = self._incumbents[-1][1] if self._incumbents else None
        if known is not None and (objective < known if self._goal.maximise else objective > known):
            # Where equal operators share work, the judge sees more than the search.
            return
        # The last of equally good plans: which others are judged before depends on the clock.
        self._nodes, self._downloads = nodes.copy(), downloads
        if objective != known:
            self._incumbents.append([round(self._task.budget.elapsed, 3), objective])
            self._task.progress(objective, None)

    def _evaluated(self, nodes: NDArray[np.intp]) -> Any:
        setting, problem = self._task.setting, self._task.problem
        downloads = choose_downloads(setting, nodes)
        plan = Plan(assignment_of(problem, nodes), downloads=downloads, goal=dict(self._goal.weights))
        return evaluation_of(Situation(setting, plan)), downloads

    def _concluded(self) -> Answer:
        search, budget = self._search, self._task.budget
        trace: dict[str, Any] = {
            "steps": search.steps,
            "evaluated": search.evaluated,
            "cycles": search.cycles,
            "incumbents": self._incumbents,
        }
        left_out = unmodelled(self._task.problem)
        if left_out is not None:
            trace["not_in_search"] = left_out
        if self._nodes is None:
            return Answer("unknown", goal=self._goal, reason=self._why(), trace=trace)
        return Answer(
            "feasible",
            nodes=self._nodes,
            goal=self._goal,
            reason=budget.reason if budget.over else None,
            trace=trace,
            downloads=self._downloads,
        )

    def _why(self) -> str:
        """What stood in the way of a plan."""
        lines = self._refused
        if not lines:
            evaluation, _ = self._evaluated(self._placement.nodes_of_instances(self._search.nodes))
            lines = evaluation.violations
        named = "; ".join(lines[:LONGEST_REASON])
        more = f"; and {len(lines) - LONGEST_REASON} more" if len(lines) > LONGEST_REASON else ""
        ended = self._task.budget.reason if self._task.budget.over else f"{self._search.steps} steps"
        return f"no plan found ({ended}); the nearest one breaks: {named}{more}"
