"""Reuse lifts rates: a provider, and all that feeds it, keeps up with the fastest that takes its result.

A match (wanting, giving) says that the first operator's needs fall to the second. A reuse is one; a match of
two operators makes matches of their equal inputs, with those that stand for the second one's inputs. Matches
are counted by the ways that lead to them, so that they can be taken back in any order.
"""

from __future__ import annotations

import numpy as np

from berth.policies.many.case import Case
from berth.policies.many.counting import (
    count_computation,
    recount_download,
    recount_inputs,
    uncount_computation,
)
from berth.policies.many.state import State, put_amount, put_number
from berth.space.compiled import compiled


@compiled
def match_cell(case: Case, wanting: int, giving: int) -> int:
    """Where the match of two equal operators is counted."""
    operators = case.operators
    kind = operators.kind[giving]
    size = operators.kind_first[kind + 1] - operators.kind_first[kind]
    return int(operators.match_first[kind] + operators.rank[wanting] * size + operators.rank[giving])


@compiled
def add_match(case: Case, state: State, wanting: int, giving: int, sign: int) -> None:
    """Count a match once more (sign 1) or less (-1), and with it those that it makes or unmakes."""
    operators = case.operators
    waiting = [(wanting, giving)]
    while len(waiting) > 0:
        wants, gives = waiting.pop()
        cell = match_cell(case, wants, gives)
        before = state.matches[cell]
        put_number(state, case.cells.matches + cell, before + sign)
        if before != 0 and before + sign != 0:
            continue
        lift(case, state, gives)
        for entry in range(operators.input_first[wants], operators.input_first[wants + 1]):
            above = operators.inputs[entry]
            for other in range(operators.input_first[gives], operators.input_first[gives + 1]):
                feeding = operators.inputs[other]
                if operators.kind[above] == operators.kind[feeding]:
                    waiting.append((above, state.provider[feeding]))


@compiled
def set_provider(case: Case, state: State, taker: int, provider: int) -> None:
    """Let another operator stand for one, itself to end a reuse; all needs move along."""
    operators = case.operators
    before = state.provider[taker]
    for sign, giving in ((1, provider), (-1, before)):
        if giving != taker:
            add_match(case, state, taker, giving, sign)
        for entry in range(operators.consumer_first[taker], operators.consumer_first[taker + 1]):
            consumer = operators.consumers[entry]
            kind = operators.kind[consumer]
            for other in range(operators.kind_first[kind], operators.kind_first[kind + 1]):
                wanting = operators.kind_operators[other]
                if state.matches[match_cell(case, wanting, consumer)] > 0:
                    for above in range(operators.input_first[wanting], operators.input_first[wanting + 1]):
                        wants = operators.inputs[above]
                        if operators.kind[wants] == operators.kind[taker]:
                            add_match(case, state, wants, giving, sign)
    put_number(state, case.cells.provider + taker, provider)


@compiled
def lift(case: Case, state: State, operator: int) -> None:
    """Throughput and reads of an operator by its matches; what depends on them is counted anew."""
    operators, objects, cells = case.operators, case.objects, case.cells
    kind = operators.kind[operator]
    throughput = operators.own[operator]
    first, last = objects.read_first[operator], objects.read_first[operator + 1]
    reads = np.empty(last - first)
    for read in range(last - first):
        reads[read] = objects.read_rate[first + read]
    for entry in range(operators.kind_first[kind], operators.kind_first[kind + 1]):
        wanting = operators.kind_operators[entry]
        if state.matches[match_cell(case, wanting, operator)] > 0:
            throughput = max(throughput, operators.own[wanting])
            for read in range(last - first):
                reads[read] = max(reads[read], objects.read_rate[objects.read_first[wanting] + read])
    if throughput != state.throughput[operator]:
        set_throughput(case, state, operator, throughput)
    for read in range(last - first):
        if reads[read] != state.read[first + read]:
            put_amount(state, cells.read + first + read, reads[read])
            for unit in range(operators.first_unit[operator], operators.first_unit[operator + 1]):
                if state.node[unit] >= 0:
                    recount_download(case, state, objects.read_object[first + read], state.node[unit])


@compiled
def set_throughput(case: Case, state: State, operator: int, throughput: float) -> None:
    """Change an operator's throughput: its work, and what it receives."""
    units, first = case.units, case.operators.first_unit
    for unit in range(first[operator], first[operator + 1]):
        if state.node[unit] >= 0:
            uncount_computation(case, state, units.computation[unit], state.node[unit])
    put_amount(state, case.cells.throughput + operator, throughput)
    for unit in range(first[operator], first[operator + 1]):
        if state.node[unit] >= 0:
            count_computation(case, state, units.computation[unit], state.node[unit])
            recount_inputs(case, state, unit)
