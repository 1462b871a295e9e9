"""What a plan is worth: every metric of the contract, slowly and obviously."""

import math
from collections.abc import Callable, Iterable

from . import losses, processors
from .network import Route, share
from .situation import Flow, Situation
from .workload import Instance, Message

SECONDS_PER_HOUR = 3600.0
BYTES_PER_GIGABYTE = 1e9

METRIC_OF_OBJECTIVE = {
    "response_time": "response_time_ms",
    "response_time_sum": "response_time_sum_ms",
    "failover_response_time": "failover_response_time_ms",
    "loaded_response_time": "loaded_response_time_ms",
    "availability": "availability",
    "traffic": "traffic_bytes_per_s",
    "network_usage": "network_usage_bytes",
    "elastic_energy": "elastic_energy",
    "communication_cost": "communication_cost",
    "placement_cost": "placement_cost",
    "nodes_used": "nodes_used",
    "enrolled_speed": "enrolled_speed",
    "cost_per_hour": "cost_per_hour",
    "carbon": "carbon_g_per_hour",
    "containers_used": "containers_used",
    "container_traffic": "container_traffic_bytes_per_s",
    "processing_power": "processing_power",
    "bandwidth_sum": "bandwidth_sum_bytes_per_s",
    "bandwidth_max": "bandwidth_max_ratio",
    "utilisation_max": "utilisation_max_ratio",
    "moved_instances": "moved_instances",
    "moved_state": "moved_state_bytes",
}

# Which metrics are left out when a rate is unknown, when a stream has no link, when a download is missing
# or has no link: "Metrics that can't be computed [...] are left out, never invented."
NEED_RATES = frozenset(
    {
        "traffic_bytes_per_s",
        "network_usage_bytes",
        "elastic_energy",
        "communication_cost",
        "cost_per_hour",
        "container_traffic_bytes_per_s",
        "bandwidth_sum_bytes_per_s",
        "bandwidth_max_ratio",
    }
)
NEED_STREAM_LINKS = frozenset(
    {
        "response_time_ms",
        "response_time_sum_ms",
        "loaded_response_time_ms",
        "availability",
        "network_usage_bytes",
        "elastic_energy",
        "communication_cost",
        "cost_per_hour",
        "bandwidth_sum_bytes_per_s",
        "bandwidth_max_ratio",
    }
)
NEED_DOWNLOADS = frozenset({"cost_per_hour", "bandwidth_sum_bytes_per_s", "bandwidth_max_ratio"})


def metrics(situation: Situation) -> dict[str, float]:
    """Return all metrics that can be computed."""
    found = {key: metric(situation, key) for key in METRICS}
    return {key: value for key, value in found.items() if value is not None}


def metric(situation: Situation, key: str) -> float | None:
    """Return one metric; None: it can't be computed.

    "Metrics that can't be computed (an unknown rate, a missing link, an instance that is not placed) are left
    out".
    """
    left_out = (
        not situation.complete
        or (key in NEED_RATES and not situation.structure.rates_known)
        or (key in NEED_STREAM_LINKS and not situation.links_there)
        or (key in NEED_DOWNLOADS and not situation.downloads_there)
    )
    return None if left_out else METRICS[key](situation)


def response_time(situation: Situation) -> float:
    """Contract: "the worst source-to-sink path over all applications"."""
    return max(situation.finish_times.values(), default=0.0)


def response_time_sum(situation: Situation) -> float:
    """Contract: "the sum over the applications of each one's response time"."""
    return math.fsum(map(situation.response_time_of, situation.model.workload.applications))


def loaded_response_time(situation: Situation) -> float | None:
    """Contract: "the same with 002's model: run queues, transmission delay, ends free (card 1.6)"."""
    transmissions = {id(message): transmission(situation, message) for message in situation.messages}
    if None in transmissions.values():
        return None

    def edge(message: Message) -> float:
        return situation.delay(message) + (transmissions[id(message)] or 0.0)

    def vertex(instance: Instance) -> float:
        is_end = not situation.incoming[instance.name] or instance.name not in situation.sending
        return 0.0 if is_end else situation.work(instance) * queue(situation, situation.node(instance))

    return max(situation._longest(edge, vertex).values(), default=0.0)


