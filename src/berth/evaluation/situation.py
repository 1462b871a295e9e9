"""A problem with a plan on it, resolved into arrays: what runs where and what flows between.

Everything that metrics and constraints look at is worked out here, once: sharing, reuse, object
downloads, and what can't be known because something is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from berth.model import BadInput, Containers, Plan, Problem
from berth.model.errors import did_you_mean
from berth.model.instances import InstanceGraph, PathSchedule, pairs_of

if TYPE_CHECKING:
    from berth.evaluation.goal import Ceiling
    from berth.evaluation.losses import JudgedLoss

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lifted:
    """Throughput and reads of operators and the rates of streams after reuse has raised them."""

    throughput: FloatArray
    """Of every operator; NaN where the application has none."""
    reads: list[dict[str, float]]
    """For every operator, per_s of each object that it reads."""
    stream_rate: FloatArray
    """Bytes per second of every stream; NaN: unknown."""


def lifted_rates(problem: Problem, reuse: Mapping[str, str]) -> Lifted:
    """A provider, and all that feeds it, keeps up with the fastest of those that take its result."""
    graph = problem.instances
    own = np.array(
        [
            np.nan if application.throughput_per_s is None else application.throughput_per_s
            for application in problem.applications
        ]
    )[[item.application for item in graph.operators]]
    reads = [{read.object: read.per_s for read in item.operator.reads} for item in graph.operators]
    throughput = own.copy()
    provider = {graph.operator_index[taker]: graph.operator_index[giver] for taker, giver in reuse.items()}
    waiting = list(provider.items())
    seen = set(waiting)
    while waiting:
        taker, giver = waiting.pop()
        throughput[giver] = np.fmax(throughput[giver], own[taker])
        for read in graph.operators[taker].operator.reads:
            if read.object in reads[giver]:
                reads[giver][read.object] = max(reads[giver][read.object], read.per_s)
        for above_taker in graph.inputs[taker]:
            for above_giver in graph.inputs[giver]:
                match = above_taker, provider.get(above_giver, above_giver)
                equal = problem.sharing_keys.classes[above_taker] == problem.sharing_keys.classes[above_giver]
                if equal and match not in seen:
                    seen.add(match)
                    waiting.append(match)
    return Lifted(throughput, reads, _stream_rates(problem, throughput))


def _stream_rates(problem: Problem, throughput: FloatArray) -> FloatArray:
    """Streams that are so much for each result follow the throughput of those who receive them."""
    graph = problem.instances
    sender, receiver = graph.stream_ends.T
    raised = graph.output_bytes[sender] * throughput[receiver]
    return np.where(graph.stream_follows_throughput, raised, graph.stream_rate)


def reuse_mistakes(problem: Problem, plan: Plan) -> Iterator[str]:
    """Reuse and skips that make no sense: nothing can be said about a plan that has them."""
    graph, classes = problem.instances, problem.sharing_keys.classes
    computed = {item.name for item in graph.operators} - plan.reuse.keys() - set(plan.skipped)
    for taker, provider in plan.reuse.items():
        equal = classes[graph.operator_index[taker]] == classes[graph.operator_index[provider]]
        if not problem.sharing:
            yield f"reuse {taker}: sharing is off in this problem"
        elif not equal or taker == provider:
            yield f"reuse {taker}: {provider} does not compute the same"
        elif provider not in computed:
            yield f"reuse {taker}: {provider} is not computed itself"
    for name in plan.skipped:
        consumers = [graph.operators[number].name for number in graph.consumers[graph.operator_index[name]]]
        needing = [consumer for consumer in consumers if consumer in computed]
        takers = [taker for taker, provider in plan.reuse.items() if provider == name]
        if not consumers:
            yield f"skipped {name}: it is a result of its application"
        elif needing or takers:
            yield f"skipped {name}: {', '.join([*needing, *takers])} still needs it"
    yield from (f"operator {name}: both reused and skipped" for name in plan.skipped if name in plan.reuse)


IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Communicating instances: who sends to whom, by which stream, how much (NaN: unknown)."""

    sender: IndexArray
    receiver: IndexArray
    stream: IndexArray
    rate: FloatArray


@dataclass(frozen=True, eq=False)
class Flows:
    """What crosses the network between different nodes, equal results once."""

    sender: IndexArray
    receiver: IndexArray
    rate: FloatArray


