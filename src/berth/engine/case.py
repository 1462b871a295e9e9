"""From a placement and a goal to the engine's case: blocks, streams, prices, limits and paths."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.core import engine
from berth.engine.links import Parts, flow_terms, links_of, machines_of
from berth.evaluation import METRIC_BY_NAME
from berth.evaluation.goal import Goal
from berth.evaluation.limits import SAFE_TOLERANCE, one_core
from berth.evaluation.metrics import AVAILABILITY, AdditiveMetric
from berth.evaluation.situation import Unlike, data_unit_bytes
from berth.exact.placement import BlockLimit, Placement
from berth.model import BadInput

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

NO_SUMS = (
    "response_time",
    "response_time_sum",
    "loaded_response_time",
    "bandwidth_max",
    "utilisation_max",
)
BY_THEMSELVES = ("availability", "placement_cost", "processing_power", "moved_instances", "moved_state")
"""The metrics by instance that have few costs or are the engine's own. Any other is a whole table."""
MOST_COSTS = 50_000_000
"""Entries of such a table: 400 MB."""


def case_of(
    placement: Placement,
    goal: Goal,
    rate: FloatArray | None = None,
    limited: bool = True,
    own_costs: engine.OwnCosts | None = None,
) -> engine.Case:
    """The case of a placement whose candidates are not pruned yet.

    Args:
        placement: what is placed.
        goal: what the value of a plan is.
        rate: replaces the rates of its pairs.
        limited: whether limits and requirements count; without them, it is only about the value.
        own_costs: replace what the goal makes of blocks by themselves.

    Raises:
        BadInput: the goal has a metric that the engine doesn't know.
    """
    _check(goal)
    network, table = placement.network, placement.network.table
    weights = {name: goal.coefficient(name) for name in goal.weights}
    time, times, loaded, busiest, utilised = (weights.get(name, 0.0) for name in NO_SUMS)
    is_product = goal.scale == "raw" and goal.single is None
    availability = weights.get("availability", 0.0)
    applications = placement.setting.problem.applications
    bounded_time = limited and any(each.max_response_time_ms is not None for each in applications)
    bounded_availability = limited and any(each.min_availability for each in applications)
    rate = placement.rate if rate is None else rate
    total = float(rate.sum())
    binding = limited and table.bandwidth_bound and not _never_full(table.physical_bandwidth, total)
    parts = Parts(
        flow=bool(flow_terms(goal)),
        delay=time != 0.0 or times != 0.0 or loaded != 0.0 or bounded_time,
        availability=availability != 0.0 or bounded_availability,
        links=binding or busiest != 0.0,
        ports=limited and network.one_port,
        cards=limited and network.cards_bound and float(network.nic_bytes_per_s.min()) < total,
    )
    links, near = links_of(network, goal, parts)
    return engine.Case(
        blocks=_blocks(placement),
        streams=_streams(placement, rate),
        own_costs=_own_costs(placement, goal) if own_costs is None else own_costs,
        limits=_limits(placement, limited),
        links=links,
        machines=machines_of(network, goal, near, parts),
        paths=_paths(placement, limited),
        processing=_processing(placement) if utilised != 0.0 else NO_PROCESSING,
        weights=engine.Weights(
            response_time=time,
            response_time_sum=times,
            loaded_response_time=loaded,
            busiest_link=busiest,
            busiest_machine=utilised,
            log_availability=0.0 if is_product else availability,
            availability=availability if is_product else 0.0,
        ),
    )


def likeness_case(placement: Placement, known: Unlike) -> engine.Case:
    """A case whose value is how many operators are where they are in a known plan, or more.

    An instance counts its share of the operator on any node that had one: for several instances this is more
    than what is the same, so what is different enough here is so for the judge.
    """
    graph, size = placement.graph, len(placement.network.nodes)
    keys, values = [np.zeros(0, np.int64)], [np.zeros(0)]
    for item in graph.operators:
        instances = list(item.instances)
        nodes = np.unique(known.nodes[instances]).astype(np.int64)
        nodes = nodes[nodes >= 0]
        for block in placement.block_of[instances].tolist():
            keys.append(block * size + nodes)
            values.append(np.full(len(nodes), 1.0 / len(instances)))
    nothing = np.zeros(len(placement.blocks))
    costs = _listed_costs(placement, keys, values, nothing, nothing)
    return case_of(placement, Goal({}), limited=False, own_costs=costs)


NO_PROCESSING = engine.Processing(load=np.zeros(0), one_core=np.zeros(0), processors=np.zeros(0))


