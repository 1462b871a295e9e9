"""What counts once: equal computations on a node, equal results between two, an object's download.

`uncount_*` takes what a group adds off the loads, `count_*` puts on what it adds now; between them the group
may change.
"""

from __future__ import annotations

from berth.policies.many.case import Case
from berth.policies.many.cells import UNFETCHED
from berth.policies.many.loads import add_flow, add_load, add_shares, link_room, room
from berth.policies.many.state import REUSED, State, put_amount, put_number
from berth.space.compiled import compiled


@compiled
def uncount_computation(case: Case, state: State, computation: int, node: int) -> None:
    """Take a computation off a node's processor and resources."""
    units, cells = case.units, case.cells
    width = cells.resources + 1
    for entry in range(units.computation_first[computation], units.computation_first[computation + 1]):
        unit = units.computation_units[entry]
        if state.node[unit] != node:
            continue
        for column in range(width):
            held = state.held[unit * width + column]
            if held == 0.0:
                continue
            put_amount(state, cells.held + unit * width + column, 0.0)
            if column == 0:
                add_load(case, state, cells.busy + node, -busy_share(case, unit, node, held))
            else:
                add_load(case, state, cells.capacity + (column - 1) * cells.nodes + node, -held)


@compiled
def count_computation(case: Case, state: State, computation: int, node: int) -> None:
    """Put a computation on a node's processor and resources: once, at the highest need there."""
    units, cells = case.units, case.cells
    width = cells.resources + 1
    for column in range(width):
        highest, holder = 0.0, -1
        for entry in range(units.computation_first[computation], units.computation_first[computation + 1]):
            unit = units.computation_units[entry]
            if state.node[unit] == node:
                value = (
                    state.throughput[units.operator[unit]] if column == 0 else units.demand[unit, column - 1]
                )
                if value > highest:
                    highest, holder = value, unit
        if holder < 0:
            continue
        put_amount(state, cells.held + holder * width + column, highest)
        if column == 0:
            add_load(case, state, cells.busy + node, busy_share(case, holder, node, highest))
        else:
            add_load(case, state, cells.capacity + (column - 1) * cells.nodes + node, highest)


@compiled
def busy_share(case: Case, unit: int, node: int, throughput: float) -> float:
    """The share of a node's processor that a unit takes."""
    return float(throughput * case.units.work[unit] / case.nodes.speed[node])


@compiled
def pair_rate(case: Case, state: State, pair: int) -> float:
    """Bytes per second from the sender's stand-in to the receiver."""
    pairs = case.pairs
    throughput = state.throughput[case.units.operator[pairs.receiver[pair]]]
    return float(pairs.fixed_rate[pair] + pairs.rate_per_result[pair] * max(throughput, 0.0))


@compiled
def supplier(case: Case, state: State, unit: int) -> int:
    """The unit whose result stands for a unit's: that of the provider with the same number."""
    operator = case.units.operator[unit]
    first = case.operators.first_unit
    return int(first[state.provider[operator]] + unit - first[operator])


@compiled
def uncount_result(case: Case, state: State, result: int, sender: int, receiver: int) -> None:
    """Take a result off the way between two nodes."""
    pairs = case.pairs
    for entry in range(pairs.result_first[result], pairs.result_first[result + 1]):
        pair = pairs.result_pairs[entry]
        if (
            state.pair_from[pair] == sender
            and state.pair_to[pair] == receiver
            and state.crossing[pair] >= 0.0
        ):
            rate = state.crossing[pair]
            put_amount(state, case.cells.crossing + pair, -1.0)
            add_flow(case, state, sender, receiver, rate, -1)
            add_shares(case, state, sender, receiver, rate, -1)


@compiled
def count_result(case: Case, state: State, result: int, sender: int, receiver: int) -> None:
    """Put a result on the way between two nodes: once, at the highest rate."""
    pairs = case.pairs
    highest, holder = -1.0, -1
    for entry in range(pairs.result_first[result], pairs.result_first[result + 1]):
        pair = pairs.result_pairs[entry]
        if state.pair_from[pair] == sender and state.pair_to[pair] == receiver:
            rate = pair_rate(case, state, pair)
            if rate > highest:
                highest, holder = rate, pair
    if holder >= 0:
        put_amount(state, case.cells.crossing + holder, highest)
        add_flow(case, state, sender, receiver, highest, 1)
        add_shares(case, state, sender, receiver, highest, 1)