@dataclass(frozen=True, eq=False)
class Occupied:
    """What others have taken of the nodes that a plan may use, in the order of the network's nodes."""

    amounts: Mapping[str, FloatArray]
    """By resource; one that is not named here is untouched."""
    busy: FloatArray
    """The reference processors that are busy on every node."""
    operators: FloatArray
    """How many operators with a choice each node has."""


@dataclass(frozen=True, eq=False)
class Unlike:
    """A plan that others have to differ from."""

    nodes: IndexArray
    """The node of each instance; -1: none."""
    least: int
    """The number of operators that have to be elsewhere."""

    def elsewhere(self, graph: InstanceGraph, nodes: IndexArray) -> BoolArray:
        """By operator, whether it is elsewhere in a plan: instances that swap places are where they were."""
        same = self._sorted(graph, nodes) == self._sorted(graph, self.nodes)
        return np.bincount(graph.operator_of, ~same, minlength=len(graph.operators)) > 0

    @staticmethod
    def _sorted(graph: InstanceGraph, nodes: IndexArray) -> IndexArray:
        """The nodes of each operator's instances in ascending order, operator by operator."""
        return nodes[np.lexsort((nodes, graph.operator_of))]


@dataclass(frozen=True)
class Setting:
    """What a plan is judged against: the problem and, where there are such, a previous plan and others."""

    problem: Problem
    previous: Plan | None = None
    occupied: Occupied | None = None
    """What others have taken of the nodes."""
    ceilings: tuple[Ceiling, ...] = ()
    """Goals that must not get worse than some values."""
    unlike: tuple[Unlike, ...] = ()
    """Plans that have to be different ones."""

    def capacity(self, resource: str) -> FloatArray:
        """What every node has of a resource for this problem."""
        there = self.problem.network.capacity(resource)
        taken = self.occupied.amounts.get(resource) if self.occupied is not None else None
        return there if taken is None else there - taken

    @cached_property
    def processors(self) -> FloatArray:
        """What every node can do for this problem, in reference processors."""
        there = self.problem.network.usable_processors
        return there if self.occupied is None else there - self.occupied.busy

    @property
    def graph(self) -> InstanceGraph:
        """The problem's instances."""
        return self.problem.instances

    @cached_property
    def previous_nodes(self) -> IndexArray | None:
        """Where every instance was before; -1 where it was nowhere, None without a previous plan."""
        if self.previous is None:
            return None
        nodes = np.full(len(self.graph), -1, dtype=np.intp)
        index = self.problem.network.index
        for name, node in self.previous.assignment.items():
            number = self.graph.index.get(name)
            if number is not None:
                # A machine that is gone since then counts as one more to move from.
                nodes[number] = index.get(node, len(index))
        return nodes

    def moved(self, instances: IndexArray, nodes: IndexArray) -> BoolArray:
        """Which of some instances were elsewhere before than on these nodes; those without a past stay."""
        before = self.previous_nodes
        if before is None:
            return np.zeros(len(instances), dtype=bool)
        return np.asarray((before[instances] >= 0) & (before[instances] != nodes))