def _processing(placement: Placement) -> engine.Processing:
    loads = placement.graph.load
    busiest = np.zeros(len(placement.blocks))
    np.maximum.at(busiest, placement.block_of, loads)
    return engine.Processing(
        load=np.bincount(placement.block_of, loads, len(placement.blocks)).astype(np.float64),
        one_core=busiest,
        processors=placement.network.processors,
    )


def _check(goal: Goal) -> None:
    for name in goal.weights:
        metric = METRIC_BY_NAME[name]
        additive = isinstance(metric, AdditiveMetric) and (metric.per_pair is None or metric is AVAILABILITY)
        if name not in NO_SUMS and not additive:
            raise BadInput([f"objective.{name}: search can't optimise it"])


def _never_full(bandwidth: object, total: float) -> bool:
    """Whether everything together fits through any link."""
    entries = getattr(bandwidth, "entries", None)
    values = entries[2] if entries is not None else np.asarray(bandwidth)
    return bool((np.asarray(values) >= total).all())


def _limits(placement: Placement, limited: bool) -> engine.Limits:
    limits = engine.Limits(len(placement.blocks), len(placement.network.nodes))
    for limit in placement.limits if limited else ():
        blocks = np.flatnonzero(limit.needed)
        limits.add(
            blocks=blocks, needed=limit.needed[blocks], place_of_node=limit.of.place_of, room=limit.of.room
        )
    return limits


def _blocks(placement: Placement) -> engine.Blocks:
    sizes = np.array([len(block) for block in placement.blocks], dtype=np.int64)
    firsts = np.array([block[0] for block in placement.blocks], dtype=np.int64)
    _, position = _along_streams(placement)
    members = np.array([number for block in placement.blocks for number in block], dtype=np.int64)
    group, candidates = _candidate_groups(placement)
    return engine.Blocks(
        member_first=_starts(sizes),
        members=position[members],
        application=placement.graph.application_of[firsts].astype(np.int64),
        candidate_group=group,
        candidate_first=_starts(np.array([len(nodes) for nodes in candidates], dtype=np.int64)),
        candidates=np.concatenate(candidates),
    )


def _starts(sizes: IndexArray) -> IndexArray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])


def _along_streams(placement: Placement) -> tuple[IndexArray, IndexArray]:
    """Instances with senders before receivers, and the position of each among them."""
    graph = placement.graph
    order = [number for item in graph.operator_order for number in graph.operators[item].instances]
    instance = np.array(order, dtype=np.int64)
    position = np.empty_like(instance)
    position[instance] = np.arange(len(instance))
    return instance, position


def _candidate_groups(placement: Placement) -> tuple[IndexArray, list[IndexArray]]:
    """Blocks by where they fit alone, and where that is."""
    limits = _limits_of_nodes(placement)
    needed, rooms = np.zeros((len(placement.blocks), 0)), np.zeros((len(placement.network.nodes), 0))
    if limits:
        needed = np.stack([limit.needed for limit in limits], axis=1)
        rooms = np.stack([limit.of.room for limit in limits], axis=1)
        rooms += SAFE_TOLERANCE * np.abs(rooms)
    core = one_core(placement.setting)
    each = np.zeros(len(placement.blocks))
    if core is not None:
        np.maximum.at(each, placement.block_of, core.needed)
    numbers: dict[tuple[int, bytes, float], int] = {}
    candidates: list[IndexArray] = []
    group = np.empty(len(placement.blocks), dtype=np.int64)
    known: dict[bytes, IndexArray] = {}
    for block, nodes in enumerate(placement.candidates):
        need = needed[block]
        key = id(nodes), need.tobytes(), float(each[block])
        if key not in numbers:
            fits = nodes[((need <= rooms[nodes]) | (need == 0.0)).all(axis=1)].astype(np.int64)
            if core is not None:
                fits = fits[core.fits(placement.blocks[block], fits)]
            numbers[key] = len(candidates)
            candidates.append(known.setdefault(fits.tobytes(), fits))
        group[block] = numbers[key]
    return group, candidates


