"""Every metric of the contract, defined once.

A metric that is a sum says what each instance, each communicating pair, each byte per second between
two nodes and each used node adds to it. Evaluation sums that up for a plan; exact models and the search
engine take their weights from the same place. Its unit and its one-line description are what commands,
the page and the schema show. A new metric is one entry in `METRICS`; one that is no sum is evaluated at
once, and refused as an objective until exact models have a term for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from berth.amounts import change, in_unit
from berth.evaluation.situation import Setting, Situation
from berth.model import Network

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


Between = Callable[[Network, IndexArray, IndexArray], FloatArray]
"""A weight for each of some pairs of sending and receiving nodes (aligned arrays)."""


class Metric(Protocol):
    """A figure of a plan: less is better unless `maximise`."""

    @property
    def key(self) -> str:
        """The name in a plan's metrics, with the unit."""
        ...

    @property
    def name(self) -> str:
        """The name in an objective; empty: it can't be one."""
        ...

    @property
    def unit(self) -> str:
        """What it is counted in; `share` for what people read as a percentage."""
        ...

    @property
    def about(self) -> str:
        """What it is, in one line."""
        ...

    @property
    def maximise(self) -> bool:
        """Whether more is better."""
        ...

    @property
    def needs_previous(self) -> bool:
        """Whether it compares with a previous plan."""
        ...

    @property
    def needs_rates(self) -> bool:
        """Whether an unknown stream rate leaves it unknown."""
        ...

    def value(self, situation: Situation) -> float | None:
        """The figure; None where it can't be computed."""
        ...


@dataclass(frozen=True)
class AdditiveMetric:
    """A sum over instances, communicating pairs, flows and used nodes."""

    key: str
    name: str
    unit: str
    about: str
    per_instance: Callable[[Setting, IndexArray, IndexArray], FloatArray] | None = None
    """What each of some instances adds on each of some nodes (aligned arrays)."""
    per_pair: Between | None = None
    """What a communicating pair adds, by the nodes of its two ends."""
    per_flow: Between | None = None
    """What one byte per second adds, by the nodes of its two ends."""
    flow_by_delay: tuple[float, float, float] | None = None
    """What one byte per second adds between nodes that only coordinates connect: a constant, for each ms of
    delay, and for each ms squared. None: none of these, so it is no objective on very many nodes."""
    per_node: Callable[[Network], FloatArray] | None = None
    """What each node that hosts anything adds."""
    downloads: bool = False
    """Whether object downloads are flows, too; then all that flows needs a link."""
    product: bool = False
    """The weights are logarithms: the metric is the exponential of the sum."""
    maximise: bool = False
    needs_previous: bool = False

    @property
    def needs_rates(self) -> bool:
        """Whether an unknown stream rate leaves it unknown."""
        return self.per_flow is not None

    def value(self, situation: Situation) -> float | None:
        """The sum (or product) over the plan; None where a part can't be known."""
        if not situation.complete or (self.needs_previous and situation.setting.previous is None):
            return None
        parts = [self._instances(situation), self._pairs(situation), self._nodes(situation)]
        parts.append(self._flows(situation))
        total = float(sum(parts))
        if np.isnan(total):
            return None
        return float(np.exp(total)) if self.product else total

    def _instances(self, situation: Situation) -> float:
        if self.per_instance is None:
            return 0.0
        numbers = situation.running
        return float(self.per_instance(situation.setting, numbers, situation.node_of[numbers]).sum())

    def _pairs(self, situation: Situation) -> float:
        if self.per_pair is None:
            return 0.0
        if not situation.linked:
            return np.nan
        sender = situation.node_of[situation.pairs.sender]
        receiver = situation.node_of[situation.pairs.receiver]
        return float(self.per_pair(situation.network, sender, receiver).sum())

    def _nodes(self, situation: Situation) -> float:
        if self.per_node is None:
            return 0.0
        return float(self.per_node(situation.network)[situation.used_nodes].sum())

    def _flows(self, situation: Situation) -> float:
        if self.per_flow is None:
            return 0.0
        if not situation.rates_known or (self.downloads and not situation.supplied):
            return np.nan
        crossing = [situation.flows, situation.downloads] if self.downloads else [situation.flows]
        return float(
            sum(
                (self.per_flow(situation.network, flow.sender, flow.receiver) * flow.rate).sum()
                for flow in crossing
            )
        )


