"""Why nodes can't exchange streams: nodes without any link, parts of a network that nothing connects.

A missing link is told for each pair of nodes. Where many lack for one reason, that reason is the news.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from berth.amounts import shortened
from berth.model import Network

IndexArray = NDArray[np.intp]

MOST_NAMES = 3
MOST_PARTS = 4


def missing_lines(network: Network, pairs: Iterable[tuple[int, int]], what: str) -> Iterator[str]:
    """A line for each reason why pairs of a sending and a receiving node have no link.

    Args:
        network: the nodes.
        pairs: numbers of two nodes without a link from the first to the second.
        what: what would go over it, `stream`.
    """
    names = [node.name for node in network.nodes]
    ways = [
        (np.array([sender]), np.array([receiver]), f"{names[sender]} -> {names[receiver]}")
        for sender, receiver in dict.fromkeys(pairs)
    ]
    for reason, found in reasons(network, ways):
        if reason is None:
            yield from (f"link {way}: needed for a {what}, but there is none" for way in found)
        else:
            several = f"{what}s" if len(found) > 1 else f"a {what}"
            yield f"{reason}: needed for {several} {shortened(found, MOST_NAMES)}"


def reasons(
    network: Network, apart: Iterable[tuple[IndexArray, IndexArray, str]]
) -> Iterator[tuple[str | None, list[str]]]:
    """Why nodes have no links with other ones.

    Args:
        network: the nodes.
        apart: some nodes, others of which none has a link with any of them, and what to call the two.

    Yields:
        A reason and what it holds for; None instead where only these very links lack.
    """
    alone: dict[int, None] = {}
    found: dict[str | None, list[str]] = {}
    of_these: list[str] = []
    for first, second, name in apart:
        lonely = [nodes for nodes in (first, second) if not network.linked[nodes].any()]
        if lonely:
            alone |= dict.fromkeys(np.concatenate(lonely).tolist())
            of_these.append(name)
        else:
            found.setdefault(_between_parts(network, first, second), []).append(name)
    if of_these:
        yield _without_links(network, np.array(list(alone))), of_these
    yield from found.items()


def _between_parts(network: Network, first: IndexArray, second: IndexArray) -> str | None:
    parts = network.parts
    if parts is None or np.isin(parts[first], parts[second]).any():
        return None
    here, there = (_named(network, np.flatnonzero(np.isin(parts, parts[nodes]))) for nodes in (first, second))
    return f"no link leads from the part of the network with {here} to the one with {there}"


def parts_in_words(network: Network) -> str | None:
    """That the hosting nodes fall into parts, within each of which all are linked; None where they don't."""
    parts, hosting = network.parts, network.hosting
    if parts is None or len(np.unique(parts[hosting])) < 2:
        return None
    together = parts[hosting][:, None] == parts[hosting][None, :]
    if not np.array_equal(network.table.connected[np.ix_(hosting, hosting)], together):
        return None
    members = [hosting[parts[hosting] == part] for part in np.unique(parts[hosting])]
    alone = [nodes for nodes in members if not network.linked[nodes].any()]
    if len(alone) == len(members):
        return "no node that hosts operators has a link to any other node"
    if len(alone) == len(members) - 1:
        return _without_links(network, np.concatenate(alone))
    named = [_named(network, nodes) for nodes in members]
    more = f"; and {len(named) - MOST_PARTS} more" if len(named) > MOST_PARTS else ""
    return f"no link leads from one part of the network to another: {'; '.join(named[:MOST_PARTS])}{more}"


def _without_links(network: Network, nodes: IndexArray) -> str:
    if len(nodes) == 1:
        return f"node {_named(network, nodes)} has no link to any other node"
    return f"nodes {_named(network, nodes)} have no link to any other node"


def _named(network: Network, nodes: IndexArray) -> str:
    return shortened([network.nodes[node].name for node in nodes.tolist()], MOST_NAMES)