def queue(situation: Situation, number: int) -> float:
    """Card 1.6: "mips/max(1,q) where q counts runnable processes": those waiting and the instances hosted."""
    waiting: float = situation.network.nodes[number].get("run_queue", 0)
    return max(1.0, waiting + len(situation.hosted[number]))


def transmission(situation: Situation, message: Message) -> float | None:
    """Return the time in ms that the sender's card takes for one result; None: unknown.

    Card 1.6: "T at the *sender*", "Links inside a host: N = T = 0". Reading: the size of one result is
    output_bytes, else the stream's rate / throughput_per_s; an unlimited card takes no time.
    """
    card = situation.node_of(message.sender).get("nic_bytes_per_s")
    if card is None or situation.node(message.sender) == situation.node(message.receiver):
        return 0.0
    size = situation.operator(message.sender).output_bytes
    if size is None:
        size = result_size(situation, message)
    return None if size is None or card == 0 else 1000.0 * size / card


def result_size(situation: Situation, message: Message) -> float | None:
    """Return a stream's bytes for one result of its application."""
    application = situation.model.workload.applications[message.stream.application]
    throughput: float | None = application.get("throughput_per_s")
    if message.stream_total is None or not throughput:
        return None
    return message.stream_total / throughput


def availability(situation: Situation) -> float:
    """Contract: "product of the nodes' availability over all computed instances, times that of the links"."""
    return situation.availability_of(frozenset(situation.structure.computed))


def over_flows(situation: Situation, weight: Callable[[Route], float], flows: Iterable[Flow]) -> float:
    """Return the sum of rate x weight of the route over flows."""
    total = 0.0
    for flow in flows:
        route = situation.network.route(flow.start, flow.end)
        assert route is not None
        assert flow.rate is not None
        total += flow.rate * weight(route)
    return total


def traffic(situation: Situation) -> float:
    """Contract: "sum of rates between instances on different nodes"."""
    return sum(flow.rate or 0.0 for flow in situation.flows)


def network_usage(situation: Situation) -> float:
    """Contract: "sum of rate x delay over those (delay in seconds: bytes in flight)"."""
    return over_flows(situation, lambda route: route.delay_ms / 1000.0, situation.flows)


def elastic_energy(situation: Situation) -> float:
    """Contract: "sum of rate x delay^2 over those (delay in seconds)"."""
    return over_flows(situation, lambda route: (route.delay_ms / 1000.0) ** 2, situation.flows)


def communication_cost(situation: Situation) -> float:
    """Contract: "sum of rate x link cost over those"."""
    return over_flows(situation, lambda route: route.cost, situation.flows)


def placement_cost(situation: Situation) -> float:
    """Contract: "sum of placement_cost over the instances"; "a price for hosting one instance"."""
    return sum(
        situation.operator(instance).placement_cost.get(situation.node_of(instance)["name"], 0.0)
        for instance in situation.placed
    )


def nodes_used(situation: Situation) -> float:
    """Contract: "nodes that host at least one instance"."""
    return float(len(situation.hosted))


def enrolled_speed(situation: Situation) -> float:
    """Contract: "the sum of their speed"."""
    return sum(situation.speed(number) for number in situation.hosted)


def cost_per_hour(situation: Situation) -> float:
    """Contract: "money: the nodes used, and rate x price_per_gb over links (3600 s, 10^9 bytes)"."""
    nodes = sum(situation.network.nodes[number].get("cost_per_hour", 0.0) for number in situation.hosted)
    per_second = over_flows(situation, lambda route: route.price_per_gb, situation.all_flows)
    return float(nodes + per_second * SECONDS_PER_HOUR / BYTES_PER_GIGABYTE)


