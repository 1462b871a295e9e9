"""Limits of places: what the instances there need in sum.

A place is a node, or all nodes that have one value of a label.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.limits.limit import SAFE_TOLERANCE, Limit, More, Use, against, amount
from berth.evaluation.situation import Setting, Situation
from berth.model import Apart, Network, Node, Problem, Spread

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


class PlaceLimit(Limit):
    """What the instances at a place need in sum is at most what the place has room for."""

    family: str
    """What all limits of this kind are called where constraints clash."""
    label: str
    """What forbids a move, in a word or two."""
    picture_label: str | None = None
    """What pictures call it, if not by its label."""
    only_share = False
    """Whether pictures show only the share in use, and no amounts."""
    once = True
    """Whether equal computations on one node need it once, at the highest rate, and not each of them."""

    def __init__(self, network: Network, needed: FloatArray, place_of: IndexArray, room: FloatArray) -> None:
        self.network = network
        self.needed = needed.astype(np.float64, copy=False)
        """By instance, where nothing is reused."""
        self.place_of = place_of
        """By node, the place that it belongs to."""
        self.room = room.astype(np.float64, copy=False)
        """By place."""

    @abstractmethod
    def asked(self, place: int) -> str:
        """What it asks for at a place: a line in a list of constraints that clash."""

    @abstractmethod
    def too_much(self, what: str, needed: float, place: int) -> str:
        """Operators (`what`) need more than the roomiest place that may host them has."""

    @abstractmethod
    def too_much_in_all(self, needed: float, there: float, places: int) -> str:
        """All operators together need more than all places have."""

    def needed_in(self, situation: Situation) -> FloatArray:
        """By instance, what it needs in a plan: reuse may raise it, containers may take its place."""
        return self.needed.copy()

    def used(self, situation: Situation) -> FloatArray:
        """By place, what is needed there."""
        instances = situation.running
        needed = self.needed_in(situation)[instances]
        if self.once:
            instances, needed = situation.computations[0], situation.per_computation(needed)
        places = self.place_of[situation.node_of[instances]]
        return np.bincount(places, needed, len(self.room)).astype(np.float64)

    def amounts(self, situation: Situation) -> tuple[IndexArray, FloatArray, FloatArray]:
        """The places where anything is needed, how much, and how much is there."""
        used = self.used(situation)
        places = np.flatnonzero(used > 0.0)
        return places, used[places], self.room[places]

    @property
    def matters(self) -> bool:
        """Whether anybody needs any of it."""
        return bool(self.needed.any())


class _NodeLimit(PlaceLimit):
    """A limit of every single node."""

    of_nodes = True

    def __init__(self, network: Network, needed: FloatArray, room: FloatArray) -> None:
        super().__init__(network, needed, np.arange(len(network.nodes)), room)

    def place_name(self, place: int) -> str:
        """The node's name."""
        return self.network.nodes[place].name


