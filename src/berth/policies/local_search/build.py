"""From a setting and a goal to the arrays that the search works on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import METRIC_BY_NAME
from berth.evaluation.goal import Goal
from berth.evaluation.limits.places import place_of as apart_place_of
from berth.evaluation.metrics import AdditiveMetric
from berth.evaluation.situation import data_unit_bytes
from berth.exact.costs import finite
from berth.exact.placement import Placement
from berth.model import BadInput
from berth.policies.local_search import fields
from berth.policies.local_search.build_wires import Parts, Wires, flow_terms, near_nodes, wires_of
from berth.policies.local_search.case import Case, FloatArray, IndexArray, Marks

ROOM = 0.9e-9
"""Most of the judge's relative tolerance."""
TIMES = ("response_time", "loaded_response_time", "bandwidth_max")
Arrays = dict[int, IndexArray | FloatArray | Marks]
LARGEST_TABLE = 2**19
PER_INSTANCE = ("availability", "placement_cost", "processing_power", "moved_instances", "moved_state")


def build_case(placement: Placement, goal: Goal) -> Case:
    """The case of a placement whose candidates are not pruned yet.

    Raises:
        BadInput: the goal has a metric that the search doesn't know.
    """
    _check(goal)
    problem, network = placement.setting.problem, placement.network
    applications = problem.applications
    weights = {name: goal.coefficient(name) for name in goal.weights}
    latest = np.array([_or(a.max_response_time_ms, np.inf) for a in applications])
    least = np.array([_or(a.min_availability, 0.0) for a in applications])
    time, loaded, busiest = (weights.get(name, 0.0) for name in TIMES)
    product = goal.scale == "raw" and goal.single is None
    availability = weights.get("availability", 0.0)
    total = float(placement.rate.sum())
    table = network.table
    bound = table.bandwidth_bound and not _never_full(table.physical_bandwidth, total)
    uses_time = time != 0.0 or bool(np.isfinite(latest).any())
    parts = Parts(
        delay=uses_time or loaded != 0.0,
        availability=availability != 0.0 or bool((least > 0).any()),
        links=bound or busiest != 0.0,
        ports=network.one_port,
    )
    wires = wires_of(network, goal, parts)
    demand = _demand(placement)
    arrays = _blocks(placement, goal, demand) | _machines(placement, goal, demand, wires) | _paths(placement)
    arrays |= _edges(placement) | _prices(placement, goal) | _apart(placement) | _links(wires)
    cards = network.cards_bound and float(network.nic_bytes_per_s.min()) < total
    tabled = not cards and _tabled(len(placement.blocks), wires, parts)
    arrays[fields.FLOW_BACK] = wires.flow.T if tabled else np.zeros(0)
    rates = arrays[fields.EDGE_RATE][arrays[fields.EDGE_RATE] > 0]
    with np.errstate(divide="ignore"):
        asked = np.log(least)
    arrays |= {fields.LATEST: latest * (1.0 + ROOM), fields.LEAST: asked - ROOM}
    numbers = {
        fields.NODES: wires.nodes,
        fields.BLOCK_COUNT: len(placement.blocks),
        fields.FREE: len(arrays[fields.MOVABLE]),
        fields.INSTANCES: len(placement.graph),
        fields.RESOURCES: demand.shape[1],
        fields.NEAR_COUNT: arrays[fields.NEAR].shape[1],
        fields.DIMENSIONS: wires.links.positions.shape[1],
        fields.DENSE: wires.dense,
        fields.ROUTED: len(wires.next_hop) > 0,
        fields.HALF_DUPLEX: wires.half_duplex,
        fields.CHECKS_LINKS: not wires.dense or len(wires.linked) > 0,
        fields.USES_FLOW: bool(flow_terms(goal)),
        fields.USES_TIME: uses_time,
        fields.USES_AVAILABILITY: parts.availability,
        fields.USES_LINKS: parts.links,
        fields.USES_PORTS: parts.ports,
        fields.USES_CARDS: cards,
        fields.PAYS_NODES: arrays[fields.COST_OF_USE].max() > 0.0,
        # Some parts have no cheaper way than to make a move and to take it back.
        fields.HEAVY: parts.links or parts.ports or loaded != 0.0,
        fields.APPLICATIONS: len(applications),
        fields.TABLED: tabled,
    }
    weighing = {
        fields.TIME_WEIGHT: time,
        fields.LOADED_WEIGHT: loaded,
        fields.BUSIEST_WEIGHT: busiest,
        fields.LOGARITHM_WEIGHT: 0.0 if product else availability,
        fields.AVAILABILITY_WEIGHT: availability if product else 0.0,
        fields.RATE_UNIT: float(rates.mean()) if len(rates) else 1.0,
    }
    return _joined(arrays, numbers, weighing)