class Situation:
    """A plan in its setting."""

    def __init__(self, setting: Setting, plan: Plan, lost: BoolArray | None = None) -> None:
        self.lost = lost
        """By instance, whether a loss has taken it away; None: nothing is lost."""
        self.setting = setting
        self.problem = setting.problem
        self.graph = setting.problem.instances
        self.network = setting.problem.network
        self.plan = plan
        check_names(self.problem, plan)
        self.node_of = assigned_nodes(self.problem, plan)
        """The node of every instance; -1: not placed."""
        self.provider = _providers(self.graph, plan)
        """For every operator the one whose result its consumers use: itself unless reused."""

    @cached_property
    def computed(self) -> BoolArray:
        """Instances that run: those whose operator is neither reused nor skipped."""
        dropped = {*self.plan.reuse, *self.plan.skipped}
        runs = np.array([item.name not in dropped for item in self.graph.operators], dtype=bool)
        there = runs[self.graph.operator_of]
        return np.asarray(there if self.lost is None else there & ~self.lost)

    @cached_property
    def complete(self) -> bool:
        """Whether it is clear what runs where: every computed instance has a node and reuse makes sense."""
        return not self.reuse_mistakes and bool((self.node_of[self.computed] >= 0).all())

    @cached_property
    def reuse_mistakes(self) -> list[str]:
        """What is wrong with the plan's reuse and skips."""
        if not (self.plan.reuse or self.plan.skipped):
            return []
        return list(reuse_mistakes(self.problem, self.plan))

    @cached_property
    def running(self) -> IndexArray:
        """The numbers of the computed instances that have a node."""
        return np.flatnonzero(self.computed & (self.node_of >= 0))

    @cached_property
    def packing(self) -> list[int]:
        """The running instances whose application has containers."""
        has = np.array([application.containers is not None for application in self.problem.applications])
        numbers: list[int] = self.running[has[self.graph.application_of[self.running]]].tolist()
        return numbers

    @cached_property
    def packed(self) -> BoolArray:
        """Instances that are in a container."""
        packed = np.zeros(len(self.graph), dtype=bool)
        names = self.plan.containers
        packed[[number for number in self.packing if self.graph.names[number] in names]] = True
        return packed

    @cached_property
    def hosted_containers(self) -> list[tuple[Containers, int]]:
        """The containers that are not empty, with the node that each takes its capacity from."""
        homes = {self.plan.containers[self.graph.names[k]]: k for k in np.flatnonzero(self.packed).tolist()}
        return [(self.containers_of(number), int(self.node_of[number])) for number in homes.values()]

    def containers_of(self, instance: int) -> Containers:
        """The containers of an instance's application, which must have some."""
        found = self.problem.applications[int(self.graph.application_of[instance])].containers
        assert found is not None
        return found

    @cached_property
    def used_nodes(self) -> IndexArray:
        """Nodes that host at least one instance."""
        return np.unique(self.node_of[self.running])

    @cached_property
    def lifted(self) -> Lifted:
        """Throughput and read rates, raised where a result is reused by a faster application."""
        return lifted_rates(self.problem, self.plan.reuse)

    @cached_property
    def pairs(self) -> Pairs:
        """Communicating pairs whose receiver is computed; reused results come from their provider."""
        graph = self.graph
        needed = self.computed[graph.pair_receiver]
        if self.lost is not None:
            needed &= ~self.lost[graph.pair_sender]
        sender, receiver = graph.pair_sender[needed], graph.pair_receiver[needed]
        stream, share = graph.pair_stream[needed], graph.pair_share[needed]
        if self.plan.reuse:
            sender, receiver, stream, share = self._redirected(sender, receiver, stream, share)
        return Pairs(sender, receiver, stream, self.lifted.stream_rate[stream] * share)

    def _redirected(
        self, sender: IndexArray, receiver: IndexArray, stream: IndexArray, share: FloatArray
    ) -> tuple[IndexArray, IndexArray, IndexArray, FloatArray]:
        """The pairs with every reused sender replaced by the instances of its provider."""
        graph = self.graph
        moved = self.provider[graph.operator_of[sender]] != graph.operator_of[sender]
        parts = [(sender[~moved], receiver[~moved], stream[~moved], share[~moved])]
        for number in np.unique(stream[moved]).tolist():
            from_operator, to_operator = graph.stream_ends[number]
            provider = graph.operators[self.provider[from_operator]]
            senders, receivers, part = pairs_of(graph.streams[number], provider, graph.operators[to_operator])
            size = len(senders)
            parts.append((senders, receivers, np.full(size, number), np.full(size, part)))
        joined = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
        return joined[0], joined[1], joined[2], joined[3]

    @cached_property
    def rates_known(self) -> bool:
        """Whether every stream between computed instances has a rate."""
        return not np.isnan(self.pairs.rate).any()

    @cached_property
    def linked(self) -> bool:
        """Whether all communicating pairs are on one node or on nodes with a link."""
        ends = self._pair_nodes
        return bool(self.network.table.connected[ends[0], ends[1]].all())

    @cached_property
    def _pair_nodes(self) -> tuple[IndexArray, IndexArray]:
        """The nodes of placed communicating pairs."""
        sender, receiver = self.node_of[self.pairs.sender], self.node_of[self.pairs.receiver]
        placed = (sender >= 0) & (receiver >= 0)
        return sender[placed], receiver[placed]

    @cached_property
    def flows(self) -> Flows:
        """Streams between different nodes."""
        return self.flows_between(self.node_of)

    def flows_between(self, place: IndexArray) -> Flows:
        """Streams between different places (-1: none); equal results cross once, at the highest rate."""
        sender, receiver = place[self.pairs.sender], place[self.pairs.receiver]
        crossing = np.flatnonzero((sender != receiver) & (sender >= 0) & (receiver >= 0))
        rate = self.pairs.rate[crossing]
        ends = sender[crossing], receiver[crossing]
        if not self.problem.sharing_keys.possible:
            return Flows(*ends, rate)
        results = self.problem.sharing_keys.result_keys(
            self.pairs.sender[crossing], self.pairs.receiver[crossing], self.pairs.stream[crossing]
        )
        first, group = _groups(results, *ends)
        return Flows(ends[0][first], ends[1][first], group_maximum(rate, group))

    @cached_property
    def computations(self) -> tuple[IndexArray, IndexArray]:
        """Running instances by computation: one representative each, and each instance's group."""
        if not self.problem.sharing_keys.possible:
            return self.running, np.arange(len(self.running))
        keys = self.problem.sharing_keys.computation_keys(self.running)
        first, group = _groups(keys, self.node_of[self.running])
        return self.running[first], group

    def per_computation(self, values: FloatArray) -> FloatArray:
        """The highest value within each computation, of one value for every running instance."""
        return group_maximum(values, self.computations[1])

    @cached_property
    def asked_load(self) -> FloatArray:
        """By instance, the reference processors that its throughput takes; NaN without a throughput."""
        graph = self.graph
        if not self.plan.reuse:
            return graph.asked_load
        throughput = self.lifted.throughput[graph.operator_of] / graph.operator_values("parallelism")
        return np.asarray(throughput * graph.work_ms / 1000.0)

    @cached_property
    def load(self) -> FloatArray:
        """By instance, the reference processors that it keeps busy; NaN: unknown."""
        return np.fmax(self.graph.load, self.asked_load) if self.plan.reuse else self.graph.load

    @cached_property
    def node_load(self) -> FloatArray:
        """By node, the reference processors that it keeps busy, equal computations once; NaN: unknown."""
        numbers, group = self.computations
        # beyond all others, because the highest of loads of which one is unknown is unknown
        loads = np.nan_to_num(self.load[self.running], nan=np.inf)
        highest = np.zeros(len(numbers))
        np.maximum.at(highest, group, loads)
        there = np.bincount(self.node_of[numbers], highest, len(self.network.nodes)).astype(np.float64)
        return np.where(np.isinf(there), np.nan, there)

    @cached_property
    def broken(self) -> tuple[str, ...]:
        """A line for each constraint that the plan itself breaks, before anything is lost."""
        from berth.evaluation.violations import violations  # which looks at situations

        return tuple(violations(self))

    @cached_property
    def losses(self) -> list[JudgedLoss]:
        """What every loss that the problem wants survived comes to; none where the plan itself breaks."""
        from berth.evaluation.losses import judged_losses  # which judges plans itself

        return judged_losses(self)

    @cached_property
    def object_rates(self) -> dict[tuple[str, int], float]:
        """Bytes per second of every object that a node reads without holding it."""
        needed: dict[tuple[str, int], float] = {}
        if not self.problem.objects:
            return needed
        for number in self.running.tolist():
            node = int(self.node_of[number])
            for name, per_s in self.lifted.reads[self.graph.operator_of[number]].items():
                if name not in self.network.nodes[node].holds:
                    rate = per_s * self.problem.object_bytes[name]
                    needed[name, node] = max(needed.get((name, node), 0.0), rate)
        return needed

    @cached_property
    def downloads(self) -> Flows:
        """The plan's downloads that somebody needs."""
        index, rates = self.network.index, self.object_rates
        needed = [item for item in self.plan.downloads if (item.object, index[item.target]) in rates]
        return Flows(
            np.array([index[item.source] for item in needed], dtype=np.intp),
            np.array([index[item.target] for item in needed], dtype=np.intp),
            np.array([rates[item.object, index[item.target]] for item in needed], dtype=np.float64),
        )

    @cached_property
    def supplied(self) -> bool:
        """Whether everything that is sent or read has its way: links for all streams, and all downloads."""
        index = self.network.index
        listed = {(item.object, index[item.target]) for item in self.plan.downloads}
        arriving = self.network.table.connected[self.downloads.sender, self.downloads.receiver]
        return self.linked and self.object_rates.keys() <= listed and bool(arriving.all())

    @cached_property
    def link_loads(self) -> tuple[IndexArray, FloatArray]:
        """Physical links in use as numbers u * nodes + v, and what crosses them; unknown rates as 0."""
        sender = np.concatenate([self.flows.sender, self.downloads.sender])
        receiver = np.concatenate([self.flows.receiver, self.downloads.receiver])
        rate = np.nan_to_num(np.concatenate([self.flows.rate, self.downloads.rate]))
        position, crossed = self.network.table.physical_hops(sender, receiver)
        links, group = np.unique(crossed, return_inverse=True)
        return links, np.asarray(np.bincount(group, rate[position], len(links)), dtype=np.float64)

    @cached_property
    def link_bandwidth(self) -> FloatArray:
        """The bandwidth of every link in `link_loads`."""
        return np.asarray(self.network.table.physical_bandwidth.ravel()[self.link_loads[0]])

    @cached_property
    def schedule(self) -> PathSchedule:
        """The order in which arrival times follow from each other."""
        if self.computed.all():
            return self.graph.path_schedule
        return PathSchedule(len(self.graph), self.pairs.sender, self.pairs.receiver)

    @cached_property
    def finish_ms(self) -> FloatArray | None:
        """When each instance is done with a data unit that set out at 0; None if a link is missing."""
        if not (self.complete and self.linked):
            return None
        time = np.zeros(len(self.graph))
        time[self.running] = self.graph.work_ms[self.running] / self.network.speed[self.node_of[self.running]]
        sender, receiver = self._pair_nodes
        return self.schedule.finish(time, self.network.table.delay_ms[sender, receiver])

    @cached_property
    def loaded_finish_ms(self) -> FloatArray | None:
        """As `finish_ms` with paper 002's model: run queues, transmission at the sender, ends free."""
        if not (self.complete and self.linked):
            return None
        transmission = self._transmission_ms
        if np.isnan(transmission).any():
            return None
        node = self.node_of[self.running]
        _, group, hosted = np.unique(node, return_inverse=True, return_counts=True)
        queue = np.maximum(1.0, self.network.run_queue[node] + hosted[group])
        time = np.zeros(len(self.graph))
        time[self.running] = self.graph.work_ms[self.running] / self.network.speed[node] * queue
        time[~self.schedule.has_input | ~self.schedule.has_output] = 0.0
        sender, receiver = self._pair_nodes
        return self.schedule.finish(time, self.network.table.delay_ms[sender, receiver] + transmission)

    @cached_property
    def _transmission_ms(self) -> FloatArray:
        """Time to put one data unit on the wire, for every pair; 0 within a node, NaN if not known."""
        sender, receiver = self._pair_nodes
        size = data_unit_bytes(self.problem)[self.pairs.stream]
        card = self.network.nic_bytes_per_s[sender]
        free = (sender == receiver) | np.isinf(card)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(free, 0.0, 1000.0 * size / card)

    @cached_property
    def response_times_ms(self) -> FloatArray | None:
        """By application, when the last of its results is there; None if a link is missing."""
        finish = self.finish_ms
        if finish is None:
            return None
        graph, slowest = self.graph, np.zeros(len(self.problem.applications))
        np.maximum.at(slowest, graph.application_of[self.running], finish[self.running])
        for number in {graph.operators[graph.operator_index[taker]].application for taker in self.plan.reuse}:
            slowest[number] = finish[self.belongs_to(number)].max(initial=0.0)
        return slowest

    def belongs_to(self, application: int) -> BoolArray:
        """The instances that an application depends on: its own, and what it reuses with all above."""
        graph = self.graph
        wanted = set(self.provider[graph.operator_application == application].tolist())
        waiting = [number for number in wanted if graph.operators[number].application != application]
        while waiting:
            for sender in graph.inputs[waiting.pop()]:
                provider = int(self.provider[sender])
                if provider not in wanted:
                    wanted.add(provider)
                    waiting.append(provider)
        return np.asarray(np.isin(graph.operator_of, list(wanted)) & self.computed)