class Capacity(_NodeLimit):
    """What a node's instances and containers need of a resource, against what it has (000, 001 eq. 2)."""

    kind = "capacity"

    def __init__(self, setting: Setting, resource: str) -> None:
        super().__init__(setting.problem.network, setting.graph.demand(resource), setting.capacity(resource))
        self.resource = self.unit = self.label = resource
        self.family = f"{resource} of the nodes"

    def needed_in(self, situation: Situation) -> FloatArray:
        """By instance; what is in a container needs nothing more."""
        return np.where(situation.packed, 0.0, self.needed)

    def used(self, situation: Situation) -> FloatArray:
        """By node, with containers as a whole."""
        used = super().used(situation)
        for containers, node in situation.hosted_containers:
            used[node] += containers.capacity.get(self.resource, 0.0)
        return used

    def place_name(self, place: int) -> str:
        """The node and the resource."""
        return f"{super().place_name(place)} {self.resource}"

    def violation(self, use: Use) -> str:
        """What the judge says where it is exceeded."""
        headroom = self.network.headroom
        kept = f" (headroom {amount(headroom)} kept free)" if headroom else ""
        return f"node {super().place_name(use.place)}: {self.resource} {against(use)}{kept}"

    def way_out(self, use: Use) -> str:
        """What would make it fit."""
        kept = " free of headroom" if self.network.headroom else ""
        return f"{self.resource} {amount(use.needed)}{kept} instead of {amount(use.limit)} would suffice"

    def asked(self, place: int) -> str:
        """What it asks for at a node."""
        return f"node {super().place_name(place)}: at most {self.resource} {amount(self.room[place])}"

    def too_much(self, what: str, needed: float, place: int) -> str:
        """More than any candidate has."""
        most = float(self.room[place])
        has = f"the most is {amount(most)} on {super().place_name(place)}"
        none = f"no candidate node has {self.resource}"
        return f"{what} needs {self.resource} {amount(needed)}; {none if most == 0 else has}"

    def too_much_in_all(self, needed: float, there: float, places: int) -> str:
        """More than all nodes have."""
        return f"total {self.resource} {amount(needed)} needed, {amount(there)} there"

    def raised(self, problem: Problem, use: Use) -> Problem:
        """With as much as is needed."""
        return self._with(problem, use.place, use.needed / (1.0 - problem.network.headroom))

    def more(self, problem: Problem, use: Use) -> More | None:
        """Room for one more of the smallest operator or container."""
        sizes = [item.operator.demand.get(self.resource, 0.0) for item in problem.instances.operators]
        sizes += [a.containers.capacity.get(self.resource, 0.0) for a in problem.applications if a.containers]
        unit = min((size for size in sizes if size > 0), default=0.0)
        if not unit:
            return None
        there = problem.network.nodes[use.place].capacity.get(self.resource, 0.0)
        size = there + unit / (1.0 - problem.network.headroom)
        words = f"{self.resource}: {amount(unit)} more on {super().place_name(use.place)}"
        return More("capacity", words, self._with(problem, use.place, size))

    def _with(self, problem: Problem, number: int, size: float) -> Problem:
        node = problem.network.nodes[number]
        return problem.with_node(number, replace(node, capacity={**node.capacity, self.resource: size}))


class Processor(_NodeLimit):
    """Every node's processors keep up, in reference processors.

    Where there is a `max_utilisation`, they do with all loads, else with those of applications that ask for a
    throughput (004, constraint 1).
    """

    kind, unit, family, label = "processor", "processors", "processors", "processor"
    picture_label, only_share = "busy", True

    def __init__(self, setting: Setting) -> None:
        network, graph = setting.problem.network, setting.graph
        self._asked_only = network.max_utilisation is None
        loads = graph.asked_load if self._asked_only else graph.load
        super().__init__(network, np.nan_to_num(loads), setting.processors)

    def needed_in(self, situation: Situation) -> FloatArray:
        """By instance; a reused result may need more than its own application asks for."""
        if not situation.plan.reuse:
            return self.needed
        return np.nan_to_num(situation.asked_load if self._asked_only else situation.load)

    def violation(self, use: Use) -> str:
        """What the judge says where it is exceeded."""
        return f"node {use.name}: {_processors(use)}{_kept(self.network)}"

    def way_out(self, use: Use) -> str:
        """What would make it fit."""
        node = self.network.nodes[use.place]
        enough = amount(math.ceil(node.cores * use.share * (1.0 - 1e-9)))
        return f"{enough} cores instead of {amount(node.cores)} would keep up"

    def asked(self, place: int) -> str:
        """What it asks for at a node."""
        return f"node {self.place_name(place)}: at most {_counted(self.room[place])} busy"

    def too_much(self, what: str, needed: float, place: int) -> str:
        """More than any candidate can do."""
        most = f"the most is {amount(self.room[place])} on {self.place_name(place)}"
        return f"{what} needs {_counted(needed)}; {most}{_kept(self.network)}"

    def too_much_in_all(self, needed: float, there: float, places: int) -> str:
        """More than all nodes can do."""
        return f"total {_counted(needed)} needed, {amount(there)} there{_kept(self.network)}"

    def raised(self, problem: Problem, use: Use) -> Problem:
        """With cores enough."""
        node = problem.network.nodes[use.place]
        return problem.with_node(use.place, replace(node, cores=node.cores * use.share))

    def more(self, problem: Problem, use: Use) -> More:
        """One more core."""
        node = problem.network.nodes[use.place]
        words = f"one more core on {node.name} ({amount(node.cores + 1)})"
        return More("cores", words, problem.with_node(use.place, replace(node, cores=node.cores + 1.0)))


