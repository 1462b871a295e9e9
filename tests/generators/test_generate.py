"""What holds for every kind: determinism, files that read as they were made, bounds, docs."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import berth
from berth.files import problem_document, problem_from
from berth.generators import GENERATORS, Delays, find_generator
from berth.model import BadInput, Network, Node, Problem
from berth.model.parameters import described
from tests.generators.listing import kinds, parameters

DOCS = Path(__file__).parents[2] / "docs" / "generators.md"
SMALL: dict[str, dict[str, Any]] = {
    "forest": {"processors": 4, "applications": 2, "most_operators": 8},
    "matrices": {"hosts": 12, "graphs": 3},
    "stream-tree": {"nodes": 12, "size": 12},
}
REPLACEABLE = [kind for kind in GENERATORS if find_generator(kind).counts_nodes]


def same(one: Problem, other: Problem) -> bool:
    """Whether two problems are equal in every field, matrices included."""
    for item in fields(Problem):
        if item.name != "network" and getattr(one, item.name) != getattr(other, item.name):
            return False
    for item in fields(Network):
        here, there = getattr(one.network, item.name), getattr(other.network, item.name)
        if item.name == "matrices":
            equal = here.keys() == there.keys() and all(
                np.array_equal(here[name], there[name], equal_nan=True) for name in here
            )
        else:
            equal = here == there
        if not equal:
            return False
    return True


@pytest.mark.parametrize("kind", GENERATORS)
@given(seed=st.integers(-5, 2**70))
@settings(max_examples=5, deadline=None)
def test_reads_as_it_was_made(kind: str, seed: int) -> None:
    """The file of a problem has no mistakes and is that problem; the same seed gives it again."""
    problem = berth.generate(kind, seed=seed, **SMALL.get(kind, {}))
    text = json.dumps(problem_document(problem), allow_nan=False)
    assert same(problem_from(json.loads(text)), problem)
    assert same(berth.generate(kind, seed=seed, **SMALL.get(kind, {})), problem)


@pytest.mark.parametrize("kind", GENERATORS)
def test_another_seed_is_another_problem(kind: str) -> None:
    """Something is drawn."""
    one, other = (berth.generate(kind, seed=seed, **SMALL.get(kind, {})) for seed in (0, 1))
    assert (one.name, other.name) == (f"{kind}-0", f"{kind}-1")
    assert not same(one, berth.generate(kind, seed=1, **SMALL.get(kind, {})))


@pytest.mark.parametrize("kind", GENERATORS)
def test_docs_have_its_parameters(kind: str) -> None:
    """The page is what the generators say of themselves (`python -m tests.generators.listing`)."""
    text = DOCS.read_text()
    assert kinds() in text
    _, _, section = text.partition(f"\n## {kind}\n")
    assert parameters(kind) in section.partition("\n## ")[0]
    assert all(row["help"] for row in described(find_generator(kind)))


@pytest.mark.parametrize("kind", GENERATORS)
def test_numbers_out_of_bounds_are_refused(kind: str) -> None:
    """Every number has bounds, NaN is none, and the line says which parameter it is."""
    for row in described(find_generator(kind)):
        if isinstance(row["default"], bool | str | None):
            continue
        for value in (-1e13, 1e13, "nan", "many"):
            with pytest.raises(BadInput) as error:
                berth.generate(kind, **{row["name"]: value})
            assert error.value.mistakes[0].startswith(f"--set {row['name']}: ")


@pytest.mark.parametrize("kind", REPLACEABLE)
def test_measured_delays_take_the_place_of_drawn_ones(kind: str) -> None:
    """All nodes of a matrix, with its names and gaps; or as many of them as asked for."""
    delay_ms = np.arange(64.0).reshape(8, 8)
    np.fill_diagonal(delay_ms, 0.0)
    delay_ms[2, 5] = np.nan
    names = [f"site{number}" for number in range(8)]
    parts = {
        name: value
        for name, value in SMALL.get(kind, {}).items()
        if name not in ("processors", "hosts", "nodes")
    }
    problem = berth.generate(kind, network=Delays(delay_ms, names), **parts)
    assert [node.name for node in problem.network.nodes] == names
    assert np.array_equal(problem.network.matrices["delay_ms"], delay_ms, equal_nan=True)
    assert same(problem_from(problem_document(problem)), problem)
    count = find_generator(kind).counts_nodes
    fewer = berth.generate(kind, network=Delays(delay_ms, names), **{**parts, str(count): 3}).network
    chosen = [names.index(node.name) for node in fewer.nodes]
    assert len(chosen) == 3
    assert np.array_equal(fewer.matrices["delay_ms"], delay_ms[np.ix_(chosen, chosen)], equal_nan=True)
    with pytest.raises(BadInput, match=f"--set {count}: 9 is more than the 8 nodes of --network"):
        berth.generate(kind, network=Delays(delay_ms), **{str(count): 9})


@pytest.mark.parametrize("kind", REPLACEABLE)
def test_a_given_network_is_taken_as_it_is(kind: str) -> None:
    """Pins go to nodes that host, and nobody asks for what no node has."""
    nodes = (
        Node("store", hosts=False, holds=frozenset({"old"})),
        Node("one", capacity={"cpu": 3}),
        Node("two", capacity={"cpu": 5}),
    )
    network = Network(nodes, matrices={"delay_ms": 7.0 * (1 - np.eye(3))})
    parts = {
        name: value
        for name, value in SMALL.get(kind, {}).items()
        if name not in ("processors", "hosts", "nodes")
    }
    problem = berth.generate(kind, network=network, **parts)
    assert same(problem_from(problem_document(problem)), problem)
    assert [node.capacity for node in problem.network.nodes] == [{}, {"cpu": 3}, {"cpu": 5}]
    for application in problem.applications:
        for operator in application.operators:
            assert set(operator.demand) <= {"cpu"}
            assert "store" not in (operator.candidates or ())


@pytest.mark.parametrize("kind", sorted(set(GENERATORS) - set(REPLACEABLE)))
def test_kinds_that_are_networks_take_none(kind: str) -> None:
    """Their hops are what they are about."""
    with pytest.raises(BadInput, match=r"--network: kind .* is a network itself"):
        berth.generate(kind, network=Delays(np.zeros((2, 2))))


def test_a_network_without_hosts_is_refused() -> None:
    """There is nowhere to pin anything."""
    network = Network((Node("store", hosts=False),))
    with pytest.raises(BadInput, match="none of its nodes hosts operators"):
        berth.generate("matrices", network=network)


def test_unknown_kind() -> None:
    """With what was probably meant."""
    with pytest.raises(BadInput, match="did you mean 'forest'"):
        berth.generate("forrest")