def data_unit_bytes(problem: Problem) -> FloatArray:
    """The size of one data unit of every stream: the sender's result, or rate / throughput; NaN unknown."""
    graph = problem.instances
    throughputs = [application.throughput_per_s or np.nan for application in problem.applications]
    sender = graph.stream_ends[:, 0]
    throughput = np.array([throughputs[item.application] for item in graph.operators])[sender]
    size = graph.output_bytes[sender]
    return np.where(np.isnan(size), graph.stream_rate / throughput, size)


def check_names(problem: Problem, plan: Plan) -> None:
    """Unknown names in a plan are bad input."""
    # one by one: what was meant instead takes a while to find, and only the first mistakes are told
    mistakes = chain(_unknown_names(problem, plan), _failover_mistakes(problem, plan))
    first = next(mistakes, None)
    if first is not None:
        raise BadInput(chain((first,), mistakes))


def _unknown_names(problem: Problem, plan: Plan) -> Iterator[str]:
    graph, network = problem.instances, problem.network
    for instance, node in plan.assignment.items():
        if instance not in graph.index:
            yield f"assignment.{instance}: no instance {did_you_mean(instance, graph.index)}"
        if node not in network.index:
            yield f"assignment.{instance}: no node {did_you_mean(node, network.index)}"
    for taker, provider in plan.reuse.items():
        for name in (taker, provider):
            if name not in graph.operator_index:
                yield f"reuse.{taker}: no operator {did_you_mean(name, graph.operator_index)}"
    for number, name in enumerate(plan.skipped):
        if name not in graph.operator_index:
            yield f"skipped[{number}]: no operator {did_you_mean(name, graph.operator_index)}"
    for instance in plan.containers:
        if instance not in graph.index:
            yield f"containers.{instance}: no instance {did_you_mean(instance, graph.index)}"
    for number, download in enumerate(plan.downloads):
        if download.object not in problem.object_bytes:
            name = did_you_mean(download.object, problem.object_bytes)
            yield f"downloads[{number}].object: no object {name}"
        for end, node in (("from", download.source), ("to", download.target)):
            if node not in network.index:
                yield f"downloads[{number}].{end}: no node {did_you_mean(node, network.index)}"


