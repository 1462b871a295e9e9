from __future__ import annotations

import itertools
import random

import pytest

from berth.drawing.layout import arrange, increasing, layer_of_each, layered

Edges = list[tuple[int, int]]


def random_edges(seed: int, operators: int = 14) -> Edges:
    draw = random.Random(seed)
    return [(i, j) for j in range(operators) for i in range(j) if draw.random() < 0.2]


def test_layer_is_the_longest_distance_from_a_source() -> None:
    """An operator with a short and a long way to it is in the layer of the long one."""
    assert layer_of_each(4, [(0, 1), (1, 2), (0, 2), (3, 2)]) == [0, 1, 2, 0]


def test_no_operators_no_layers() -> None:
    """An empty graph has an empty layout."""
    layout = layered(0, [])
    assert layout.layers == ()
    assert arrange(layout, [], [], 1) == []


@pytest.mark.parametrize("seed", range(20))
def test_every_operator_is_in_its_layer_once(seed: int) -> None:
    """Ordering moves nobody to another layer and loses nobody."""
    edges = random_edges(seed)
    depth = layer_of_each(14, edges)
    found = {v: n for n, layer in enumerate(layered(14, edges).layers) for v in layer if v < 14}
    assert found == dict(enumerate(depth))


@pytest.mark.parametrize("seed", range(20))
def test_routes_pass_every_layer_between_their_ends(seed: int) -> None:
    """A stream has one vertex in each layer from its sender's to its receiver's, and waypoints between."""
    edges = random_edges(seed)
    layout = layered(14, edges)
    layer_of = {vertex: number for number, layer in enumerate(layout.layers) for vertex in layer}
    for (sender, receiver), route in zip(edges, layout.routes, strict=True):
        assert (route[0], route[-1]) == (sender, receiver)
        assert all(vertex >= 14 for vertex in route[1:-1])
        layers = [layer_of[vertex] for vertex in route]
        assert layers == list(range(layers[0], layers[-1] + 1))


def test_sweeps_untangle_what_can_be_untangled() -> None:
    """Four chains that are given in a twisted order end up without a crossing."""
    layout = layered(8, [(0, 7), (1, 6), (2, 5), (3, 4)])
    assert layout.crossings() == 0


@pytest.mark.parametrize("seed", range(20))
def test_sweeps_never_add_crossings(seed: int) -> None:
    """The order that is kept is no worse than that of the file."""
    edges = random_edges(seed)
    layout = layered(14, edges)
    unordered = type(layout)(14, tuple(tuple(sorted(layer)) for layer in layout.layers), layout.routes)
    assert layout.crossings() <= unordered.crossings()


def test_crossings_are_counted() -> None:
    """The complete graph between two and two operators has one crossing in any order."""
    assert layered(4, [(0, 2), (0, 3), (1, 2), (1, 3)]).crossings() == 1


@pytest.mark.parametrize("seed", range(20))
def test_arranged_vertices_keep_their_distance(seed: int) -> None:
    """In every layer the order holds and nothing overlaps."""
    layout = layered(14, random_edges(seed))
    count = sum(map(len, layout.layers))
    sizes = [1 + number % 3 for number in range(count)]
    places = arrange(layout, sizes, sizes, gap=2)
    assert min(place - size for place, size in zip(places, sizes, strict=True)) == 0
    for layer in layout.layers:
        for upper, lower in itertools.pairwise(layer):
            assert places[lower] - places[upper] >= sizes[upper] + 2 + sizes[lower]


def test_chain_is_level() -> None:
    """Operators one after the other are on one line."""
    layout = layered(4, [(0, 1), (1, 2), (2, 3)])
    assert len(set(arrange(layout, [2] * 4, [2] * 4, 1))) == 1


def test_join_is_between_its_inputs() -> None:
    """An operator with three inputs is level with the middle one."""
    places = arrange(layered(4, [(0, 3), (1, 3), (2, 3)]), [0] * 4, [1] * 4, 1)
    assert sorted(places[:3])[1] == places[3]


def test_nothing_is_far_below_for_no_reason() -> None:
    """Parts of a graph that have nothing to do with each other follow each other closely."""
    edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (5, 6)]
    places = sorted(arrange(layered(7, edges), [0] * 7, [1] * 7, 1))
    assert all(lower - upper <= 2 for upper, lower in itertools.pairwise(places))


def test_increasing_is_the_nearest_sequence_that_never_falls() -> None:
    """Values that fall are replaced by their weighted mean."""
    assert increasing([1.0, 5.0, 3.0, 9.0], [1.0, 1.0, 1.0, 1.0]) == [1.0, 4.0, 4.0, 9.0]
    assert increasing([6.0, 0.0], [1.0, 2.0]) == [2.0, 2.0]