@dataclass(frozen=True)
class ComputedMetric:
    """A metric that is no sum of weights."""

    key: str
    name: str
    unit: str
    about: str
    compute: Callable[[Situation], float | None]
    needs_rates: bool = False
    maximise: bool = False
    needs_previous: bool = False

    def value(self, situation: Situation) -> float | None:
        """The figure; None where it can't be computed."""
        return self.compute(situation) if situation.complete else None


def _between_nodes(_: Network, sender: IndexArray, receiver: IndexArray) -> FloatArray:
    return np.asarray(sender != receiver, dtype=np.float64)


def _delay_s(network: Network, sender: IndexArray, receiver: IndexArray) -> FloatArray:
    return np.asarray(network.table.delay_ms[sender, receiver] / 1000.0)


def _squared_delay(network: Network, sender: IndexArray, receiver: IndexArray) -> FloatArray:
    return _delay_s(network, sender, receiver) ** 2


def _link_cost(network: Network, sender: IndexArray, receiver: IndexArray) -> FloatArray:
    return network.table.cost[sender, receiver]


def _link_money(network: Network, sender: IndexArray, receiver: IndexArray) -> FloatArray:
    return network.table.price_per_gb[sender, receiver] * 3600.0 / 1e9


def _link_log_availability(network: Network, sender: IndexArray, receiver: IndexArray) -> FloatArray:
    return _log(network.table.availability[sender, receiver])