def carbon_g_per_hour(situation: Situation) -> float:
    """Contract: "Node field `carbon_g_per_hour` (default 0), metric of the same name over the nodes used"."""
    return math.fsum(
        situation.network.nodes[number].get("carbon_g_per_hour", 0.0) for number in situation.hosted
    )


def containers_used(situation: Situation) -> float | None:
    """containers_used, "where there are containers": those that are not empty."""
    if not all_in_containers(situation):
        return None
    return float(len({situation.containers[instance.name] for instance in situation.contained}))


def container_traffic(situation: Situation) -> float | None:
    """container_traffic_bytes_per_s, "where there are containers": rates between different containers."""
    if not all_in_containers(situation):
        return None
    return sum(flow.rate or 0.0 for flow in situation.container_flows)


def all_in_containers(situation: Situation) -> bool:
    """Tell whether there are containers, and every instance that needs one has one."""
    applications = situation.model.workload.applications.values()
    any_containers = any("containers" in application for application in applications)
    return any_containers and all(instance.name in situation.containers for instance in situation.contained)


def processing_power(situation: Situation) -> float | None:
    """Contract: "sum over computed instances of throughput / parallelism x work / speed, work in seconds"."""
    applications = situation.model.workload.applications.values()
    if any("throughput_per_s" not in application for application in applications):
        return None
    return sum(situation.busy(number) for number in situation.hosted)


def bandwidth_sum(situation: Situation) -> float:
    """Contract: "streams and object downloads over links: their sum"; each flow once."""
    return sum(flow.rate or 0.0 for flow in situation.all_flows)


def bandwidth_max_ratio(situation: Situation) -> float | None:
    """Contract: "the highest share of a link's bandwidth in use"; None where that is infinite."""
    shares = [
        share(load, situation.medium_bandwidth(medium)) for medium, load in situation.link_loads.items()
    ]
    highest_share = max(shares, default=0.0)
    return None if math.isinf(highest_share) else highest_share


def moved(situation: Situation) -> list[Instance] | None:
    """Return the instances that have another node than in the previous plan."""
    if situation.previous is None:
        return None
    before = situation.previous
    return [
        instance
        for instance in situation.placed
        if before.get(instance.name, situation.node_of(instance)["name"])
        != situation.node_of(instance)["name"]
    ]


def moved_instances(situation: Situation) -> float | None:
    """Contract: "against a previous plan"."""
    found = moved(situation)
    return None if found is None else float(len(found))


def moved_state(situation: Situation) -> float | None:
    """moved_state_bytes, "against a previous plan"; state_bytes: "what a migration must move"."""
    found = moved(situation)
    return (
        None if found is None else float(sum(situation.operator(instance).state_bytes for instance in found))
    )


METRICS: dict[str, Callable[[Situation], float | None]] = {
    "response_time_ms": response_time,
    "response_time_sum_ms": response_time_sum,
    "failover_response_time_ms": losses.failover_response_time,
    "failover_moved_instances": losses.failover_moved_instances,
    "loaded_response_time_ms": loaded_response_time,
    "availability": availability,
    "traffic_bytes_per_s": traffic,
    "network_usage_bytes": network_usage,
    "elastic_energy": elastic_energy,
    "communication_cost": communication_cost,
    "placement_cost": placement_cost,
    "nodes_used": nodes_used,
    "enrolled_speed": enrolled_speed,
    "cost_per_hour": cost_per_hour,
    "carbon_g_per_hour": carbon_g_per_hour,
    "containers_used": containers_used,
    "container_traffic_bytes_per_s": container_traffic,
    "processing_power": processing_power,
    "bandwidth_sum_bytes_per_s": bandwidth_sum,
    "bandwidth_max_ratio": bandwidth_max_ratio,
    "utilisation_max_ratio": processors.utilisation_max_ratio,
    "moved_instances": moved_instances,
    "moved_state_bytes": moved_state,
}
