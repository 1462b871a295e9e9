"""Equal operators that differ in nothing: of two such, the later one takes the earlier one's result."""

from __future__ import annotations

from collections.abc import Iterator

from berth.exact.sharing.shared import Shared
from berth.model import Where


def alike_subtrees(shared: Shared) -> Iterator[tuple[int, int]]:
    """Pairs of an operator and a later one whose result it need not take.

    All that feeds the two is alike and feeds nothing else. Swapping the fates of both subtrees, operator by
    operator, then makes a plan of the same worth, in which the later one takes the earlier one's result.
    """
    number: dict[object, int] = {}
    signature: dict[int, int | None] = {}
    for operator in shared.graph.operator_order:
        key, inputs = _key(shared, operator), shared.graph.inputs[operator]
        signature[operator] = None
        own = all(len(shared.graph.consumers[above]) == 1 for above in inputs)
        if key is not None and own and None not in [signature[above] for above in inputs]:
            streams = tuple(sorted(_incoming(shared, operator, signature), key=repr))
            signature[operator] = number.setdefault((key, streams), len(number))
    for operator in range(len(shared.graph.operators)):
        for other in shared.others(operator):
            alike = signature[operator] is not None and signature[operator] == signature[other]
            if alike and operator < other and not _within(shared, operator, other):
                yield operator, other


def _key(shared: Shared, operator: int) -> object:
    """What an operator and its fate are judged by, but for its inputs; None: something tells it apart."""
    item = shared.graph.operators[operator]
    application = shared.problem.applications[item.application]
    subject = [rule for rule in application.rules if item.operator.name in rule.operators]
    bound = application.max_response_time_ms is not None or application.min_availability is not None
    if bound or shared.setting.previous is not None or any(not isinstance(rule, Where) for rule in subject):
        return None
    values = item.operator
    return repr(
        (
            int(shared.keys.classes[operator]),
            values.work_ms,
            values.parallelism,
            values.output_bytes,
            sorted(values.demand.items()),
            sorted(values.placement_cost.items()),
            values.state_bytes,
            shared.allowed(operator),
            float(shared.throughput[operator]),
            sorted(shared.reads[operator].items()),
        )
    )


def _incoming(shared: Shared, operator: int, signature: dict[int, int | None]) -> Iterator[object]:
    graph = shared.graph
    for number, (sender, receiver) in enumerate(graph.stream_ends.tolist()):
        if receiver == operator:
            rate = float(graph.stream_rate[number])
            follows = bool(graph.stream_follows_throughput[number])
            yield signature[sender], rate, follows, graph.streams[number].grouping


def _within(shared: Shared, one: int, other: int) -> bool:
    """Whether two subtrees have an operator in common."""
    return not _above(shared, one).isdisjoint(_above(shared, other))


def _above(shared: Shared, operator: int) -> set[int]:
    found, waiting = {operator}, [operator]
    while waiting:
        for above in shared.graph.inputs[waiting.pop()]:
            if above not in found:
                found.add(above)
                waiting.append(above)
    return found
