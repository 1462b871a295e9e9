"""Applications one after the other, each brought within its bound while later ones are not there yet."""

from __future__ import annotations

import numpy as np

from berth.model.randomness import generator_for
from berth.policies.bounded.bounds import Bound
from berth.policies.bounded.candidates import CandidateSearch
from berth.policies.bounded.delays import DelayModel
from berth.policies.bounded.loads import Loads
from berth.policies.bounded.parameters import LatencyBoundParameters
from berth.policies.bounded.satisfaction import Satisfaction
from berth.policies.bounded.start import Start, start
from berth.policies.bounded.state import State
from berth.policies.latency_space import known_space
from berth.policies.policy import Task


def deploy(task: Task, bounds: list[Bound | None], at_once: bool) -> tuple[Satisfaction, Start]:
    """Place everything, as far as that goes within its bounds.

    Raises:
        NoHostError: no node has room for something.
        NoEndError: MOPA's search did not end.
        BadInput: a stream's rate is not known.
    """
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
        generator_for(task.seed),
        parameters.neighbours and fixed,
    )
    model, application_of = DelayModel(task.problem), task.setting.graph.application_of
    state = State(began.graph, began.hosts, model, loads, began.places, application_of)
    satisfaction = Satisfaction(state, search, parameters.restarts if fixed else 0, fixed)
    _bring_to_hold(task, satisfaction, began, bounds)
    return satisfaction, began


def _bring_to_hold(task: Task, satisfaction: Satisfaction, began: Start, bounds: list[Bound | None]) -> None:
    """Applications in the order of the file; then again those that held until others came."""
    application_of = task.setting.graph.application_of
    state, loads = satisfaction.state, satisfaction.state.loads

    def over() -> bool:
        return task.budget.over

    loads.host(state.nodes[began.running])
    held: dict[int, Bound] = {}
    if task.parameters.mode == "fixed":
        satisfaction.held = held
    for application, bound in enumerate(bounds):
        own = application_of == application
        began.arrive(np.unique(state.graph.unit_of[own]))
        new = own & ~began.running
        before = np.where(new, -1, state.nodes)[own]
        loads.host(state.nodes[new])
        if bound is not None:
            loads.begin()
            if satisfaction.satisfy(application, bound, over):
                held[application] = bound
        loads.end(before, state.nodes[own])
    for _ in range(task.parameters.rounds):
        loads.begin()
        slowed = [(number, bound) for number, bound in held.items() if satisfaction.broken(number, bound)]
        for application, bound in slowed:
            own = application_of == application
            before = state.nodes[own]
            loads.begin()
            if not satisfaction.satisfy(application, bound, over):
                del held[application]
            loads.end(before, state.nodes[own])
        if not slowed:
            break
