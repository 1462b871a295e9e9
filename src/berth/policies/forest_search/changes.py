"""Changes that a search tries: moves of one or several units, swaps, merging, splitting, other sources."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.policies.forest_search.aims import COST, EXCESS, Aims, add_change
from berth.policies.forest_search.chance import Words, drawn
from berth.policies.many.case import Case
from berth.policies.many.cells import BROKEN, UNPLACED
from berth.policies.many.counting import supplier
from berth.policies.many.engine import can_reuse, compute, holds, move, move_operator, reuse
from berth.policies.many.loads import add_flow, exceeds
from berth.policies.many.state import REUSED, WANTED, State, keep, put_number, undo
from berth.space.compiled import compiled

IntArray = NDArray[np.int64]
_TRIES = 8
_MOST = 24
"""Units of the largest cluster that moves at once."""


@compiled
def wanted_unit(case: Case, state: State, aims: Aims, random: Words) -> int:
    """A unit that is computed and may be touched, rather one on a node with too much; -1: none was found."""
    count = len(case.units.operator)
    choosy = state.figures[BROKEN] > 0 and drawn(random, 2) == 0
    found = -1
    for _ in range(4 * _TRIES):
        unit = drawn(random, count)
        if state.node[unit] >= 0 and not aims.bound[case.units.operator[unit]]:
            found = unit
            if not choosy or strained(case, state, state.node[unit]):
                return unit
    return found


@compiled
def strained(case: Case, state: State, node: int) -> bool:
    """Whether a node's processor, card or ports have too much to do."""
    for part in range(4):
        load = part * case.cells.nodes + node
        if exceeds(state.load[load], case.limit[load]):
            return True
    return False


@compiled
def neighbour(case: Case, state: State, unit: int, random: Words) -> int:
    """A unit that this one receives from or sends to, through those that take its result, too; -1: none."""
    pairs, operators = case.pairs, case.operators
    for _ in range(_TRIES):
        if drawn(random, 2) == 0:
            count = pairs.in_first[unit + 1] - pairs.in_first[unit]
            if count > 0:
                pair = pairs.in_pairs[pairs.in_first[unit] + drawn(random, count)]
                return supplier(case, state, pairs.sender[pair])
            continue
        operator = case.units.operator[unit]
        kind = operators.kind[operator]
        size = operators.kind_first[kind + 1] - operators.kind_first[kind]
        taker = operators.kind_operators[operators.kind_first[kind] + drawn(random, size)]
        if state.provider[taker] != operator:
            taker = operator
        one = operators.first_unit[taker] + unit - operators.first_unit[operator]
        count = pairs.out_first[one + 1] - pairs.out_first[one]
        if count > 0:
            return int(pairs.receiver[pairs.out_pairs[pairs.out_first[one] + drawn(random, count)]])
    return -1


@compiled
def target(case: Case, state: State, aims: Aims, unit: int, random: Words) -> int:
    """A node for a unit: where a neighbour is, where it was, where an object is held, any one; -1: none."""
    choice = drawn(random, 10)
    if choice < 6:
        other = neighbour(case, state, unit, random)
        if other >= 0 and state.node[other] >= 0 and aims.offered[state.node[other]]:
            return int(state.node[other])
    elif choice < 8:
        other = drawn(random, len(case.units.operator))
        if state.node[other] >= 0 and aims.offered[state.node[other]]:
            return int(state.node[other])
    elif choice == 8:
        if aims.home[unit] >= 0 and aims.home[unit] < case.cells.nodes:
            return int(aims.home[unit])
        objects, operator = case.objects, case.units.operator[unit]
        count = objects.read_first[operator + 1] - objects.read_first[operator]
        if count > 0:
            item = objects.read_object[objects.read_first[operator] + drawn(random, count)]
            holders = objects.holder_first[item + 1] - objects.holder_first[item]
            if holders > 0:
                node = objects.holders[objects.holder_first[item] + drawn(random, holders)]
                if aims.offered[node]:
                    return int(node)
    return int(aims.nodes[drawn(random, len(aims.nodes))])


@compiled
def cluster(case: Case, state: State, aims: Aims, unit: int, size: int, random: Words) -> IntArray:
    """Units on one node that hang together, from one of them on."""
    found = np.empty(size, dtype=np.int64)
    found[0] = unit
    count = 1
    for _ in range(3 * size):
        if count == size:
            break
        other = neighbour(case, state, found[drawn(random, count)], random)
        if other < 0 or state.node[other] != state.node[unit] or aims.bound[case.units.operator[other]]:
            continue
        fresh = True
        for entry in range(count):
            if found[entry] == other:
                fresh = False
        if fresh:
            found[count] = other
            count += 1
    return found[:count]


