"""Candidate sets of paper 002: the ellipse, the four strategies, the pruning rule."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berth.model import Network, Node
from berth.policies.latency_bound.candidates import CandidateList, CandidateSearch, Loads, Question, Strategy
from berth.space import Space, space_of

STRATEGIES = get_args(Strategy)

some = settings(
    max_examples=80, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def space_at(positions: np.ndarray, heights: np.ndarray | None = None) -> Space:
    above = np.zeros(len(positions)) if heights is None else heights
    rows = enumerate(zip(positions.tolist(), above.tolist(), strict=True))
    return space_of(
        Network(tuple(Node(f"n{k}", coordinates=tuple(at), height_ms=up) for k, (at, up) in rows))
    )


def question(**more: object) -> Question:
    given: dict[str, object] = {
        "here": 0,
        "size": 1,
        "work_ms": 10.0,
        "loaded": True,
        "before": 1,
        "after": 2,
        "costs_ms": 30.0,
        "place": np.zeros(2),
        "may_host": None,
    }
    return Question(**(given | more))  # type: ignore[arg-type]


@st.composite
def searches(draw: st.DrawFn) -> tuple[Space, np.ndarray, np.ndarray, Question, int, int]:
    """A space of random hosts with speeds and queues, and an operator that looks for another host."""
    seed = draw(st.integers(0, 10_000))
    generator = np.random.default_rng(seed)
    count = draw(st.integers(3, 60))
    positions = generator.uniform(-50, 50, (count, 2)).round(draw(st.integers(0, 3)))
    heights = generator.uniform(0, 5, count) if draw(st.booleans()) else np.zeros(count)
    speed = generator.choice([0.5, 1.0, 2.0], count)
    queue = generator.integers(0, 6, count).astype(np.float64)
    may_host = generator.random(count) < 0.8 if draw(st.booleans()) else None
    asked = question(
        here=draw(st.integers(0, count - 1)),
        before=draw(st.integers(-1, count - 1)),
        after=draw(st.integers(-1, count - 1)),
        size=draw(st.integers(1, 2)),
        work_ms=draw(st.sampled_from([0.0, 5.0, 40.0])),
        costs_ms=draw(st.sampled_from([0.0, 20.0, 60.0, 150.0, np.inf])),
        place=generator.uniform(-50, 50, 2),
        may_host=may_host,
        loaded=draw(st.booleans()),
    )
    return space_at(positions, heights), speed, queue, asked, draw(st.integers(1, 7)), seed


def found(
    case: tuple[Space, np.ndarray, np.ndarray, Question, int, int], strategy: Strategy
) -> CandidateList:
    space, speed, queue, asked, k, seed = case
    generator = np.random.default_rng(seed)
    return CandidateSearch(space, speed, Loads(queue), strategy, k, generator).find(asked)


def away(space: Space, place: np.ndarray, hosts: np.ndarray) -> np.ndarray:
    coordinates = space.coordinates
    return np.linalg.norm(coordinates.positions[hosts] - place, axis=1) + coordinates.heights[hosts]


@given(searches())
@some
def test_el_is_all_that_the_ellipse_holds(
    case: tuple[Space, np.ndarray, np.ndarray, Question, int, int],
) -> None:
    """Every host by whose estimated delays the operator would cost no more with no work at all."""
    space, _, _, asked, _, _ = case
    foci = [node for node in (asked.before, asked.after) if node >= 0]
    wanted = []
    for host in range(len(space.coordinates.positions)):
        here = np.full(len(foci), host)
        total = space.coordinates.distances(here, np.array(foci, dtype=np.intp)).sum()
        allowed = asked.may_host is None or asked.may_host[host]
        if foci and host != asked.here and allowed and total <= asked.costs_ms:
            wanted.append(host)
    got = set(found(case, "el").hosts.tolist())
    borderline = {
        host
        for host in range(len(space.coordinates.positions))
        if foci
        and abs(
            space.coordinates.distances(np.full(len(foci), host), np.array(foci, dtype=np.intp)).sum()
            - asked.costs_ms
        )
        < 1e-6
    }
    assert got - borderline == set(wanted) - borderline


@given(searches())
@some
def test_every_strategy_picks_from_the_ellipse(
    case: tuple[Space, np.ndarray, np.ndarray, Question, int, int],
) -> None:
    """Subsets of el, at most k of them, in the order of their distance from x*, contacts counted."""
    space, _, _, asked, k, _ = case
    everything = found(case, "el")
    assert everything.contacts == everything.in_ellipse == len(everything.hosts)
    for strategy in STRATEGIES:
        candidates = found(case, strategy)
        assert set(candidates.hosts.tolist()) <= set(everything.hosts.tolist())
        assert candidates.in_ellipse == everything.in_ellipse
        assert (np.diff(away(space, asked.place, candidates.hosts)) >= -1e-9).all()
        if strategy in ("knn", "krand"):
            assert candidates.contacts == len(candidates.hosts) == min(k, everything.in_ellipse)
    nearest = everything.hosts[:k].tolist()
    assert found(case, "knn").hosts.tolist() == nearest


@given(searches())
@some
def test_cknn_keeps_what_its_rule_allows(
    case: tuple[Space, np.ndarray, np.ndarray, Question, int, int],
) -> None:
    """P(ν') < P + T + N - N_min of all kept, and of none that was contacted before and left out."""
    space, speed, queue, asked, k, _ = case
    everything, candidates = found(case, "el").hosts, found(case, "cknn")
    foci = [node for node in (asked.before, asked.after) if node >= 0]
    least = space.coordinates.distances(np.array(foci[:1]), np.array(foci[-1:]))[0] if foci else 0.0
    waiting = np.maximum(1.0, queue + asked.size) if asked.loaded else 1.0
    useful = asked.work_ms / speed * waiting < asked.costs_ms - least
    contacted = everything[: candidates.contacts]
    assert candidates.hosts.tolist() == [host for host in contacted.tolist() if useful[host]]
    assert len(candidates.hosts) <= k
    if len(candidates.hosts) < k:
        assert candidates.contacts == len(everything)
    else:
        assert contacted[-1] == candidates.hosts[-1]


@given(searches(), st.sampled_from(STRATEGIES))
@some
def test_neighbours_hosts_are_asked_for_free(
    case: tuple[Space, np.ndarray, np.ndarray, Question, int, int], strategy: Strategy
) -> None:
    """The foci join a set where they are in the ellipse and, with cknn, useful; nobody else is contacted."""
    space, speed, queue, asked, k, seed = case
    without = found(case, strategy)
    generator = np.random.default_rng(seed)
    more = CandidateSearch(space, speed, Loads(queue), strategy, k, generator, True).find(asked)
    added = set(more.hosts.tolist()) - set(without.hosts.tolist())
    assert set(without.hosts.tolist()) <= set(more.hosts.tolist()) <= set(found(case, "el").hosts.tolist())
    assert added <= {asked.before, asked.after}
    assert (more.contacts, more.in_ellipse) == (without.contacts, without.in_ellipse)
    assert (np.diff(away(space, asked.place, more.hosts)) >= -1e-9).all()
    if strategy == "cknn":
        foci = [node for node in (asked.before, asked.after) if node >= 0]
        least = space.coordinates.distances(np.array(foci[:1]), np.array(foci[-1:]))[0] if foci else 0.0
        waiting = np.maximum(1.0, queue + asked.size) if asked.loaded else 1.0
        useful = asked.work_ms / speed * waiting < asked.costs_ms - least
        assert all(useful[host] for host in more.hosts.tolist())
    else:
        inside = set(found(case, "el").hosts.tolist())
        assert added == ({asked.before, asked.after} & inside) - set(without.hosts.tolist())


def test_random_ones_follow_the_seed() -> None:
    space = space_at(np.random.default_rng(0).uniform(-5, 5, (40, 2)))

    def draw(seed: int) -> list[int]:
        generator = np.random.default_rng(seed)
        search = CandidateSearch(space, np.ones(40), Loads(np.zeros(40)), "krand", 5, generator)
        return search.find(question()).hosts.tolist()

    assert draw(1) == draw(1)
    assert len({tuple(draw(seed)) for seed in range(8)}) > 4


def test_a_slow_host_is_passed_over() -> None:
    """The nearest has a long queue: knn takes it, cknn asks one more."""
    positions = np.array([[9.0, 9], [10, 0], [-10, 0], [0, 1], [0, 2], [0, 3]])
    loads = Loads(np.array([0, 0, 0, 9.0, 0, 0]))
    found = {
        strategy: CandidateSearch(
            space_at(positions), np.ones(6), loads, strategy, 2, np.random.default_rng(0)
        ).find(question(costs_ms=50.0))
        for strategy in ("knn", "cknn")
    }
    assert found["knn"].hosts.tolist() == [3, 4]
    assert (found["cknn"].hosts.tolist(), found["cknn"].contacts) == ([4, 5], 3)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_empty_ellipse_is_legal(strategy: Strategy) -> None:
    """No host can help: no candidates, nobody contacted."""
    positions = np.array([[0.0, 0], [10, 0], [-10, 0], [0, 50]])
    search = CandidateSearch(
        space_at(positions), np.ones(4), Loads(np.zeros(4)), strategy, 3, np.random.default_rng(0)
    )
    candidates = search.find(question(costs_ms=19.0))
    assert (len(candidates.hosts), candidates.contacts, candidates.in_ellipse) == (0, 0, 0)
