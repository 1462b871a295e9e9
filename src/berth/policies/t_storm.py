"""T-Storm (Xu et al.; card 1.11): executors by descending traffic, each where it adds least between nodes.

Rates are observed while the application runs: round robin places it first, and every round replaces the
whole placement by a best fit to what was observed so far. On exact rates every round finds the same; a
second round differs where the first one's rates were noisy (erratum E0.9).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, isfinite

import numpy as np

from berth.evaluation import METRIC_BY_NAME, Setting, Situation
from berth.evaluation.goal import Goal
from berth.evaluation.limits import TOLERANCE, Room
from berth.evaluation.situation import assignment_of
from berth.model import BadInput, Plan
from berth.model.arrays import FloatArray, IndexArray
from berth.model.parameters import NOT_NEGATIVE, SHARE, Parameters, Values, at_least, parameter
from berth.model.randomness import generator_for
from berth.policies.downloads import choose_downloads
from berth.policies.policy import About, Answer, NoParameters, Task, mistakes_for
from berth.policies.round_robin import RoundRobin


@dataclass(frozen=True)
class TStormParameters(Parameters):
    """What users may set."""

    rounds: int = parameter(2, "how often executors are reassigned, at most", at_least(1))
    gamma: float | None = parameter(
        None,
        "at most ceil(gamma x executors / nodes) of an application on a node; none: any",
        Values(lambda gamma: gamma > 0 and isfinite(gamma), "is not above 0; none turns it off"),
    )
    noise: float = parameter(
        0.0, "standard deviation of observed rates, relative to the true ones", NOT_NEGATIVE
    )
    alpha: float = parameter(0.5, "weight of the newest observation in the moving average of rates", SHARE)
    period_s: float = parameter(
        300.0,
        "seconds between rounds; only tells the rounds' times in the trace",
        Values(lambda period: period > 0 and isfinite(period), "is not above 0"),
    )


class TStorm:
    """Best fit by traffic, in rounds."""

    about = About(
        name="t-storm",
        paper="Xu et al., T-Storm (ICDCS 2014), as compared with in 000",
        optimises="traffic",
        holds="candidates, hosts, capacities, processors and all rules but 'together'",
    )
    parameters = TStormParameters

    def solve(self, task: Task) -> Answer:
        """Reassign all executors in every round; on exact rates the second one only confirms the first."""
        parameters: TStormParameters = task.parameters
        mistakes = mistakes_for(task.problem, "traffic", "--policy t-storm")
        if mistakes:
            raise BadInput(mistakes)
        goal = Goal({"traffic": 1.0})
        fit = BestFit(task.setting, parameters.gamma)
        nodes = _first_nodes(task)
        start = _traffic(task.setting, nodes)
        traffic: list[float | None] = []
        migrations: list[int] = []
        for rates in _observed(task.setting.graph.pair_rate, parameters, task.seed):
            placed = fit.place(rates)
            if isinstance(placed, str):
                reason = f"round {len(migrations) + 1}: {placed}"
                return Answer("unknown", goal=goal, reason=reason)
            migrations.append(int(((nodes >= 0) & (nodes != placed)).sum()))
            traffic.append(_traffic(task.setting, placed))
            repeated = parameters.noise == 0 and len(migrations) > 1
            nodes = placed
            if repeated or task.budget.over:
                break
        trace = {
            "rounds": len(migrations),
            "migrations": sum(migrations),
            "migrations_per_round": migrations,
            "traffic_at_start": start,
            "traffic_per_round": traffic,
            "round_times_s": [parameters.period_s * (number + 1) for number in range(len(migrations))],
        }
        return Answer("feasible", nodes, goal, trace=trace, downloads=choose_downloads(task.setting, nodes))


class BestFit:
    """Puts executors, in the order of their traffic, where they add least to what crosses between nodes."""

    def __init__(self, setting: Setting, gamma: float | None) -> None:
        self._setting, self._graph, self._network = setting, setting.graph, setting.problem.network
        graph = self._graph
        sizes = np.bincount(graph.application_of)
        most = [ceil(gamma * size / len(self._network.hosting)) if gamma else len(graph) for size in sizes]
        self._most = np.array(most)
        self._fixed = np.array([len(graph.allowed_nodes[k]) <= 1 for k in graph.operator_of.tolist()])
        # Every pair from both of its ends, sorted by the executor at this end.
        this_end = np.concatenate([graph.pair_sender, graph.pair_receiver])
        self._pair_of_end = np.argsort(this_end, kind="stable")
        self._other_end = np.concatenate([graph.pair_receiver, graph.pair_sender])[self._pair_of_end]
        self._first_end = np.searchsorted(this_end[self._pair_of_end], np.arange(len(graph) + 1))

    def place(self, rates: FloatArray) -> IndexArray | str:
        """The node of every executor by these rates of pairs; a text that says why there is none."""
        graph, count = self._graph, len(self._network.nodes)
        nodes = np.full(len(graph), -1, dtype=np.intp)
        room = Room(self._setting)
        hosted = np.zeros((len(self._most), count), dtype=np.intp)
        rate = np.concatenate([rates, rates])[self._pair_of_end]
        for number in self._order(rates):
            allowed = graph.allowed_nodes[graph.operator_of[number]]
            here = hosted[graph.application_of[number]]
            fits = room.fits([number], allowed)
            if not self._fixed[number]:
                fits &= here[allowed] < self._most[graph.application_of[number]]
            free = allowed[fits]
            if len(free) == 0:
                return f"stuck at {graph.names[number]}: no node that may host it has room"
            ends = slice(self._first_end[number], self._first_end[number + 1])
            there = nodes[self._other_end[ends]]
            kept = np.bincount(there[there >= 0], rate[ends][there >= 0], minlength=count)[free]
            # What stays on a node doesn't cross: the most kept is the least added.
            best = free[kept >= kept.max() * (1 - TOLERANCE)]
            nodes[number] = chosen = best[np.argmax(here[best] > 0)]
            room.take([number], int(chosen))
            here[chosen] += 1
        return nodes

    def _order(self, rates: FloatArray) -> list[int]:
        """Who has no choice first, so that nobody takes its room; then by traffic, the most first."""
        graph, count = self._graph, len(self._graph)
        total = np.bincount(graph.pair_sender, rates, count) + np.bincount(graph.pair_receiver, rates, count)
        numbers: list[int] = np.lexsort((np.arange(count), -total, ~self._fixed)).tolist()
        return numbers


def _first_nodes(task: Task) -> IndexArray:
    """Where executors run while rates are observed: the previous plan, else round robin; -1: not yet."""
    if task.setting.previous_nodes is not None:
        return task.setting.previous_nodes
    dealt = RoundRobin().solve(replace(task, parameters=NoParameters())).nodes
    return np.full(len(task.setting.graph), -1, dtype=np.intp) if dealt is None else dealt


def _observed(true_rates: FloatArray, parameters: TStormParameters, seed: int) -> Iterator[FloatArray]:
    """The moving average of observed rates at every round."""
    generator = generator_for(seed)
    average = None
    for _ in range(parameters.rounds):
        seen = true_rates
        if parameters.noise > 0:
            factors = 1.0 + parameters.noise * generator.standard_normal(len(true_rates))
            seen = true_rates * np.maximum(factors, 0.0)
        average = seen if average is None else parameters.alpha * seen + (1 - parameters.alpha) * average
        yield average


def _traffic(setting: Setting, nodes: IndexArray) -> float | None:
    """What crosses between nodes, by the judge; None where an executor has no node that is still there."""
    if (nodes < 0).any() or (nodes >= len(setting.problem.network.nodes)).any():
        return None
    return METRIC_BY_NAME["traffic"].value(Situation(setting, Plan(assignment_of(setting.problem, nodes))))