def _streams(placement: Placement, pair_rate: FloatArray) -> engine.Streams:
    """All that two blocks exchange in one direction is one stream, listed at both of them."""
    graph, count = placement.graph, len(placement.blocks)
    sender = placement.block_of[graph.pair_sender].astype(np.int64)
    receiver = placement.block_of[graph.pair_receiver].astype(np.int64)
    apart = sender != receiver
    keys, position = np.unique(sender[apart] * count + receiver[apart], return_inverse=True)
    rate = np.bincount(position, pair_rate[apart], minlength=len(keys)).astype(np.float64)
    pairs = np.bincount(position, minlength=len(keys)).astype(np.float64)
    senders, receivers = np.divmod(keys, count)
    owner = np.concatenate([senders, receivers])
    order = np.argsort(owner, kind="stable")
    return engine.Streams(
        first=np.searchsorted(owner[order], np.arange(count + 1)).astype(np.int64),
        other=np.concatenate([receivers, senders])[order],
        sends=np.repeat([True, False], len(keys))[order],
        rate=np.tile(rate, 2)[order],
        pairs=np.tile(pairs, 2)[order],
    )


def _own_costs(placement: Placement, goal: Goal) -> engine.OwnCosts:
    """Placement costs and moves: an entry where a node differs from what a block costs elsewhere."""
    graph, index = placement.graph, placement.network.index
    count, size = len(placement.blocks), len(placement.network.nodes)
    keys, values, usual = [np.zeros(0, np.int64)], [np.zeros(0)], np.zeros(count)
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
        usual += np.bincount(placement.block_of, each, minlength=count)
        known = np.flatnonzero((before >= 0) & (before < size))
        keys.append(placement.block_of[known].astype(np.int64) * size + before[known])
        values.append(-each[known])
    for name in goal.weights:
        metric = METRIC_BY_NAME[name]
        if isinstance(metric, AdditiveMetric) and metric.per_instance and name not in BY_THEMSELVES:
            if len(graph) * size > MOST_COSTS:
                raise BadInput([f"objective.{name}: search can't optimise it on so many nodes"])
            instances, nodes = np.repeat(np.arange(len(graph)), size), np.tile(np.arange(size), len(graph))
            keys.append(placement.block_of[instances].astype(np.int64) * size + nodes)
            values.append(goal.coefficient(name) * metric.per_instance(placement.setting, instances, nodes))
    by_work = np.zeros(count)
    if "processing_power" in goal.weights:
        by_work = goal.coefficient("processing_power") * placement.block_busy
    return _listed_costs(placement, keys, values, usual, by_work)


def _listed_costs(
    placement: Placement,
    keys: list[IndexArray],
    values: list[FloatArray],
    usual: FloatArray,
    by_work: FloatArray,
) -> engine.OwnCosts:
    """What blocks cost by themselves: added up under `block * nodes + node`, usual for all other nodes."""
    count, size = len(placement.blocks), len(placement.network.nodes)
    merged, position = np.unique(np.concatenate(keys), return_inverse=True)
    owner, node = np.divmod(merged, size)
    value = np.bincount(position, np.concatenate(values), minlength=len(merged)) + usual[owner]
    return engine.OwnCosts(
        by_work=by_work,
        usual=usual,
        first=np.searchsorted(owner, np.arange(count + 1)).astype(np.int64),
        node=node.astype(np.int64),
        cost=value.astype(np.float64),
    )


def _paths(placement: Placement, limited: bool) -> engine.Paths:
    graph, applications = placement.graph, placement.setting.problem.applications
    instance, position = _along_streams(placement)
    sender, receiver = position[graph.pair_sender], position[graph.pair_receiver]
    by_receiver, by_sender = np.argsort(receiver, kind="stable"), np.argsort(sender, kind="stable")
    everyone = np.arange(len(graph) + 1)
    bytes_of = np.nan_to_num(data_unit_bytes(placement.setting.problem)).astype(np.float64)
    latest = [each.max_response_time_ms if limited else None for each in applications]
    with np.errstate(divide="ignore"):
        least = np.log(np.array([(each.min_availability or 0.0) * limited for each in applications]))
    return engine.Paths(
        block_of=placement.block_of[instance].astype(np.int64),
        work_ms=graph.work_ms[instance].astype(np.float64),
        input_first=np.searchsorted(receiver[by_receiver], everyone).astype(np.int64),
        inputs=sender[by_receiver],
        input_bytes=bytes_of[graph.pair_stream[by_receiver]],
        output_first=np.searchsorted(sender[by_sender], everyone).astype(np.int64),
        outputs=receiver[by_sender],
        output_bytes=bytes_of[graph.pair_stream[by_sender]],
        application_first=np.searchsorted(
            graph.application_of[instance], np.arange(len(applications) + 1)
        ).astype(np.int64),
        latest_ms=np.array([np.inf if ms is None else ms for ms in latest], dtype=np.float64),
        least_log_availability=least,
    )