def _joined(arrays: Arrays, numbers: dict[int, Any], weighing: dict[int, float]) -> Case:
    """All arrays one behind the other, after single numbers and where the fields begin."""
    heads = np.zeros(fields.HEAD, np.int64), np.zeros(fields.WEIGHTS)
    parts: tuple[list[NDArray[Any]], list[NDArray[Any]]] = ([heads[0]], [heads[1]])
    ends = [fields.HEAD, fields.WEIGHTS]
    for field in range(fields.FIELDS):
        kind = int(field >= fields.WHOLE_FIELDS)
        heads[0][field] = ends[kind]
        part = np.ascontiguousarray(arrays[field]).ravel()
        parts[kind].append(part)
        ends[kind] += len(part)
    for field, number in numbers.items():
        heads[0][field] = int(number)
    for field, weight in weighing.items():
        heads[1][field] = weight
    return Case(np.concatenate(parts[0]).astype(np.int64), np.concatenate(parts[1]).astype(np.float64))


def _links(wires: Wires) -> Arrays:
    links = wires.links
    return {
        fields.LINK_FIRST: links.first,
        fields.LINK_TO: links.to,
        fields.LINK_FLOW: links.flow,
        fields.LINK_DELAY: links.delay,
        fields.LINK_LOG_AVAILABILITY: links.log_availability,
        fields.POSITIONS: links.positions,
        fields.HEIGHTS: links.heights,
        fields.USUAL: links.usual,
        fields.NEXT_HOP: wires.next_hop,
        fields.LINKED: wires.linked,
        fields.FLOW: wires.flow,
        fields.DELAY: wires.delay,
        fields.LINK_LOGARITHM: wires.log_availability,
        fields.BANDWIDTH: wires.bandwidth,
        fields.LINK_WIDTH: wires.link_bandwidth,
    }


def _check(goal: Goal) -> None:
    for name in goal.weights:
        metric = METRIC_BY_NAME[name]
        known = name in TIMES or (
            isinstance(metric, AdditiveMetric)
            and (metric.per_instance is None or name in PER_INSTANCE)
            and (metric.per_pair is None or name == "availability")
        )
        if not known:
            raise BadInput([f"objective.{name}: search can't optimise it"])


def _tabled(blocks: int, wires: Wires, parts: Parts) -> bool:
    """Whether costs of all blocks on all nodes are kept: streams must not be asked for anything else."""
    plain = wires.dense and len(wires.flow) > 0 and not len(wires.linked) and not parts.availability
    return plain and blocks * wires.nodes <= LARGEST_TABLE


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _never_full(bandwidth: object, total: float) -> bool:
    """Whether everything together fits through any link."""
    entries = getattr(bandwidth, "entries", None)
    values = entries[2] if entries is not None else np.asarray(bandwidth)
    return bool((np.asarray(values) >= total).all())


def _blocks(placement: Placement, goal: Goal, demand: FloatArray) -> Arrays:
    sizes = np.array([len(block) for block in placement.blocks], dtype=np.int64)
    firsts = np.array([block[0] for block in placement.blocks], dtype=np.int64)
    group, candidates = _groups(placement, demand)
    lengths = np.array([len(nodes) for nodes in candidates], dtype=np.int64)
    power = np.zeros(len(sizes))
    if "processing_power" in goal.weights:
        power = goal.coefficient("processing_power") * placement.block_busy
    return {
        fields.MEMBER_FIRST: _starts(sizes),
        fields.MEMBERS: np.array([number for block in placement.blocks for number in block], dtype=np.int64),
        fields.OF_INSTANCE: placement.block_of,
        fields.APPLICATION: placement.graph.application_of[firsts],
        fields.DEMAND: demand,
        fields.GROUP: group,
        fields.CANDIDATE_FIRST: _starts(lengths),
        fields.CANDIDATES: np.concatenate(candidates),
        fields.MOVABLE: np.flatnonzero(lengths[group] > 1),
        fields.POWER: power,
    }


def _starts(sizes: IndexArray) -> IndexArray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _demand(placement: Placement) -> FloatArray:
    columns = [placement.block_demand[name] for name in placement.graph.resources]
    if placement.block_busy.any():
        columns.append(placement.block_busy)
    count = len(placement.blocks)
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((count, 0))


