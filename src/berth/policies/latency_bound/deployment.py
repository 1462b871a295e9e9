"""Applications one after the other, each brought within its bound while later ones are not there yet.

They begin on a previous plan's hosts, or else where MOPA maps them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from berth.evaluation import Setting
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.model.randomness import generator_for
from berth.policies.latency_bound.candidates import CandidateSearch, Loads
from berth.policies.latency_bound.delays import DelayModel
from berth.policies.latency_bound.satisfaction import Bound, Placement, Satisfaction
from berth.policies.latency_space import MopaParameters, Placed, mopa_mapping
from berth.policies.latency_space.hosts import Hosts
from berth.policies.latency_space.units import UnitGraph, unit_graph
from berth.policies.policy import Task
from berth.space.network_space import Space, space_of


@dataclass(frozen=True, eq=False)
class Start:
    """Who runs already is on its host; others come when it is their turn."""

    hosts: Hosts
    places: FloatArray
    """x*, the virtual position of every unit."""
    mapped: IndexArray
    """Where MOPA puts every unit."""
    first: IndexArray
    """Where every unit began; -1: it has not come yet."""
    running: BoolArray
    """The instances that run already, by the previous plan."""
    messages: int
    """What MOPA sent."""

    def arrive(self, units: IndexArray) -> None:
        """Put those of some units that have no host yet where MOPA maps them, or nearby.

        Raises:
            NoHostError: no node has room for something.
        """
        for unit in units[self.hosts.node[units] < 0].tolist():
            node = int(self.mapped[unit])
            if not self.hosts.fits(unit, self.mapped[unit : unit + 1])[0]:
                node = int(self.hosts.nearest(unit, self.places[unit])[0])
            self.hosts.put(unit, node)
        self.first[units] = self.hosts.node[units]


def start(setting: Setting, space: Space, refine: bool, at_once: bool = False) -> Start:
    """Where everything begins. `at_once`: all get their room now, by one mapping of all.

    Raises:
        NoHostError: no node has room for something.
        NoEndError: MOPA's search did not end.
        BadInput: a stream's rate is not known.
    """
    problem = setting.problem
    # With places recorded, MOPA goes on from them where streams or coordinates have changed; a plan of
    # other makers is taken as it is.
    adapting = setting.previous is not None and "positions" in setting.previous.trace
    if at_once:
        alone = Setting(problem, None, setting.occupied)
        placed = mopa_mapping(alone, space, MopaParameters(refine=refine))
    else:
        placed = _by_mopa(setting, adapting, space, refine)
    graph = unit_graph(problem)
    hosts = Hosts(setting, graph, space)
    mapped, before = placed.nodes[graph.first], _previous(setting, graph)
    stays = (before == mapped) | ((before >= 0) & np.array(not adapting))
    for unit in [] if at_once else np.flatnonzero(stays & (graph.fixed < 0)).tolist():
        if hosts.fits(unit, before[unit : unit + 1])[0]:
            hosts.put(unit, int(before[unit]))
    running = (before >= 0) & (before == hosts.node)
    first, messages = hosts.node.copy(), int(placed.counters.get("messages", 0))
    places = placed.positions[graph.first]
    began = Start(hosts, places, mapped, first, running[graph.unit_of], messages)
    if at_once:
        began.arrive(np.arange(len(graph)))
    return began


def _by_mopa(setting: Setting, adapting: bool, space: Space, refine: bool) -> Placed:
    """Each application as MOPA places it alone: they come one after the other, and each is on its own."""
    problem, previous = setting.problem, setting.previous if adapting else None
    alone = [replace(problem, applications=(application,)) for application in problem.applications]
    # The problem itself, where it has one: what is known of its instances need not be worked out again.
    settings = [
        Setting(part, previous, setting.occupied) for part in (alone if len(alone) > 1 else [problem])
    ]
    parameters = MopaParameters(refine=refine)
    parts = [mopa_mapping(setting, space, parameters) for setting in settings]
    messages = sum(int(part.counters.get("messages", 0)) for part in parts)
    nodes = np.concatenate([part.nodes for part in parts])
    return Placed(nodes, np.concatenate([part.positions for part in parts]), {"messages": messages})


def _previous(setting: Setting, graph: UnitGraph) -> IndexArray:
    """Where each unit was; -1: nowhere, on a machine that is gone, or on several."""
    if setting.previous_nodes is None:
        return np.full(len(graph), -1, dtype=np.intp)
    nodes = setting.previous_nodes
    before = nodes[graph.first]
    together = np.ones(len(graph), dtype=bool)
    np.logical_and.at(together, graph.unit_of, nodes == before[graph.unit_of])
    return np.where(together & (before < len(setting.problem.network.nodes)), before, -1)


def deploy(task: Task, bounds: list[Bound | None], at_once: bool) -> tuple[Satisfaction, Start]:
    """Place everything, as far as that goes within its bounds.

    Raises:
        NoHostError: no node has room for something.
        NoEndError: MOPA's search did not end.
        BadInput: a stream's rate is not known.
    """
    parameters = task.parameters
    network, fixed = task.problem.network, parameters.mode == "fixed"
    space = space_of(network, task.seed)
    began = start(task.setting, space, parameters.refine, at_once)
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
    state = Placement(began.hosts, DelayModel(task.problem), loads, began.places)
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
