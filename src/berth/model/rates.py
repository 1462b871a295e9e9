"""How many bytes a second every stream carries, by the contract's order of precedence."""

from __future__ import annotations

from berth.model.application import Application, Operator


def topological_order(application: Application) -> list[str]:
    """Operator names, senders before receivers; shorter than the application if it has a cycle."""
    waiting = {operator.name: 0 for operator in application.operators}
    followers: dict[str, list[str]] = {name: [] for name in waiting}
    for stream in application.streams:
        waiting[stream.receiver] += 1
        followers[stream.sender].append(stream.receiver)
    ready = [name for name, count in waiting.items() if count == 0]
    for name in ready:
        for receiver in followers[name]:
            waiting[receiver] -= 1
            if waiting[receiver] == 0:
                ready.append(receiver)
    return ready


def stream_rates(application: Application) -> tuple[list[float | None], list[bool]]:
    """Total rate of every stream (None: unknown), and whether it follows the throughput."""
    operators = {operator.name: operator for operator in application.operators}
    outgoing: dict[str, list[int]] = {name: [] for name in operators}
    for number, stream in enumerate(application.streams):
        outgoing[stream.sender].append(number)
    received: dict[str, list[float | None]] = {name: [] for name in operators}
    rates: list[float | None] = [None] * len(application.streams)
    follows = [False] * len(application.streams)
    for name in topological_order(application):
        output, scales = _output(operators[name], application.throughput_per_s, received[name])
        for number in outgoing[name]:
            stream = application.streams[number]
            given = stream.bytes_per_s is not None
            rates[number] = stream.bytes_per_s if given else output
            follows[number] = scales and not given
            received[stream.receiver].append(rates[number])
    return rates, follows


def _output(
    operator: Operator, throughput: float | None, received: list[float | None]
) -> tuple[float | None, bool]:
    """An operator's whole output and whether it is so much for each result."""
    if operator.output_bytes is not None and throughput is not None:
        return operator.output_bytes * throughput, True
    if operator.emits_bytes_per_s is not None:
        return operator.emits_bytes_per_s, False
    known = [rate for rate in received if rate is not None]
    if received and len(known) == len(received):
        return operator.selectivity * sum(known), False
    return None, False