class Busy(Processor):
    """What keeps processors busy where nobody asks that they keep up with it: no constraint, but to be known.

    On a node where a load is unknown, only what is asked for counts.
    """

    def used(self, situation: Situation) -> FloatArray:
        """By node, all loads."""
        asked, known = super().used(situation), situation.node_load
        return np.where(np.isnan(known), asked, known)


class OneCore(Limit):
    """No instance needs more than one core of its node has: it can't use two at a time.

    Its places are instances on nodes, as numbers instance * nodes + node. Where a node has one core or less,
    the limit of the node says the same.
    """

    kind, unit, family = "core", "processors", "processors"

    def __init__(self, setting: Setting) -> None:
        self._of_nodes = Processor(setting)
        self.network, self._graph = setting.problem.network, setting.graph
        most = 1.0 if self.network.max_utilisation is None else self.network.max_utilisation
        self.room: FloatArray = most * self.network.speed
        """By node, what one of its cores can do."""
        self.needed = self._of_nodes.needed
        """By instance, where nothing is reused."""

    def fits(self, instances: Sequence[int] | IndexArray, nodes: IndexArray) -> BoolArray:
        """On which of some nodes a core keeps up with each of some instances."""
        needed = float(self.needed[instances].max(initial=0.0))
        return np.asarray(needed <= self.room[nodes] * (1.0 + SAFE_TOLERANCE))

    def needed_in(self, situation: Situation) -> FloatArray:
        """By instance, what it needs in a plan."""
        return self._of_nodes.needed_in(situation)

    def amounts(self, situation: Situation) -> tuple[IndexArray, FloatArray, FloatArray]:
        """Every instance that needs anything on a node of several cores."""
        numbers = situation.running
        nodes = situation.node_of[numbers]
        needed = self.needed_in(situation)[numbers]
        there = (needed > 0.0) & (self.network.cores[nodes] > 1.0)
        places = numbers[there] * len(self.network.nodes) + nodes[there]
        return places, needed[there], self.room[nodes[there]]

    def instance_and_node(self, place: int) -> tuple[int, int]:
        """The numbers of the instance and of its node."""
        return divmod(place, len(self.network.nodes))

    def _instance_and_node(self, place: int) -> tuple[str, str]:
        instance, node = self.instance_and_node(place)
        return self._graph.names[instance], self.network.nodes[node].name

    def place_name(self, place: int) -> str:
        """The instance and its node."""
        return "{} on {}".format(*self._instance_and_node(place))

    def asked(self, instance: int, node: int) -> str:
        """What it asks for: a line in a list of constraints that clash."""
        most = f"at most {_counted(self.room[node])} busy"
        return f"instance {self._graph.names[instance]} on {self.network.nodes[node].name}: {most}"

    def violation(self, use: Use) -> str:
        """What the judge says where it is exceeded."""
        instance, node = self._instance_and_node(use.place)
        return f"instance {instance}: {_processors(use)} in one core of {node}{_kept(self.network)}"

    def way_out(self, use: Use) -> str:
        """What would make it fit."""
        instance = use.place // len(self.network.nodes)
        enough = math.ceil(self._graph.operator_values("parallelism")[instance] * use.share * (1.0 - 1e-9))
        return f"cores {use.share:.3g} times as fast, or a parallelism of {enough}, would keep up"

    def more(self, problem: Problem, use: Use) -> More:
        """A node twice as fast."""
        number = use.place % len(problem.network.nodes)
        node = problem.network.nodes[number]
        words = f"{node.name} twice as fast (speed {amount(2 * node.speed)})"
        return More("speed", words, problem.with_node(number, replace(node, speed=2.0 * node.speed)))


