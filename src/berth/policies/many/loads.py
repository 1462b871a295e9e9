"""Loads against their limits, changed one amount at a time."""

from __future__ import annotations

from berth.evaluation.feasibility import TOLERANCE
from berth.policies.many.case import Case
from berth.policies.many.cells import BLOCKED, BROKEN, CROSSED, UNLINKED
from berth.policies.many.state import State, put_amount, put_number
from berth.space.compiled import compiled

MOST = 1e100
"""Infinite shares (of a link without bandwidth) count as this, so that they can be taken away again."""


@compiled
def exceeds(load: float, limit: float) -> bool:
    """Whether a load is above its limit, beyond the tolerance."""
    return load > limit and load > 0.0 and load - limit > TOLERANCE * max(load, abs(limit))


@compiled
def add_load(case: Case, state: State, load: int, amount: float) -> None:
    """Add an amount to a load, or take one away that was added (amount below 0)."""
    if amount == 0.0:
        return
    amount = min(max(amount, -MOST), MOST)
    cells = case.cells
    broken = exceeds(state.load[load] + state.error[load], case.limit[load])
    users = state.users[load] + (1 if amount > 0.0 else -1)
    put_number(state, cells.users + load, users)
    if users == 0:
        put_amount(state, load, 0.0)
        put_amount(state, cells.error + load, 0.0)
    else:
        before = state.load[load]
        after = before + amount
        added = after - before
        put_amount(state, load, after)
        lost = (before - (after - added)) + (amount - added)
        if lost != 0.0:
            put_amount(state, cells.error + load, state.error[load] + lost)
    now = exceeds(state.load[load] + state.error[load], case.limit[load])
    if now != broken:
        figures = cells.figures
        put_number(state, figures + BROKEN, state.figures[BROKEN] + (1 if now else -1))
        if now:
            put_number(state, figures + BLOCKED, load)


@compiled
def add_flow(case: Case, state: State, sender: int, receiver: int, rate: float, sign: int) -> None:
    """Let so much more (sign 1) or less (sign -1) cross from one node to another: cards and links."""
    cells, nodes = case.cells, case.nodes
    if not nodes.connected[sender, receiver]:
        add_load(case, state, cells.marks + UNLINKED, float(sign))
    if rate == 0.0:
        return
    amount = sign * rate
    add_load(case, state, cells.marks + CROSSED, amount)
    add_load(case, state, cells.card + sender, amount)
    add_load(case, state, cells.card + receiver, amount)
    here = sender
    while here != receiver:
        following = nodes.next_hop[here, receiver]
        if following < 0:
            break
        link = nodes.link[here, following]
        if link >= 0:
            add_load(case, state, cells.link + link, amount)
        here = following


@compiled
def add_shares(case: Case, state: State, sender: int, receiver: int, rate: float, sign: int) -> None:
    """The shares of a link that a result takes of its ends' ports; downloads don't count there."""
    if rate > 0.0:
        share = sign * (rate / case.nodes.bandwidth[sender, receiver])
        add_load(case, state, case.cells.send + sender, share)
        add_load(case, state, case.cells.receive + receiver, share)


@compiled
def room(case: Case, state: State, load: int) -> float:
    """What is left of a load's limit."""
    return float(case.limit[load] - (state.load[load] + state.error[load]))


@compiled
def link_room(case: Case, state: State, sender: int, receiver: int) -> float:
    """What is left on the way from one node to another."""
    nodes = case.nodes
    least, here = float("inf"), sender
    while here != receiver:
        following = nodes.next_hop[here, receiver]
        if following < 0:
            break
        link = nodes.link[here, following]
        if link >= 0:
            least = min(least, room(case, state, case.cells.link + link))
        here = following
    return least