def case_of_sums(
    *,
    candidates: list[IndexArray],
    traffic: FloatArray,
    limits: engine.Limits,
    distance: FloatArray,
    cost_of_use: FloatArray,
) -> engine.Case:
    """A case of which only sums count, and that comes from no problem.

    Args:
        candidates: where each block may go.
        traffic: [blocks, blocks], from row to column.
        limits: what nodes and places bear.
        distance: [nodes, nodes]: what traffic costs between them; infinite: there is no way.
        cost_of_use: of every node that holds anything.
    """
    blocks, nodes = len(candidates), len(cost_of_use)
    sender, receiver = np.nonzero(traffic)
    owner = np.concatenate([sender, receiver])
    order = np.argsort(owner, kind="stable")
    each, no_rows = np.arange(blocks + 1), np.zeros(blocks + 1, np.int64)
    no_numbers, no_amounts, no_matrix = no_rows[:0], np.zeros(0), np.zeros((0, 0))
    way = np.isfinite(distance)
    return engine.Case(
        blocks=engine.Blocks(
            member_first=each,
            members=each[:-1],
            application=np.zeros(blocks, np.int64),
            candidate_group=each[:-1],
            candidate_first=_starts(np.array([len(here) for here in candidates], dtype=np.int64)),
            candidates=np.concatenate(candidates),
        ),
        streams=engine.Streams(
            first=np.searchsorted(owner[order], each),
            other=np.concatenate([receiver, sender])[order],
            sends=np.repeat([True, False], len(sender))[order],
            rate=np.tile(traffic[sender, receiver], 2)[order],
            pairs=np.ones(len(owner)),
        ),
        own_costs=engine.OwnCosts(
            by_work=np.zeros(blocks), usual=np.zeros(blocks), first=no_rows, node=no_numbers, cost=no_amounts
        ),
        limits=limits,
        links=engine.Links.of_matrices(
            nodes=nodes,
            half_duplex=False,
            flow=np.where(way, distance, 0.0),
            delay_ms=no_matrix,
            log_availability=no_matrix,
            linked=no_matrix.astype(bool) if way.all() else way,
            next_hop=no_matrix.astype(np.int64),
            physical_bandwidth=no_matrix,
            logical_bandwidth=no_matrix,
        ),
        machines=engine.Machines(
            cost_of_use=cost_of_use,
            log_availability=np.zeros(nodes),
            slowness=np.ones(nodes),
            card_bytes_per_s=np.full(nodes, np.inf),
            run_queue=np.zeros(nodes),
            near=np.zeros((nodes, 0), np.int64),
            cards_count=False,
        ),
        paths=engine.Paths(
            block_of=each[:-1],
            work_ms=np.zeros(blocks),
            input_first=no_rows,
            inputs=no_numbers,
            input_bytes=no_amounts,
            output_first=no_rows,
            outputs=no_numbers,
            output_bytes=no_amounts,
            application_first=np.array([0, blocks]),
            latest_ms=np.array([np.inf]),
            least_log_availability=np.array([-np.inf]),
        ),
        processing=NO_PROCESSING,
        weights=engine.Weights(),
    )


def blocks_along_streams(placement: Placement) -> IndexArray:
    """Blocks in the order in which data reaches their first instances."""
    along = placement.block_of[_along_streams(placement)[0]]
    _, first = np.unique(along, return_index=True)
    return along[np.sort(first)].astype(np.int64)


def sizes_of_blocks(placement: Placement) -> FloatArray:
    """The most that each block needs of anything that nodes have, in units of what blocks need on average."""
    sizes = np.zeros(len(placement.blocks))
    for limit in _limits_of_nodes(placement):
        sizes = np.maximum(sizes, limit.needed / limit.needed[limit.needed > 0.0].mean())
    return sizes


def _limits_of_nodes(placement: Placement) -> list[BlockLimit]:
    """What nodes have themselves: capacities and processors, no rules."""
    return [limit for limit in placement.limits if limit.of.of_nodes]


def previous_nodes_of_blocks(placement: Placement) -> IndexArray:
    """Where a previous plan has blocks, if they may still be there; else -1."""
    before = placement.setting.previous_nodes
    wanted = np.full(len(placement.blocks), -1, dtype=np.int64)
    if before is None:
        return wanted
    for block, members in enumerate(placement.blocks):
        if before[members[0]] in placement.candidates[block]:
            wanted[block] = before[members[0]]
    return wanted