def _limits(placement: Placement) -> FloatArray:
    setting = placement.setting
    columns = [setting.capacity(name) for name in placement.graph.resources]
    if placement.block_busy.any():
        columns.append(setting.processors * placement.network.speed)
    size = len(placement.network.nodes)
    limits = np.stack(columns, axis=1) if columns else np.zeros((size, 0))
    return np.ascontiguousarray(limits + ROOM * np.abs(limits))


def _groups(placement: Placement, demand: FloatArray) -> tuple[IndexArray, list[IndexArray]]:
    """Blocks by where they fit alone, and where that is."""
    limits = _limits(placement)
    numbers: dict[tuple[int, bytes], int] = {}
    candidates: list[IndexArray] = []
    group = np.empty(len(placement.blocks), dtype=np.int64)
    fitting: dict[bytes, IndexArray] = {}
    for block, nodes in enumerate(placement.candidates):
        need = demand[block]
        key = id(nodes), need.tobytes()
        if key not in numbers:
            fits = nodes[((need <= limits[nodes]) | (need == 0.0)).all(axis=1)]
            numbers[key] = len(candidates)
            candidates.append(fitting.setdefault(fits.tobytes(), fits).astype(np.int64))
        group[block] = numbers[key]
    return group, candidates


def _edges(placement: Placement) -> Arrays:
    graph, count = placement.graph, len(placement.blocks)
    sender = placement.block_of[graph.pair_sender].astype(np.int64)
    receiver = placement.block_of[graph.pair_receiver].astype(np.int64)
    apart = sender != receiver
    keys, position = np.unique(sender[apart] * count + receiver[apart], return_inverse=True)
    rate = np.bincount(position, placement.rate[apart], minlength=len(keys))
    pairs = np.bincount(position, minlength=len(keys)).astype(np.float64)
    senders, receivers = np.divmod(keys, count)
    owner = np.concatenate([senders, receivers])
    order = np.argsort(owner, kind="stable")
    sends = np.repeat(np.array([1, 0], dtype=np.uint8), len(keys))
    return {
        fields.EDGE_FIRST: np.searchsorted(owner[order], np.arange(count + 1)).astype(np.int64),
        fields.EDGE_OTHER: np.concatenate([receivers, senders])[order],
        fields.EDGE_RATE: np.tile(rate, 2)[order],
        fields.EDGE_PAIRS: np.tile(pairs, 2)[order],
        fields.EDGE_SENDS: sends[order],
    }


def _prices(placement: Placement, goal: Goal) -> Arrays:
    """Placement costs and moves: an entry where a node differs from what a block costs elsewhere."""
    graph, index = placement.graph, placement.network.index
    count, size = len(placement.blocks), len(placement.network.nodes)
    keys, values, base = [np.zeros(0, np.int64)], [np.zeros(0)], np.zeros(count)
    if goal.weights.get("placement_cost"):
        coefficient = goal.coefficient("placement_cost")
        for item in graph.operators:
            table = item.operator.placement_cost
            if not table or coefficient == 0.0:
                continue
            nodes = np.array([index[name] for name in table], dtype=np.int64)
            costs = coefficient * np.array(list(table.values()), dtype=np.float64)
            for block in placement.block_of[item.first : item.first + item.operator.parallelism].tolist():
                keys.append(block * size + nodes)
                values.append(costs)
    before = placement.setting.previous_nodes
    for name, weight in (("moved_instances", None), ("moved_state", "state_bytes")):
        if not goal.weights.get(name) or before is None:
            continue
        each = np.ones(len(graph)) if weight is None else graph.operator_values(weight)
        each = goal.coefficient(name) * np.where(before >= 0, each, 0.0)
        base += np.bincount(placement.block_of, each, minlength=count)
        known = np.flatnonzero((before >= 0) & (before < size))
        keys.append(placement.block_of[known].astype(np.int64) * size + before[known])
        values.append(-each[known])
    merged, position = np.unique(np.concatenate(keys), return_inverse=True)
    owner, node = np.divmod(merged, size)
    value = np.bincount(position, np.concatenate(values), minlength=len(merged)) + base[owner]
    return {
        fields.PRICE: base,
        fields.PRICE_FIRST: np.searchsorted(owner, np.arange(count + 1)).astype(np.int64),
        fields.PRICE_NODE: node.astype(np.int64),
        fields.PRICE_VALUE: value.astype(np.float64),
    }