@compiled
def move_along(case: Case, state: State, aims: Aims, unit: int, node: int) -> None:
    """Move a unit, and with it what must be on the same node."""
    rules = case.rules
    waiting = [unit]
    while len(waiting) > 0:
        one = waiting.pop()
        move(case, state, one, node)
        for entry in range(rules.first[one], rules.first[one + 1]):
            other = rules.other[entry]
            elsewhere = state.node[other] >= 0 and state.node[other] != node
            if rules.row[entry] < 0 and elsewhere and not aims.bound[case.units.operator[other]]:
                waiting.append(other)


@compiled
def merge(case: Case, state: State, operator: int, random: Words) -> bool:
    """Take an equal result instead of computing it; those that took it from here take it from there, too."""
    operators = case.operators
    kind = operators.kind[operator]
    first, size = operators.kind_first[kind], operators.kind_first[kind + 1] - operators.kind_first[kind]
    if size < 2 or not operators.shareable[operator]:
        return False
    start = drawn(random, size)
    for entry in range(size):
        other = operators.kind_operators[first + (start + entry) % size]
        if other == operator or state.status[other] != WANTED or not placed(case, state, other):
            continue
        units = operators.first_unit
        if units[other + 1] - units[other] != units[operator + 1] - units[operator]:
            continue
        for position in range(first, first + size):
            taker = operators.kind_operators[position]
            if state.status[taker] == REUSED and state.provider[taker] == operator:
                reuse(case, state, taker, other)
        if state.status[operator] != WANTED:
            return True  # nobody else needed it
        if can_reuse(case, state, operator, other):
            reuse(case, state, operator, other)
        return True
    return False


@compiled
def placed(case: Case, state: State, operator: int) -> bool:
    """Whether all units of an operator have nodes."""
    for unit in range(case.operators.first_unit[operator], case.operators.first_unit[operator + 1]):
        if state.node[unit] < 0:
            return False
    return True


@compiled
def split(case: Case, state: State, aims: Aims, operator: int, node: int) -> None:
    """Compute what was reused, on a node; what feeds it is reused where it is computed, else comes along."""
    operators = case.operators
    compute(case, state, operator)
    waiting = [operator]
    while len(waiting) > 0:
        one = waiting.pop()
        if state.status[one] != WANTED or placed(case, state, one):
            continue
        if one != operator and reuse_any(case, state, one):
            continue
        move_operator(case, state, one, node)
        for entry in range(operators.input_first[one], operators.input_first[one + 1]):
            waiting.append(operators.inputs[entry])


@compiled
def reuse_any(case: Case, state: State, taker: int) -> bool:
    """Take the result of the first equal operator that is computed."""
    operators = case.operators
    kind = operators.kind[taker]
    for entry in range(operators.kind_first[kind], operators.kind_first[kind + 1]):
        provider = operators.kind_operators[entry]
        if can_reuse(case, state, taker, provider):
            reuse(case, state, taker, provider)
            return True
    return False


@compiled
def change_provider(case: Case, state: State, taker: int, random: Words) -> bool:
    """Take a result from another equal operator."""
    operators = case.operators
    kind = operators.kind[taker]
    first, size = operators.kind_first[kind], operators.kind_first[kind + 1] - operators.kind_first[kind]
    start = drawn(random, size)
    for entry in range(size):
        other = operators.kind_operators[first + (start + entry) % size]
        if other != state.provider[taker] and can_reuse(case, state, taker, other):
            reuse(case, state, taker, other)
            return True
    return False


@compiled
def change_source(case: Case, state: State, unit: int, random: Words) -> bool:
    """Download an object from another holder."""
    objects, cells = case.objects, case.cells
    operator, node = case.units.operator[unit], state.node[unit]
    count = objects.read_first[operator + 1] - objects.read_first[operator]
    if count == 0:
        return False
    item = objects.read_object[objects.read_first[operator] + drawn(random, count)]
    at = item * cells.nodes + node
    rate, before = state.fetched[at], state.source[at]
    holders = objects.holder_first[item + 1] - objects.holder_first[item]
    if rate < 0.0 or before < 0 or holders < 2:
        return False
    source = objects.holders[objects.holder_first[item] + drawn(random, holders)]
    if source == before or not case.nodes.connected[source, node]:
        return False
    set_source(case, state, item, node, source)
    return True


@compiled
def set_source(case: Case, state: State, item: int, node: int, source: int) -> None:
    """Download an object that a node needs from this holder, which must be linked."""
    at = item * case.cells.nodes + node
    rate, before = state.fetched[at], state.source[at]
    if rate >= 0.0 and before >= 0:
        add_flow(case, state, before, node, rate, -1)
        put_number(state, case.cells.source + at, source)
        add_flow(case, state, source, node, rate, 1)