@compiled
def recount_pair(case: Case, state: State, pair: int) -> None:
    """Count a pair by where its ends are now, and by its rate now."""
    pairs, cells = case.pairs, case.cells
    sender = state.node[supplier(case, state, pairs.sender[pair])]
    receiver = state.node[pairs.receiver[pair]]
    if sender < 0 or receiver < 0 or sender == receiver:
        sender, receiver = -1, -1
    result, before_from, before_to = pairs.result[pair], state.pair_from[pair], state.pair_to[pair]
    if before_from >= 0:
        uncount_result(case, state, result, before_from, before_to)
    if before_from != sender or before_to != receiver:
        put_number(state, cells.pair_from + pair, -1)
        if before_from >= 0:
            count_result(case, state, result, before_from, before_to)
        if sender >= 0:
            uncount_result(case, state, result, sender, receiver)
        put_number(state, cells.pair_from + pair, sender)
        put_number(state, cells.pair_to + pair, receiver)
    if sender >= 0:
        count_result(case, state, result, sender, receiver)


@compiled
def recount_inputs(case: Case, state: State, unit: int) -> None:
    """Count all that a unit receives."""
    pairs = case.pairs
    for entry in range(pairs.in_first[unit], pairs.in_first[unit + 1]):
        recount_pair(case, state, pairs.in_pairs[entry])


@compiled
def recount_outputs(case: Case, state: State, unit: int) -> None:
    """Count all that a unit sends, to its own consumers and to those of operators that take its result."""
    pairs, operators = case.pairs, case.operators
    operator = case.units.operator[unit]
    number = unit - operators.first_unit[operator]
    kind = operators.kind[operator]
    for entry in range(operators.kind_first[kind], operators.kind_first[kind + 1]):
        other = operators.kind_operators[entry]
        if other == operator or (state.status[other] == REUSED and state.provider[other] == operator):
            sender = operators.first_unit[other] + number
            for position in range(pairs.out_first[sender], pairs.out_first[sender + 1]):
                recount_pair(case, state, pairs.out_pairs[position])


@compiled
def recount_download(case: Case, state: State, item: int, node: int) -> None:
    """Count an object's download to a node; its source is chosen when it is first needed, and kept."""
    objects, cells = case.objects, case.cells
    if objects.holds[item, node]:
        return
    rate = -1.0
    for entry in range(objects.reader_first[item], objects.reader_first[item + 1]):
        if state.node[objects.reader_unit[entry]] == node:
            rate = max(rate, state.read[objects.reader_read[entry]])
    at = item * cells.nodes + node
    before = state.fetched[at]
    if rate == before:
        return
    source = state.source[at]
    if before >= 0.0:
        if source >= 0:
            add_flow(case, state, source, node, before, -1)
        else:
            add_load(case, state, cells.marks + UNFETCHED, -1.0)
    put_amount(state, cells.fetched + at, rate)
    if rate < 0.0:
        put_number(state, cells.source + at, -1)
        return
    if before < 0.0:
        source = best_source(case, state, item, node)
        put_number(state, cells.source + at, source)
    if source >= 0:
        add_flow(case, state, source, node, rate, 1)
    else:
        add_load(case, state, cells.marks + UNFETCHED, 1.0)


@compiled
def best_source(case: Case, state: State, item: int, node: int) -> int:
    """The linked holder with the most room on its card and on the way, the first one if several; -1: none."""
    objects = case.objects
    best, most = -1, -float("inf")
    for entry in range(objects.holder_first[item], objects.holder_first[item + 1]):
        holder = objects.holders[entry]
        if not case.nodes.connected[holder, node]:
            continue
        left = min(room(case, state, case.cells.card + holder), link_room(case, state, holder, node))
        if best < 0 or left > most:
            best, most = holder, left
    return best
