"""Placement under a latency bound (paper 002): from MOPA's mapping, as few detours as the bound asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.goal import Goal
from berth.policies.bounded.bounds import Bound, bounds_of, in_short, judged_latencies, missed
from berth.policies.bounded.candidates import MESSAGES_PER_CONTACT, CandidateSearch, Strategy
from berth.policies.bounded.delays import DelayModel
from berth.policies.bounded.loads import Loads
from berth.policies.bounded.satisfaction import Satisfaction
from berth.policies.bounded.start import Start, start
from berth.policies.downloads import choose_downloads
from berth.policies.latency_space import NoEndError, NoHostError, known_space
from berth.policies.latency_space.adaptation import record
from berth.policies.policy import About, Answer, Task

IndexArray = NDArray[np.intp]

GOAL = Goal({"network_usage": 1.0})


@dataclass(frozen=True)
class LatencyBoundParameters:
    """What users may set."""

    bound_ms: float | None = field(
        default=None,
        metadata={"help": "the bound R of every application; none: each one's max_response_time_ms"},
    )
    candidates: Strategy = field(
        default="cknn",
        metadata={
            "help": "hosts asked: all in the ellipse, the k nearest, k at random, the k nearest useful"
        },
    )
    k: int = field(default=5, metadata={"help": "size of a candidate set, but for el"})
    stale: float = field(
        default=0.0,
        metadata={"help": "placements of other applications for each host contacted that are not heard of"},
    )
    restarts: int = field(
        default=3,
        metadata={"help": "how often a bound above 0 gets new candidates once these are used up"},
    )
    rounds: int = field(
        default=3, metadata={"help": "how often applications are looked at again that later ones slowed down"}
    )
    refine: bool = field(
        default=True, metadata={"help": "MOPA's mapping tries near nodes by measured delays first"}
    )
    neighbours: bool = field(
        default=True,
        metadata={"help": "hosts of an operator's neighbours on the path are candidates without a contact"},
    )
    mode: Literal["fixed", "paper"] = field(
        default="fixed", metadata={"help": "paper: candidates are judged once, when their list is made"}
    )

    def __post_init__(self) -> None:
        if self.bound_ms is not None and not (self.bound_ms >= 0 and isfinite(self.bound_ms)):
            raise ValueError(f"bound_ms: {self.bound_ms} is not 0 or above")
        if self.k < 1:
            raise ValueError(f"k: {self.k} is below 1")
        if not (self.stale >= 0 and isfinite(self.stale)):
            raise ValueError(f"stale: {self.stale} is not 0 or above")
        for name in ("restarts", "rounds"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}: {getattr(self, name)} is below 0")


class LatencyBound:
    """The least network usage first, then moves off the longest path until the bound holds."""

    about = About(
        name="latency-bound",
        paper="002: Rizou et al., Fulfilling End-to-End Latency Constraints (2011)",
        optimises="network usage under a bound on loaded_response_time",
        holds="candidates, hosts, 'where' and 'together' rules, capacities, processors; a bound or says so",
    )
    parameters = LatencyBoundParameters

    def solve(self, task: Task) -> Answer:
        """Start from a mapping, place application after application, move what is too slow."""
        bounds = bounds_of(task.problem, task.parameters.bound_ms)
        try:
            state, began = _placed(task, bounds, at_once=False)
        except NoHostError:
            # One after the other some find no room any more: all together might.
            try:
                state, began = _placed(task, bounds, at_once=True)
            except (NoHostError, NoEndError) as error:
                return Answer("unknown", goal=GOAL, reason=str(error))
        except NoEndError as error:
            return Answer("unknown", goal=GOAL, reason=str(error))
        return _answer(task, state, began, bounds)


def _placed(task: Task, bounds: list[Bound | None], at_once: bool) -> tuple[Satisfaction, Start]:
    """Everything placed and, as far as that goes, within its bounds."""
    parameters: LatencyBoundParameters = task.parameters
    network, fixed = task.problem.network, parameters.mode == "fixed"
    space = known_space(network, task.seed)
    began = start(task.setting, space, parameters.refine, task.seed, at_once)
    loads = Loads(network.run_queue, parameters.stale)
    search = CandidateSearch(
        space,
        network.speed,
        loads,
        parameters.candidates,
        parameters.k,
        np.random.default_rng(task.seed),
        parameters.neighbours and fixed,
    )
    state = Satisfaction(
        began.graph,
        began.hosts,
        DelayModel(task.problem),
        loads,
        search,
        began.places,
        parameters.restarts if fixed else 0,
        revalidate=fixed,
    )
    _bring_to_hold(task, state, began, bounds)
    return state, began


def _bring_to_hold(task: Task, state: Satisfaction, began: Start, bounds: list[Bound | None]) -> None:
    """Applications in the order of the file; then again those that held until others came."""
    application_of = task.setting.graph.application_of
    loads, over = state.loads, (lambda: task.budget.over)
    loads.host(state.nodes[began.running])
    held: list[int] = []
    for application, bound in enumerate(bounds):
        own = application_of == application
        began.arrive(np.unique(state.graph.unit_of[own]))
        new = own & ~began.running
        before = np.where(new, -1, state.nodes)[own]
        loads.host(state.nodes[new])
        if bound is not None:
            loads.begin()
            if state.satisfy(application, bound, over):
                held.append(application)
        loads.end(before, state.nodes[own])
    for _ in range(task.parameters.rounds):
        loads.begin()
        slowed = [(k, bound) for k in held if (bound := bounds[k]) is not None and state.broken(k, bound)]
        for application, bound in slowed:
            own = application_of == application
            before = state.nodes[own]
            loads.begin()
            if not state.satisfy(application, bound, over):
                held.remove(application)
            loads.end(before, state.nodes[own])
        if not slowed:
            break


def _answer(task: Task, state: Satisfaction, began: Start, bounds: list[Bound | None]) -> Answer:
    """What the judge finds of it: the bounds kept, or by how much they are missed."""
    nodes, first = state.nodes, began.first[began.graph.unit_of]
    latencies = judged_latencies(task.setting, nodes)
    unmoved = bool((nodes == first).all())
    first_latencies = latencies if unmoved else judged_latencies(task.setting, first)
    trace = _trace(task, state, began, bounds, latencies, first_latencies)
    downloads = choose_downloads(task.setting, nodes)
    if latencies is None:
        reason = "latencies are not known: streams go between nodes that have no link"
        return Answer("unknown", nodes, GOAL, reason=reason, trace=trace, downloads=downloads)
    lines = missed(task.problem, bounds, latencies)
    if lines:
        why = task.budget.reason if task.budget.over else "latency_minimum"
        reason = f"{why}: {in_short(lines)}"
        return Answer("unknown", nodes, GOAL, reason=reason, trace=trace, downloads=downloads)
    return Answer("feasible", nodes, GOAL, trace=trace, downloads=downloads)


def _trace(
    task: Task,
    state: Satisfaction,
    began: Start,
    bounds: list[Bound | None],
    latencies: list[float] | None,
    first_latencies: list[float] | None,
) -> dict[str, Any]:
    counters = state.counters
    asked = MESSAGES_PER_CONTACT * counters.contacts
    names = [application.name for application in task.problem.applications]
    trace: dict[str, Any] = {
        "messages": began.messages + asked,
        "candidate_messages": asked,
        "candidate_sets": counters.candidate_sets,
        "messages_per_candidate_set": asked / counters.candidate_sets if counters.candidate_sets else 0.0,
        "candidates_kept": counters.kept,
        "ellipse_sizes": counters.ellipses,
        "moves": counters.moves,
        "restarts": counters.restarts,
        "bound_ms": {name: bound.loaded_ms for name, bound in zip(names, bounds, strict=True) if bound},
    }
    space = known_space(task.problem.network, task.seed)
    trace |= record(task.setting, state.graph, space, state.places, state.hosts.node)
    if first_latencies is not None:
        trace["start_latency_ms"] = dict(zip(names, first_latencies, strict=True))
    if latencies is not None:
        trace["latency_ms"] = dict(zip(names, latencies, strict=True))
    if task.setting.previous is not None:
        everything = np.arange(len(task.setting.graph))
        trace["migrations"] = int(task.setting.moved(everything, state.nodes).sum())
    return trace