class BusyCore(OneCore):
    """What keeps cores busy where nobody asks that they keep up with it: no constraint, but to be known."""

    def needed_in(self, situation: Situation) -> FloatArray:
        """By instance, its load where that is known."""
        return np.nan_to_num(situation.load)


def _counted(processors: float) -> str:
    """So many processors: 1 processor, 0.75 processors."""
    return f"{amount(processors)} {'processor' if processors == 1.0 else 'processors'}"


def _processors(use: Use) -> str:
    return f"{_counted(use.needed)} needed, {amount(use.limit)} there"


def _kept(network: Network) -> str:
    """What there is less of, because not all of it may be used."""
    most = network.max_utilisation
    return "" if most is None or most == 1.0 else f" (max_utilisation {amount(most)})"


class RuleLimit(PlaceLimit):
    """At most so many instances of some operators in a place: the rules `apart` and `spread`."""

    kind, unit, family, label = "rule", "instances", "rules", "rule"
    grows = once = False

    def __init__(self, setting: Setting, application: str, rule: Apart | Spread) -> None:
        network, graph = setting.problem.network, setting.graph
        self.application, self.rule = application, rule
        needed = np.zeros(len(graph))
        for name in rule.operators:
            item = graph.operators[graph.operator_index[f"{application}/{name}"]]
            needed[item.first : item.first + item.operator.parallelism] += 1.0
        places: dict[tuple[str, str], int] = {}
        numbers = [places.setdefault(place_of(node, rule.by), len(places)) for node in network.nodes]
        self._places = list(places)
        room = np.full(len(places), float(rule.most))
        super().__init__(network, needed, np.array(numbers, dtype=np.intp), room)

    @property
    def _operators(self) -> str:
        return ", ".join(self.rule.operators)

    @property
    def _wish(self) -> str:
        """What the rule wants, after its operators' names."""
        if isinstance(self.rule, Apart):
            return "apart"
        return f"at most {self.rule.most} on {'one node' if self.rule.by is None else f'one {self.rule.by}'}"

    def place_name(self, place: int) -> str:
        """The rule: which place is full differs from plan to plan."""
        return f"{self.application}: {self._operators} {self._wish}"

    def violation(self, use: Use) -> str:
        """What the judge says where it is exceeded."""
        kind, place = self._places[use.place]
        clash = f"{int(use.needed)} instances are on {kind} {place}"
        must = "must be apart" if isinstance(self.rule, Apart) else f"must be {self._wish}"
        return f"application {self.application}: {self._operators} {must}, but {clash}"

    def way_out(self, use: Use) -> str:
        """What would make it fit."""
        return f"{int(use.needed)} instances in one place would have to be allowed"

    def asked(self, place: int) -> str:
        """What it asks for, wherever."""
        return f"application {self.application}: {self._operators} {self._wish}"

    def too_much(self, what: str, needed: float, place: int) -> str:
        """Some of its operators must be together."""
        must = f"{self._operators} must be {self._wish}, but some of them together"
        return f"application '{self.application}': {must}"

    def too_much_in_all(self, needed: float, there: float, places: int) -> str:
        """More instances than all places take."""
        by = self.rule.by
        if isinstance(self.rule, Apart):
            wish = f"{self._operators} must be apart ({by or 'nodes'})"
        else:
            wish = f"at most {self.rule.most} of {self._operators} per {by or 'node'}"
        place = f"{'node' if by is None else 'place'}{'' if places == 1 else 's'}"
        counts = f"{int(needed)} instances, but only {places} {place}"
        return f"application '{self.application}': {wish}: {counts}"


