"""What can be done to a plan. Every operation changes the loads that it touches, and nothing else."""

from __future__ import annotations

from berth.policies.many.case import Case
from berth.policies.many.cells import BROKEN, MISPLACED, RULES, UNPLACED
from berth.policies.many.counting import (
    count_computation,
    recount_download,
    recount_inputs,
    recount_outputs,
    uncount_computation,
)
from berth.policies.many.lifting import set_provider
from berth.policies.many.loads import add_load
from berth.policies.many.state import REUSED, SKIPPED, WANTED, State, put_number
from berth.space.compiled import compiled


@compiled
def holds(state: State) -> bool:
    """Whether the plan so far keeps every constraint that the engine knows."""
    return bool(state.figures[BROKEN] == 0)


@compiled
def move(case: Case, state: State, unit: int, node: int) -> None:
    """Compute a unit of a wanted operator on a node, wherever it was; -1: nowhere."""
    cells, units = case.cells, case.units
    before = state.node[unit]
    if before == node:
        return
    computation = units.computation[unit]
    for place in (before, node):
        if place >= 0:
            uncount_computation(case, state, computation, place)
    _count_rules(case, state, unit, before, -1)
    put_number(state, cells.node + unit, node)
    for place, sign in ((before, -1), (node, 1)):
        if place >= 0:
            put_number(state, cells.hosted + place, state.hosted[place] + sign)
            put_number(state, cells.figures + UNPLACED, state.figures[UNPLACED] - sign)
            count_computation(case, state, computation, place)
    _count_rules(case, state, unit, node, 1)
    recount_inputs(case, state, unit)
    recount_outputs(case, state, unit)
    objects, operator = case.objects, units.operator[unit]
    for read in range(objects.read_first[operator], objects.read_first[operator + 1]):
        for place in (before, node):
            if place >= 0:
                recount_download(case, state, objects.read_object[read], place)


@compiled
def _count_rules(case: Case, state: State, unit: int, node: int, sign: int) -> None:
    """Count (sign 1) or uncount (-1) a unit that is where it may not be, alone or beside others."""
    if node < 0:
        return
    rules, marks = case.rules, case.cells.marks
    if not rules.allowed[rules.home[case.units.operator[unit]], node]:
        add_load(case, state, marks + MISPLACED, float(sign))
    for entry in range(rules.first[unit], rules.first[unit + 1]):
        other, row = state.node[rules.other[entry]], rules.row[entry]
        if other < 0:
            continue
        broken = other != node if row < 0 else rules.place[row, other] == rules.place[row, node]
        if broken:
            add_load(case, state, marks + RULES, float(sign))


@compiled
def move_operator(case: Case, state: State, operator: int, node: int) -> None:
    """Compute all units of a wanted operator on a node; -1: nowhere."""
    first = case.operators.first_unit
    for unit in range(first[operator], first[operator + 1]):
        move(case, state, unit, node)


@compiled
def can_reuse(case: Case, state: State, taker: int, provider: int) -> bool:
    """Whether one operator can take another's result: it is equal and computed, and nobody takes its own."""
    operators, first = case.operators, case.operators.first_unit
    if taker == provider or operators.kind[taker] != operators.kind[provider]:
        return False
    if not operators.shareable[taker] or state.status[taker] == SKIPPED or state.status[provider] != WANTED:
        return False
    if first[taker + 1] - first[taker] != first[provider + 1] - first[provider]:
        return False
    for unit in range(first[provider], first[provider + 1]):
        if state.node[unit] < 0:
            return False
    return takers(case, state, taker) == 0


@compiled
def takers(case: Case, state: State, provider: int) -> int:
    """How many operators take an operator's result."""
    operators = case.operators
    kind = operators.kind[provider]
    count = 0
    for entry in range(operators.kind_first[kind], operators.kind_first[kind + 1]):
        other = operators.kind_operators[entry]
        count += other != provider and state.status[other] == REUSED and state.provider[other] == provider
    return count


@compiled
def reuse(case: Case, state: State, taker: int, provider: int) -> None:
    """Take a result instead of computing it (`can_reuse` first); what nobody needs any more is skipped."""
    operators, cells = case.operators, case.cells
    put_number(state, cells.uses + provider, state.uses[provider] + 1)
    waiting = [taker]
    waiting.pop()
    if state.status[taker] == REUSED:
        waiting.append(state.provider[taker])
    else:
        _withdraw(case, state, taker)
        for entry in range(operators.input_first[taker], operators.input_first[taker + 1]):
            waiting.append(operators.inputs[entry])
    put_number(state, cells.status + taker, REUSED)
    set_provider(case, state, taker, provider)
    first = operators.first_unit
    for unit in range(first[provider], first[provider + 1]):
        recount_outputs(case, state, unit)
    while len(waiting) > 0:
        _use_less(case, state, waiting.pop(), waiting)


@compiled
def _withdraw(case: Case, state: State, operator: int) -> None:
    """Take a wanted operator from its nodes, and off the list of those that need one."""
    move_operator(case, state, operator, -1)
    first = case.operators.first_unit
    left = state.figures[UNPLACED] - (first[operator + 1] - first[operator])
    put_number(state, case.cells.figures + UNPLACED, left)


@compiled
def _use_less(case: Case, state: State, operator: int, waiting: list[int]) -> None:
    """One use less of an operator; without any it is skipped, and what it used is used less (`waiting`)."""
    operators, cells = case.operators, case.cells
    uses = state.uses[operator] - 1
    put_number(state, cells.uses + operator, uses)
    ends = operators.consumer_first[operator] == operators.consumer_first[operator + 1]
    if uses > 0 or ends:
        return
    if state.status[operator] == WANTED:
        _withdraw(case, state, operator)
        for entry in range(operators.input_first[operator], operators.input_first[operator + 1]):
            waiting.append(operators.inputs[entry])
    else:
        waiting.append(state.provider[operator])
        set_provider(case, state, operator, operator)
    put_number(state, cells.status + operator, SKIPPED)


@compiled
def compute(case: Case, state: State, operator: int) -> None:
    """Let a reused operator be computed again: it needs a node then, and what feeds it, too."""
    if state.status[operator] != REUSED:
        return
    operators, cells, first = case.operators, case.cells, case.operators.first_unit
    provider = state.provider[operator]
    set_provider(case, state, operator, operator)
    put_number(state, cells.status + operator, WANTED)
    for unit in range(first[provider], first[provider + 1]):
        recount_outputs(case, state, first[operator] + unit - first[provider])
    wanted = [operator]
    while len(wanted) > 0:
        one = wanted.pop()
        more = state.figures[UNPLACED] + first[one + 1] - first[one]
        put_number(state, cells.figures + UNPLACED, more)
        for entry in range(operators.input_first[one], operators.input_first[one + 1]):
            feeding = operators.inputs[entry]
            put_number(state, cells.uses + feeding, state.uses[feeding] + 1)
            if state.status[feeding] == SKIPPED:
                put_number(state, cells.status + feeding, WANTED)
                wanted.append(feeding)
    waiting = [provider]
    while len(waiting) > 0:
        _use_less(case, state, waiting.pop(), waiting)