def _failover_mistakes(problem: Problem, plan: Plan) -> Iterator[str]:
    """Losses, instances and nodes of a failover that the problem doesn't have, and what can't go with it."""
    if problem.survive is None:
        return
    if plan.reuse or plan.skipped:
        yield "reuse: plans that survive a loss can't reuse results; leave it out, or survive"
    graph, nodes = problem.instances, problem.network.index
    losses = nodes if problem.survive.label is None else {loss.name: None for loss in problem.losses}
    for name, moves in plan.failover.items():
        if name not in losses:
            what = "node" if problem.survive.label is None else f"value of the label {problem.survive.label}"
            yield f"failover.{name}: no {what} {did_you_mean(name, losses)}"
        for instance, node in moves.items():
            if instance not in graph.index:
                yield f"failover.{name}.{instance}: no instance {did_you_mean(instance, graph.index)}"
            if node not in nodes:
                yield f"failover.{name}.{instance}: no node {did_you_mean(node, nodes)}"


def assigned_nodes(problem: Problem, plan: Plan) -> IndexArray:
    """A plan's node for every instance; -1: none."""
    graph, index = problem.instances, problem.network.index
    nodes = np.full(len(graph), -1, dtype=np.intp)
    for instance, node in plan.assignment.items():
        nodes[graph.index[instance]] = index[node]
    return nodes