@compiled
def replace_node(case: Case, state: State, aims: Aims, here: int, there: int, both: bool) -> None:
    """What is on a node goes to another one; with `both` also the other way round."""
    for unit in range(len(case.units.operator)):
        if aims.bound[case.units.operator[unit]]:
            continue
        if state.node[unit] == here:
            move(case, state, unit, there)
        elif both and state.node[unit] == there:
            move(case, state, unit, here)


@compiled
def clear(case: Case, state: State, aims: Aims) -> None:
    """Take everything from nodes that are not offered."""
    for unit in range(len(case.units.operator)):
        if state.node[unit] >= 0 and not aims.offered[state.node[unit]]:
            move(case, state, unit, -1)
    keep(state)


@compiled
def go_home(case: Case, state: State, aims: Aims) -> None:
    """Bring units back to where they were before, one by one, as far as all constraints stay kept."""
    for unit in range(len(case.units.operator)):
        home = aims.home[unit]
        if home >= 0 and state.node[unit] >= 0 and state.node[unit] != home:
            move_along(case, state, aims, unit, home)
            if holds(state):
                keep(state)
            else:
                undo(state)


@compiled
def place_all(case: Case, state: State, aims: Aims) -> None:
    """Give every wanted unit without a node the one where least is exceeded and paid; equal results first."""
    operators, first = case.operators, case.operators.first_unit
    change = np.zeros(3)
    for unit in range(len(case.units.operator)):
        operator = case.units.operator[unit]
        if state.status[operator] != WANTED or state.node[unit] >= 0:
            continue
        if (
            unit == first[operator]
            and operators.shareable[operator]
            and reuse_gently(case, state, aims, operator)
        ):
            continue
        best, least = aims.nodes[0], np.inf
        for node in aims.nodes:
            move(case, state, unit, node)
            change[:] = 0.0
            add_change(case, state, aims, change)
            undo(state)
            if change[EXCESS] + change[COST] < least:
                best, least = node, change[EXCESS] + change[COST]
        move(case, state, unit, best)
        keep(state)


@compiled
def reuse_gently(case: Case, state: State, aims: Aims, taker: int) -> bool:
    """Take the result of the first equal operator with which nothing more is exceeded."""
    operators = case.operators
    kind = operators.kind[taker]
    change = np.zeros(3)
    for entry in range(operators.kind_first[kind], operators.kind_first[kind + 1]):
        provider = operators.kind_operators[entry]
        if can_reuse(case, state, taker, provider):
            unplaced = state.figures[UNPLACED]
            reuse(case, state, taker, provider)
            change[:] = 0.0
            add_change(case, state, aims, change)
            if change[EXCESS] <= state.figures[UNPLACED] - unplaced + 1e-9:
                keep(state)
                return True
            undo(state)
    return False


@compiled
def try_change(case: Case, state: State, aims: Aims, random: Words) -> bool:
    """Make one change by chance; False: nothing came of it."""
    choice = drawn(random, 100)
    if choice < 12:
        taker = drawn(random, len(case.operators.kind))
        if state.status[taker] != REUSED or aims.bound[taker]:
            return False
        if choice < 4:
            return change_provider(case, state, taker, random)
        return split_somewhere(case, state, aims, taker, random)
    unit = wanted_unit(case, state, aims, random)
    if unit < 0:
        return False
    if choice < 20:
        return merge(case, state, case.units.operator[unit], random)
    if choice < 25:
        return change_source(case, state, unit, random)
    node = target(case, state, aims, unit, random)
    here = state.node[unit]
    if node == here:
        return False
    if choice < 27:
        replace_node(case, state, aims, here, node, choice == 25)
    elif choice < 40:
        other = wanted_unit(case, state, aims, random)
        if other < 0 or state.node[other] == here or not aims.offered[here]:
            return False
        node = state.node[other]
        move(case, state, other, here)
        move(case, state, unit, node)
    elif choice < 65:
        for one in cluster(case, state, aims, unit, 2 + drawn(random, _MOST - 1), random):
            move_along(case, state, aims, one, node)
    else:
        move_along(case, state, aims, unit, node)
    return True


@compiled
def split_somewhere(case: Case, state: State, aims: Aims, taker: int, random: Words) -> bool:
    """Compute what was reused where one of its consumers is, or on a node by chance."""
    operators, first = case.operators, case.operators.first_unit
    count = operators.consumer_first[taker + 1] - operators.consumer_first[taker]
    node = -1
    if count > 0:
        consumer = operators.consumers[operators.consumer_first[taker] + drawn(random, count)]
        node = state.node[first[consumer]]
    if node < 0 or not aims.offered[node]:
        node = aims.nodes[drawn(random, len(aims.nodes))]
    split(case, state, aims, taker, node)
    return True
