"""How large a problem may be for a service that others use, too: the commands take larger ones."""

from __future__ import annotations

from typing import Any

from berth.model import BadInput, Problem
from berth.model.network import MOST_IN_MATRICES

MOST_VALUES = 4_000_000
"""In a file, aliases followed: a matrix of 2,000 nodes."""
DEEPEST_VALUE = 60
MOST_IN_TABLES = 2_500
"""Nodes between which everything is a matrix."""
MOST_NODES = 50_000
MOST_PAIRS = 2_000_000
"""Pairs of instances that exchange something."""
MOST_INSTANCES = 50_000
_MATRICES = ("delay_ms", "availability", "bandwidth_bytes_per_s", "cost", "price_per_gb")
_TABLE_BYTES = 6 * 8
_PAIR_BYTES = 64


def check_size(document: Any) -> None:
    """Refuse what would take too much time or memory to look at.

    Raises:
        BadInput: what is too large, and what to do about it.
    """
    _check_values(document)
    if isinstance(document, dict):
        _check_nodes(document.get("network"))
        _check_instances(document.get("applications"))


def weight_of(problem: Problem) -> int:
    """The memory that a problem takes, about."""
    nodes, pairs = len(problem.network.nodes), len(problem.instances.pair_sender)
    tables = 0 if problem.network.scattered else _TABLE_BYTES * nodes**2
    return tables + _PAIR_BYTES * pairs + 1000 * (nodes + len(problem.instances))


def _check_values(document: Any) -> None:
    sizes: dict[int, int] = {}
    stack: list[tuple[Any, bool, int]] = [(document, False, 1)]
    while stack:
        value, done, depth = stack.pop()
        if not isinstance(value, dict | list) or id(value) in sizes:
            continue
        parts = value.values() if isinstance(value, dict) else value
        if done:
            sizes[id(value)] = 1 + sum(
                sizes.get(id(part), 1) if isinstance(part, dict | list) else 1 for part in parts
            )
            if sizes[id(value)] > MOST_VALUES:
                raise BadInput([f"more than {MOST_VALUES} values"])
            continue
        if depth > DEEPEST_VALUE:
            raise BadInput([f"nested more than {DEEPEST_VALUE} deep"])
        stack.append((value, True, depth))
        stack += [(part, False, depth + 1) for part in parts if isinstance(part, dict | list)]


def _check_nodes(network: Any) -> None:
    if not isinstance(network, dict) or not isinstance(network.get("nodes"), list):
        return
    count = len(network["nodes"])
    tables = network.get("routing") == "shortest_path" or any(name in network for name in _MATRICES)
    most = MOST_IN_TABLES if tables or count <= MOST_IN_MATRICES else MOST_NODES
    if count > most:
        raise BadInput([f"network.nodes: {count} are too many here ({most} at most); use the commands"])


def _check_instances(applications: Any) -> None:
    instances, pairs = 0.0, 0.0
    for application in applications if isinstance(applications, list) else []:
        operators = _mappings(application, "operators")
        parallelism = {each["name"]: _count(each) for each in operators if isinstance(each.get("name"), str)}
        instances += sum(parallelism.values())
        for stream in _mappings(application, "streams"):
            ends = stream.get("from"), stream.get("to")
            sender, receiver = (parallelism.get(end, 1.0) if isinstance(end, str) else 1.0 for end in ends)
            pairs += sender * receiver
    if instances > MOST_INSTANCES:
        raise BadInput(
            [f"applications: {instances:g} instances are too many here ({MOST_INSTANCES} at most)"]
        )
    if pairs > MOST_PAIRS:
        raise BadInput(
            [f"applications: {pairs:g} pairs of instances are too many here ({MOST_PAIRS} at most)"]
        )


def _mappings(whole: Any, key: str) -> list[dict[str, Any]]:
    found = whole.get(key) if isinstance(whole, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _count(operator: dict[str, Any]) -> float:
    given = operator.get("parallelism", 1)
    return float(min(given, 1e9)) if isinstance(given, int | float) and given > 0 else 1.0