def _providers(graph: InstanceGraph, plan: Plan) -> IndexArray:
    provider = np.arange(len(graph.operators))
    for taker, giver in plan.reuse.items():
        provider[graph.operator_index[taker]] = graph.operator_index[giver]
    return provider


def _groups(*columns: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Equal rows of the columns as groups: the position of each group's first row, each row's group."""
    table = np.stack(columns, axis=1)
    _, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first, group.reshape(-1)


def group_maximum(values: FloatArray, group: IndexArray) -> FloatArray:
    """The highest of the values in each group; NaN where none is known."""
    highest = np.full(group.max(initial=-1) + 1, np.nan)
    np.fmax.at(highest, group, values)
    return highest


def assignment_of(problem: Problem, nodes: IndexArray) -> Mapping[str, str]:
    """Node numbers of all instances as a plan's assignment; below 0: reused or skipped, without a node."""
    names = problem.network.nodes
    placed = zip(problem.instances.names, nodes, strict=True)
    return {name: names[node].name for name, node in placed if node >= 0}


def critical_path(situation: Situation, application: int | None = None) -> list[int]:
    """The instances of the slowest source-to-sink path, from its start to its end.

    It is the path of the latest result over all applications, or of one application; of equally slow
    ones the first in the file's order. Empty where `response_time_ms` can't be computed.
    """
    finish = situation.finish_ms
    inside = situation.computed if application is None else situation.belongs_to(application)
    numbers = np.flatnonzero(inside)
    if finish is None or not len(numbers):
        return []
    pairs, node_of = situation.pairs, situation.node_of
    delay = situation.network.table.delay_ms[node_of[pairs.sender], node_of[pairs.receiver]]
    arrival = finish[pairs.sender] + delay
    path = [int(numbers[finish[numbers].argmax()])]
    while len(incoming := np.flatnonzero(pairs.receiver == path[0])):
        path.insert(0, int(pairs.sender[incoming[arrival[incoming].argmax()]]))
    return path
