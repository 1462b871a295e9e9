"""Why no plan exists: constraints that can't hold together, found by looking and by relaxing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from berth.amounts import shortened
from berth.budget import Budget
from berth.evaluation import Setting
from berth.evaluation.limits import amount, exceeds, one_core
from berth.evaluation.metrics import AVAILABILITY
from berth.evaluation.unlinked import reasons
from berth.exact.costs import Costs, add_metric
from berth.exact.cpsat.limits import LimitedModel, Switch
from berth.exact.cpsat.model import CpSatModel
from berth.exact.cpsat.solver import SolverOptions, solver_for
from berth.exact.minimise import LARGEST_MODEL
from berth.exact.packing import ApplicationPacking
from berth.exact.paths import PathTimes
from berth.exact.placement import LARGEST_GRID, Placement
from berth.model import Loss

MOST_LINES = 12
SECONDS_EACH = 2.0
MOST_STREAMS = 3


def clashes(setting: Setting, budget: Budget) -> list[str]:
    """A short list of constraints that can't hold together; empty if none is found in time.

    Each line of the first kind is a proof of its own; those found by relaxing clash with each other:
    without any one of them there would be a plan. What clashes only after a loss begins with it.
    """
    placement = Placement(setting, prune=False)
    losses = [loss for loss in setting.problem.losses if len(loss.kept)]
    plain = _seen(placement) or [line for loss in losses for line in _seen_after(setting, loss)]
    if plain:
        return _short(plain)
    core = one_core(setting)
    if core is not None:
        slow = zip(placement.blocks, placement.candidates, strict=True)
        placement.keep([core.fits(block, nodes) for block, nodes in slow])
    if placement.size > LARGEST_MODEL:
        return []
    model = CpSatModel(placement, relaxable=True)
    if _infeasible(model, model.limits, budget) or not losses:
        return least_conflict(model, budget)
    return _after_losses(placement, losses, budget)


def _seen(placement: Placement) -> list[str]:
    """What clashes as soon as one looks."""
    return [line for check in CHECKS for line in check(placement)]


def _seen_after(setting: Setting, loss: Loss) -> list[str]:
    after = Placement(Setting(loss.left, occupied=setting.occupied), prune=False)
    return [f"loss of {loss.name}: {line}" for line in _seen(after)]


def _after_losses(placement: Placement, losses: list[Loss], budget: Budget) -> list[str]:
    """What clashes after one loss or, where each of them could be survived alone, after several of them."""
    for loss in losses:
        model = CpSatModel(placement, relaxable=True)
        model.survive([loss])
        if _infeasible(model, model.limits, budget):
            return least_conflict(model, budget)
    if placement.size * (1 + len(losses)) > LARGEST_MODEL:
        return []
    model = CpSatModel(placement, relaxable=True)
    model.survive(losses)
    return least_conflict(model, budget)


def _short(lines: list[str]) -> list[str]:
    unique = list(dict.fromkeys(lines))
    more = len(unique) - MOST_LINES
    return [*unique[:MOST_LINES], *([f"... and {more} more"] if more > 0 else [])]


def _operator(placement: Placement, block: int) -> str:
    """The operators of a block, for a message."""
    graph = placement.graph
    names = [graph.operators[graph.operator_of[k]].operator.name for k in placement.blocks[block]]
    quoted = [f"'{name}'" for name in dict.fromkeys(names)]
    return f"operator {quoted[0]}" if len(quoted) == 1 else f"operators {', '.join(quoted)} together"


def _no_candidates(placement: Placement) -> Iterator[str]:
    for block, nodes in enumerate(placement.candidates):
        if len(nodes) == 0:
            what = _operator(placement, block)
            yield f"{what}: no node is allowed by candidates, 'where' and 'together' rules at once"


def _too_demanding(placement: Placement) -> Iterator[str]:
    """A block that needs more than any place that may host it has."""
    for block, nodes in enumerate(placement.candidates):
        for item in placement.limits if len(nodes) else ():
            there = item.room_at(nodes)
            if exceeds(float(item.needed[block]), float(there.max())):
                place = int(item.of.place_of[nodes[int(there.argmax())]])
                yield item.of.too_much(_operator(placement, block), float(item.needed[block]), place)


def _too_much_for_a_core(placement: Placement) -> Iterator[str]:
    """An instance that no core of its candidates keeps up with."""
    core = one_core(placement.setting)
    if core is None:
        return
    for block, nodes in enumerate(placement.candidates):
        if len(nodes) and not core.fits(placement.blocks[block], nodes).any():
            needed = float(core.needed[placement.blocks[block]].max())
            fastest = nodes[int(core.room[nodes].argmax())]
            there = f"one core of {placement.network.nodes[fastest].name} has {amount(core.room[fastest])}"
            what = _operator(placement, block)
            yield f"{what} needs {amount(needed)} processors; {there}, and no other has more"


def _too_much_in_all(placement: Placement) -> Iterator[str]:
    """More than all places together have that may host anything that needs it."""
    for item in placement.limits:
        needing = [placement.candidates[block] for block in np.flatnonzero(item.needed > 0).tolist()]
        places = np.unique(item.of.place_of[np.unique(np.concatenate(needing))])
        needed, there = float(item.needed.sum()), float(item.of.room[places].sum())
        if exceeds(needed, there):
            yield item.of.too_much_in_all(needed, there, len(places))


def _never_linked(placement: Placement) -> Iterator[str]:
    """Streams whose ends have no link between any of their candidates: a line for each reason."""
    graph, nodes = placement.graph, placement.candidates
    apart = []
    for edge in placement.edges:
        if placement.combinations(edge) > LARGEST_GRID:
            continue
        fits = placement.linked(edge)
        if fits.size and not fits.any():
            names = [graph.names[placement.blocks[block][0]] for block in (edge.first, edge.second)]
            apart.append((nodes[edge.first], nodes[edge.second], " and ".join(names)))
    for reason, streams in reasons(placement.network, apart):
        if reason is None:
            yield from (
                f"stream between {names}: no link between any of their candidate nodes" for names in streams
            )
        else:
            several = "streams" if len(streams) > 1 else "a stream"
            yield f"{reason}: needed for {several} between {shortened(streams, MOST_STREAMS)}"


def _too_far(placement: Placement) -> Iterator[str]:
    """Latency below what the fastest nodes and links allow, or streams that no link can carry."""
    graph = placement.graph
    yield from _never_linked(placement)
    if placement.size > LARGEST_MODEL or any(len(nodes) == 0 for nodes in placement.candidates):
        return
    times = PathTimes(placement)
    for number, application in enumerate(placement.setting.problem.applications):
        most = application.max_response_time_ms
        if most is None:
            continue
        least = times.least(np.flatnonzero(graph.application_of == number).tolist())
        if np.isfinite(least) and exceeds(least, most):
            yield f"latency {amount(most)} ms: the fastest possible path takes {amount(least)} ms"


def _too_unreliable(placement: Placement) -> Iterator[str]:
    if any(len(nodes) == 0 for nodes in placement.candidates):
        return
    for number, application in enumerate(placement.setting.problem.applications):
        least = application.min_availability
        if not least:
            continue
        costs = Costs.none(placement)
        if placement.size <= LARGEST_MODEL:
            add_metric(costs, AVAILABILITY, 1.0)
        mine = [placement.graph.application_of[block[0]] == number for block in placement.blocks]
        best = sum(float(costs.block[k].max()) for k, own in enumerate(mine) if own)
        for k, edge in enumerate(placement.edges):
            weights = costs.edge[k]
            best += float(weights.max()) if weights is not None and mine[edge.first] else 0.0
        if exceeds(least, float(np.exp(best))):
            reached = amount(float(np.exp(best)))
            yield f"availability {amount(least)} of '{application.name}': at most {reached} is possible"


def unpackable(placement: Placement) -> Iterator[str]:
    """Instances that fit no container, too few containers, containers that fit no node."""
    for packing in placement.packings:
        for column, resource in enumerate(packing.resources):
            yield from _too_small(placement, packing, resource, column)
            yield from _no_room(placement, packing, resource, float(packing.size[column]))


def _too_small(
    placement: Placement, packing: ApplicationPacking, resource: str, column: int
) -> Iterator[str]:
    size, demand = float(packing.size[column]), packing.demand[:, column]
    largest = int(demand.argmax())
    total = packing.count * size
    if exceeds(float(demand[largest]), size):
        name = placement.graph.names[packing.instances[largest]]
        yield (
            f"instance {name} needs {resource} {amount(demand[largest])}; "
            f"a container of '{packing.application}' has {amount(size)}"
        )
    elif exceeds(float(demand.sum()), total):
        yield (
            f"application '{packing.application}': {resource} {amount(demand.sum())} needed, "
            f"{amount(total)} in its {packing.count} container(s)"
        )


def _no_room(placement: Placement, packing: ApplicationPacking, resource: str, size: float) -> Iterator[str]:
    blocks = dict.fromkeys(placement.block_of[packing.instances].tolist())
    there = placement.setting.capacity(resource)
    for block in blocks:
        nodes = placement.candidates[block]
        if len(nodes) and exceeds(size, float(there[nodes].max())):
            most = nodes[int(np.argmax(there[nodes]))]
            name = placement.graph.names[placement.blocks[block][0]]
            yield (
                f"a container of '{packing.application}' takes {resource} {amount(size)}; of the nodes where "
                f"{name} may run, {placement.network.nodes[most].name} has the most: {amount(there[most])}"
            )


CHECKS = (
    _no_candidates,
    _too_demanding,
    _too_much_for_a_core,
    _too_much_in_all,
    unpackable,
    _too_far,
    _too_unreliable,
)


def least_conflict(model: LimitedModel, budget: Budget) -> list[str]:
    """The limits of a relaxable model without any one of which a plan exists, as lines."""
    return _short([limit.text for limit in _least_limits(model, budget)])


def _least_limits(model: LimitedModel, budget: Budget) -> list[Switch]:
    """Leave out families of limits first, then single ones."""
    limits = model.limits
    families = list(dict.fromkeys(limit.family for limit in limits))
    for family in families:
        fewer = [limit for limit in limits if limit.family != family]
        if _infeasible(model, fewer, budget):
            limits = fewer
    for limit in list(limits):
        fewer = [other for other in limits if other is not limit]
        if _infeasible(model, fewer, budget):
            limits = fewer
    return limits if len(limits) < len(model.limits) or _infeasible(model, limits, budget) else []


def _infeasible(model: LimitedModel, kept: list[Switch], budget: Budget) -> bool:
    """Whether these limits alone are proved to clash."""
    if budget.over:
        return False
    trial = model.cp.clone()
    wanted = {limit.literal.index for limit in kept}
    for limit in model.limits:
        variable = trial.get_bool_var_from_proto_index(limit.literal.index)
        trial.add(variable == (limit.literal.index in wanted))
    solver = solver_for(budget.part(1.0, SECONDS_EACH), SolverOptions())
    return solver.status_name(solver.solve(trial)) == "INFEASIBLE"