def _apart(placement: Placement) -> Arrays:
    rules = placement.apart_rules
    labels: dict[str | None, int] = {}
    rule_label: dict[int, int] = {}
    entries = []
    for block, found in enumerate(rules):
        for number, by in dict.fromkeys(found):
            rule_label[number] = labels.setdefault(by, len(labels))
            entries.append((number, block))
    pairs = np.array(sorted(entries), dtype=np.int64).reshape(-1, 2)
    count = max(rule_label, default=-1) + 1
    by_block = pairs[np.argsort(pairs[:, 1], kind="stable")]
    places = np.zeros((len(labels), len(placement.network.nodes)), dtype=np.int64)
    for by, row in labels.items():
        known: dict[tuple[str, str], int] = {}
        for node, item in enumerate(placement.network.nodes):
            places[row, node] = known.setdefault(apart_place_of(item, by), len(known))
    return {
        fields.APART_FIRST: np.searchsorted(by_block[:, 1], np.arange(len(placement.blocks) + 1)).astype(
            np.int64
        ),
        fields.APART_RULE: np.ascontiguousarray(by_block[:, 0]),
        fields.RULE_FIRST: np.searchsorted(pairs[:, 0], np.arange(count + 1)).astype(np.int64),
        fields.RULE_BLOCK: np.ascontiguousarray(pairs[:, 1]),
        fields.RULE_PLACES: np.array([rule_label.get(number, 0) for number in range(count)], dtype=np.int64),
        fields.PLACES: places,
    }


def _machines(placement: Placement, goal: Goal, demand: FloatArray, wires: Wires) -> Arrays:
    network = placement.network
    cost = np.zeros(len(network.nodes))
    for name in goal.weights:
        metric = METRIC_BY_NAME[name]
        if isinstance(metric, AdditiveMetric) and metric.per_node is not None:
            cost += goal.coefficient(name) * np.nan_to_num(metric.per_node(network), posinf=0.0)
    with np.errstate(divide="ignore"):
        logarithm = finite(np.log(network.availability))
    totals, counts = demand.sum(axis=0), (demand > 0).sum(axis=0)
    card = network.nic_bytes_per_s.astype(np.float64)
    return {
        fields.LIMIT: _limits(placement),
        fields.UNIT: np.where(counts > 0, totals / np.maximum(counts, 1), 1.0),
        fields.COST_OF_USE: cost,
        fields.NODE_LOG_AVAILABILITY: logarithm,
        fields.SLOWNESS: 1.0 / network.speed.astype(np.float64),
        fields.CARD: np.where(np.isfinite(card), card * (1.0 + ROOM), np.inf),
        fields.CARD_SPEED: card,
        fields.RUN_QUEUE: network.run_queue.astype(np.float64),
        fields.NEAR: near_nodes(network, wires),
    }


def _paths(placement: Placement) -> Arrays:
    graph = placement.graph
    order = [number for item in graph.operator_order for number in graph.operators[item].instances]
    instance = np.array(order, dtype=np.int64)
    position = np.empty_like(instance)
    position[instance] = np.arange(len(instance))
    by_receiver = np.argsort(graph.pair_receiver, kind="stable")
    by_sender = np.argsort(graph.pair_sender, kind="stable")
    everyone = np.arange(len(graph) + 1)
    size = np.nan_to_num(data_unit_bytes(placement.setting.problem))
    applications = np.arange(len(placement.setting.problem.applications) + 1)
    return {
        fields.POSITION: position,
        fields.INSTANCE: instance,
        fields.WORK: graph.work_ms.astype(np.float64),
        fields.INPUT_FIRST: np.searchsorted(graph.pair_receiver[by_receiver], everyone).astype(np.int64),
        fields.INPUTS: graph.pair_sender[by_receiver].astype(np.int64),
        fields.INPUT_BYTES: size[graph.pair_stream[by_receiver]],
        fields.OUTPUT_BYTES: size[graph.pair_stream[by_sender]],
        fields.OUTPUT_FIRST: np.searchsorted(graph.pair_sender[by_sender], everyone).astype(np.int64),
        fields.OUTPUTS: graph.pair_receiver[by_sender].astype(np.int64),
        fields.APPLICATION_FIRST: np.searchsorted(graph.application_of[instance], applications).astype(
            np.int64
        ),
    }


def previous_blocks(placement: Placement) -> IndexArray:
    """Where a previous plan has blocks, if they may still be there; else -1."""
    before = placement.setting.previous_nodes
    wanted = np.full(len(placement.blocks), -1, dtype=np.int64)
    if before is None:
        return wanted
    for block, members in enumerate(placement.blocks):
        if before[members[0]] in placement.candidates[block]:
            wanted[block] = before[members[0]]
    return wanted