def place_of(node: Node, by: str | None) -> tuple[str, str]:
    """What instances share for a rule: the node or, with `by`, the value of its label."""
    if by is not None and by in node.labels:
        return f"nodes with {by}", node.labels[by]
    return "node", node.name


_known: WeakKeyDictionary[Problem, tuple[PlaceLimit, ...]] = WeakKeyDictionary()
_known_cores: WeakKeyDictionary[Problem, OneCore | None] = WeakKeyDictionary()


def place_limits(setting: Setting) -> tuple[PlaceLimit, ...]:
    """Every limit of a place, less what others have taken."""
    if setting.occupied is not None:
        return tuple(_place_limits(setting))
    found = _known.get(setting.problem)
    if found is None:
        found = _known[setting.problem] = tuple(_place_limits(setting))
    return found


def _place_limits(setting: Setting) -> Iterator[PlaceLimit]:
    for application in setting.problem.applications:
        for rule in application.rules:
            if isinstance(rule, Apart | Spread):
                yield RuleLimit(setting, application.name, rule)
    packed = [item.containers.capacity for item in setting.problem.applications if item.containers]
    for resource in dict.fromkeys([*setting.graph.resources, *(name for size in packed for name in size)]):
        yield Capacity(setting, resource)
    if keeps_up(setting.problem):
        yield Processor(setting)


def shown_place_limits(setting: Setting) -> tuple[PlaceLimit, ...]:
    """Every limit of a place for people to see: of processors also where nobody asks that they keep up."""
    limits = place_limits(setting)
    if setting.problem.network.max_utilisation is not None:
        return limits
    return *(limit for limit in limits if not isinstance(limit, Processor)), Busy(setting)


def keeps_up(problem: Problem) -> bool:
    """Whether processors have to keep up with anything."""
    asked = any(item.throughput_per_s is not None for item in problem.applications)
    return asked or problem.network.max_utilisation is not None


def one_core(setting: Setting) -> OneCore | None:
    """The limit of single instances; None where that of the nodes says the same, or nobody asks."""
    problem = setting.problem
    if problem not in _known_cores:
        several = bool((problem.network.cores > 1.0).any())
        _known_cores[problem] = OneCore(setting) if several and keeps_up(problem) else None
    return _known_cores[problem]


class Room:
    """What is left of every place while instances are placed one after the other."""

    def __init__(self, setting: Setting) -> None:
        self._limits = [limit for limit in place_limits(setting) if limit.matters]
        self._used = [np.zeros(len(limit.room)) for limit in self._limits]
        self._most = [limit.room + SAFE_TOLERANCE * np.abs(limit.room) for limit in self._limits]
        self._one_core = one_core(setting)

    def fits(self, instances: Sequence[int] | IndexArray, nodes: IndexArray) -> BoolArray:
        """Which of some nodes have room for all of some instances."""
        one = self._one_core
        fits = np.ones(len(nodes), dtype=np.bool_) if one is None else one.fits(instances, nodes)
        for limit, used, most in zip(self._limits, self._used, self._most, strict=True):
            needed = float(limit.needed[instances].sum())
            if needed > 0.0:
                places = limit.place_of[nodes]
                fits &= used[places] + needed <= most[places]
        return fits

    def take(self, instances: Sequence[int] | IndexArray, node: int) -> None:
        """Put instances on a node."""
        self._add(instances, node, 1.0)

    def release(self, instances: Sequence[int] | IndexArray, node: int) -> None:
        """Take them away again."""
        self._add(instances, node, -1.0)

    def _add(self, instances: Sequence[int] | IndexArray, node: int, sign: float) -> None:
        for limit, used in zip(self._limits, self._used, strict=True):
            used[limit.place_of[node]] += sign * float(limit.needed[instances].sum())

    def left(self, resource: str) -> FloatArray | None:
        """By node, what is left of a resource; None where nobody needs any."""
        for limit, used in zip(self._limits, self._used, strict=True):
            if isinstance(limit, Capacity) and limit.resource == resource:
                return limit.room - used
        return None