def _log(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(values)


def _node_log_availability(setting: Setting, _: IndexArray, nodes: IndexArray) -> FloatArray:
    return _log(setting.problem.network.availability[nodes])


def _placement_cost(setting: Setting, instances: IndexArray, nodes: IndexArray) -> FloatArray:
    """Looked up in the operators' own tables: few nodes have a price, so no matrix is made."""
    graph, network = setting.graph, setting.problem.network
    operators = graph.operator_of[instances]
    costs = np.zeros(len(instances))
    priced = np.array([bool(item.operator.placement_cost) for item in graph.operators], dtype=bool)
    for position in np.flatnonzero(priced[operators]).tolist():
        table = graph.operators[operators[position]].operator.placement_cost
        costs[position] = table.get(network.nodes[nodes[position]].name, 0.0)
    return costs


def _moved(setting: Setting, instances: IndexArray, nodes: IndexArray) -> FloatArray:
    return setting.moved(instances, nodes).astype(np.float64)


def _moved_state(setting: Setting, instances: IndexArray, nodes: IndexArray) -> FloatArray:
    state = setting.graph.operator_values("state_bytes")[instances]
    return _moved(setting, instances, nodes) * state


def _worst(finish: FloatArray | None) -> float | None:
    return None if finish is None else float(finish.max(initial=0.0))


def _response_time(situation: Situation) -> float | None:
    return _worst(situation.finish_ms)


def _loaded_response_time(situation: Situation) -> float | None:
    return _worst(situation.loaded_finish_ms)


def _response_time_sum(situation: Situation) -> float | None:
    times = situation.response_times_ms
    return None if times is None else float(times.sum())


def _utilisation_max(situation: Situation) -> float | None:
    """The busiest node, or the instance that keeps its core the busiest."""
    running = situation.running
    cores = situation.load[running] / situation.network.speed[situation.node_of[running]]
    nodes = situation.node_load / situation.network.processors
    highest = max(float(cores.max(initial=0.0)), float(nodes.max(initial=0.0)))
    return None if np.isnan(cores).any() else highest


def _failover_response_time(situation: Situation) -> float | None:
    times = [loss.response_time_ms for loss in situation.losses]
    known = [time for time in times if time is not None]
    return max(known) if known and len(known) == len(times) else None


def _failover_moved(situation: Situation) -> float | None:
    if any(loss.situation is None for loss in situation.losses):
        return None
    return max((float(loss.moved) for loss in situation.losses), default=None)


def busy_processors(setting: Setting, instances: IndexArray, nodes: IndexArray) -> FloatArray:
    """Throughput / parallelism x work / speed (004, constraint 1 and objective 7), nothing shared."""
    graph = setting.graph
    work_s = graph.work_ms[instances] / 1000.0
    return graph.throughput_share[instances] * work_s / setting.problem.network.speed[nodes]


@dataclass(frozen=True)
class _ProcessingPower(AdditiveMetric):
    """Busy processors; equal computations on one node are done once, at the highest rate."""

    def value(self, situation: Situation) -> float | None:
        throughputs = [application.throughput_per_s for application in situation.problem.applications]
        if not situation.complete or None in throughputs:
            return None
        numbers = situation.computations[0]
        loads = situation.per_computation(situation.asked_load[situation.running])
        return float((loads / situation.network.speed[situation.node_of[numbers]]).sum())


def _hosting_cards(network: Network) -> FloatArray:
    cards = np.zeros(len(network.nodes))
    cards[network.hosting] = network.nic_bytes_per_s[network.hosting]
    return cards


@dataclass(frozen=True)
class _EnrolledCard(AdditiveMetric):
    """The network cards of the nodes in use; reported only where an objective or a plan's goal asks."""

    def value(self, situation: Situation) -> float | None:
        kept = (ceiling.goal.weights for ceiling in situation.setting.ceilings)
        goals = (*situation.plan.goals, *situation.problem.objectives, *kept)
        return super().value(situation) if any(self.name in goal for goal in goals) else None


def _bandwidth_max(situation: Situation) -> float | None:
    if not (situation.rates_known and situation.supplied):
        return None
    _, loads = situation.link_loads
    with np.errstate(divide="ignore", invalid="ignore"):
        # A link of bandwidth 0 that carries nothing is not in use.
        ratio = np.where(loads > 0, loads / situation.link_bandwidth, 0.0)
    return float(ratio.max(initial=0.0))


def _containers_used(situation: Situation) -> float | None:
    packed = _packed(situation)
    return None if packed is None else float(len(set(packed.values())))


def _container_traffic(situation: Situation) -> float | None:
    """Streams between instances in different containers."""
    packed = _packed(situation)
    if packed is None or not situation.rates_known:
        return None
    numbers = {name: number for number, name in enumerate(dict.fromkeys(packed.values()))}
    container = np.full(len(situation.graph), -1, dtype=np.intp)
    for instance, name in packed.items():
        container[situation.graph.index[instance]] = numbers[name]
    return float(situation.flows_between(container).rate.sum())


def _packed(situation: Situation) -> dict[str, str] | None:
    """Containers of the computed instances that need one; None without containers or where one lacks."""
    graph, plan = situation.graph, situation.plan
    if all(application.containers is None for application in situation.problem.applications):
        return None
    wanting = [graph.names[number] for number in situation.packing]
    if any(name not in plan.containers for name in wanting):
        return None
    return {name: plan.containers[name] for name in wanting}


AVAILABILITY = AdditiveMetric(
    "availability",
    "availability",
    "share",
    "the chance that all nodes and links in use are there at once",
    per_instance=_node_log_availability,
    per_pair=_link_log_availability,
    product=True,
    maximise=True,
)

METRICS: tuple[Metric, ...] = (
    ComputedMetric(
        "response_time_ms",
        "response_time",
        "ms",
        "work and delay along the slowest path from a source to the end",
        _response_time,
    ),
    ComputedMetric(
        "response_time_sum_ms",
        "response_time_sum",
        "ms",
        "the same for every application, added up",
        _response_time_sum,
    ),
    ComputedMetric(
        "loaded_response_time_ms",
        "loaded_response_time",
        "ms",
        "the same, with nodes slowed down by their load",
        _loaded_response_time,
    ),
    AVAILABILITY,
    AdditiveMetric(
        "traffic_bytes_per_s",
        "traffic",
        "bytes/s",
        "data that goes from node to node",
        per_flow=_between_nodes,
        flow_by_delay=(1.0, 0.0, 0.0),
    ),
    AdditiveMetric(
        "network_usage_bytes",
        "network_usage",
        "bytes",
        "data under way between nodes: rate times delay",
        per_flow=_delay_s,
        flow_by_delay=(0.0, 1e-3, 0.0),
    ),
    AdditiveMetric(
        "elastic_energy",
        "elastic_energy",
        "B·s",
        "rate times squared delay, as if streams were springs",
        per_flow=_squared_delay,
        flow_by_delay=(0.0, 0.0, 1e-6),
    ),
    AdditiveMetric(
        "communication_cost",
        "communication_cost",
        "",
        "rate times the cost of each link in use",
        per_flow=_link_cost,
        flow_by_delay=(0.0, 1.0, 0.0),
    ),
    AdditiveMetric(
        "placement_cost",
        "placement_cost",
        "",
        "what the instances cost at their nodes, by the problem's own figures",
        per_instance=_placement_cost,
    ),
    AdditiveMetric(
        "nodes_used",
        "nodes_used",
        "nodes",
        "nodes that host anything",
        per_node=lambda network: np.broadcast_to(1.0, len(network.nodes)),
    ),
    AdditiveMetric(
        "enrolled_speed",
        "enrolled_speed",
        "",
        "the speeds of these nodes, added up; 1 is the speed of a usual node",
        per_node=lambda network: network.speed,
    ),
    _EnrolledCard(
        "enrolled_card_bytes_per_s",
        "enrolled_card",
        "bytes/s",
        "the network cards of these nodes, added up",
        per_node=_hosting_cards,
    ),
    AdditiveMetric(
        "cost_per_hour",
        "cost_per_hour",
        "/h",
        "money for these nodes and for the data between them, in the currency of the problem",
        per_flow=_link_money,
        flow_by_delay=(0.0, 0.0, 0.0),
        per_node=lambda network: network.cost_per_hour,
        downloads=True,
    ),
    AdditiveMetric(
        "carbon_g_per_hour",
        "carbon",
        "g/h",
        "carbon dioxide emitted by these nodes",
        per_node=lambda network: network.carbon_g_per_hour,
    ),
    ComputedMetric(
        "containers_used", "containers_used", "containers", "containers that are not empty", _containers_used
    ),
    ComputedMetric(
        "container_traffic_bytes_per_s",
        "container_traffic",
        "bytes/s",
        "data between instances in different containers",
        _container_traffic,
        needs_rates=True,
    ),
    _ProcessingPower(
        "processing_power",
        "processing_power",
        "processors",
        "processors that are kept busy",
        per_instance=busy_processors,
    ),
    ComputedMetric(
        "utilisation_max_ratio",
        "utilisation_max",
        "share",
        "the busiest node or instance: what it needs of its processors",
        _utilisation_max,
    ),
    AdditiveMetric(
        "bandwidth_sum_bytes_per_s",
        "bandwidth_sum",
        "bytes/s",
        "all that crosses between nodes, downloads included",
        per_flow=_between_nodes,
        flow_by_delay=(1.0, 0.0, 0.0),
        downloads=True,
    ),
    ComputedMetric(
        "bandwidth_max_ratio",
        "bandwidth_max",
        "share",
        "the highest share of a link's bandwidth in use",
        _bandwidth_max,
        needs_rates=True,
    ),
    AdditiveMetric(
        "moved_instances",
        "moved_instances",
        "instances",
        "instances that are elsewhere than in the previous plan",
        per_instance=_moved,
        needs_previous=True,
    ),
    AdditiveMetric(
        "moved_state_bytes",
        "moved_state",
        "bytes",
        "state that has to move with them",
        per_instance=_moved_state,
        needs_previous=True,
    ),
    ComputedMetric(
        "failover_response_time_ms",
        "failover_response_time",
        "ms",
        "the response time after the worst loss",
        _failover_response_time,
    ),
    ComputedMetric(
        "failover_moved_instances",
        "",
        "instances",
        "instances that move after the loss that moves the most",
        _failover_moved,
    ),
)


def words_of(metric: Metric) -> str:
    """A metric as people call it: `response time`, `failover moved instances`."""
    return (metric.name or metric.key).replace("_", " ")


METRIC_BY_NAME = {metric.name: metric for metric in METRICS if metric.name}
"""Those that can be objectives."""
METRIC_BY_KEY = {metric.key: metric for metric in METRICS}


def metric_text(key: str, value: float) -> str:
    """A metric's value as people read it; a key that nobody knows has no unit."""
    return in_unit(value, _unit(key))


def metric_change(key: str, before: float | None, after: float | None) -> str:
    """How a metric changed, with sign and unit; empty where it didn't, or where that is not known."""
    return change(before, after, _unit(key))


def _unit(key: str) -> str:
    return METRIC_BY_KEY[key].unit if key in METRIC_BY_KEY else ""
