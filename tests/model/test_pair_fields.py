"""Tables of large networks, which compute what they are asked for, against the matrices of small ones."""

import pickle
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from berth.model import Link, Network, Node
from berth.model import pair_fields as module
from berth.model.links import LINK_FIELDS, LinkTable
from berth.model.network import MOST_IN_MATRICES
from berth.model.pair_fields import AllPairsError, PairField, whole

usual = settings(max_examples=120, derandomize=True, deadline=None, database=None)
amounts = st.none() | st.sampled_from([0.0, 0.5, 3.0])


@st.composite
def networks(draw: st.DrawFn) -> Network:
    size = draw(st.integers(1, 7))
    dimensions = draw(st.integers(1, 4))
    place = st.tuples(*[st.integers(-9, 9).map(float)] * dimensions)
    placed = draw(st.sampled_from([place, st.none() | place, st.none()]))
    nodes = tuple(
        Node(f"n{k}", coordinates=draw(placed), height_ms=draw(st.sampled_from([0.0, 0.0, 1.5])))
        for k in range(size)
    )
    ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(
        lambda pair: pair[0] != pair[1]
    )
    pairs = draw(st.lists(ends, max_size=8, unique=True)) if size > 1 else []
    links = tuple(Link(f"n{u}", f"n{v}", *(draw(amounts) for _ in LINK_FIELDS)) for u, v in pairs)
    return Network(
        nodes, links, symmetric=draw(st.booleans()), duplex=draw(st.sampled_from(["full", "half"]))
    )


def scattered(network: Network) -> LinkTable:
    with patch("berth.model.network.MOST_IN_MATRICES", 0):
        table = replace(network).table
    assert isinstance(table.delay_ms, PairField)
    return table


@usual
@given(networks())
def test_every_field_is_as_in_matrices(network: Network) -> None:
    found, expected = scattered(network), network.table
    numbers = np.arange(len(network.nodes))
    for name in (*LINK_FIELDS, "physical_bandwidth", "connected"):
        field, matrix = getattr(found, name), getattr(expected, name)
        np.testing.assert_array_equal(field[numbers[:, None], numbers], matrix, err_msg=name)
        np.testing.assert_array_equal(field[:, numbers], matrix, err_msg=name)
    assert found.connected.sum() == expected.connected.sum()
    assert found.connected.all() == expected.connected.all()
    assert found.bandwidth_bound == expected.bandwidth_bound
    for name in ("delay_ms", "cost"):
        assert getattr(found, name).most >= np.nanmax(getattr(expected, name))


@usual
@given(networks(), st.data())
def test_hops_are_as_in_matrices(network: Network, data: st.DataObject) -> None:
    numbers = st.lists(st.integers(0, len(network.nodes) - 1), min_size=3, max_size=3).map(np.array)
    senders, receivers = data.draw(numbers), data.draw(numbers)
    found, expected = (
        table.physical_hops(senders, receivers) for table in (scattered(network), network.table)
    )
    np.testing.assert_array_equal(found, expected)
    at_links = [table.physical_bandwidth.ravel()[found[1]] for table in (scattered(network), network.table)]
    np.testing.assert_array_equal(*at_links)


KEYS = [
    (1, 2),
    (-1, 0),
    (np.intp(3), np.array([0, 1])),
    (np.array([[0], [3]]), np.array([1, 2, 3])),
    (np.array([], dtype=int), np.array([], dtype=int)),
    (2, slice(None)),
    (slice(None), 2),
    (slice(1, 3), np.array([0, 3])),
    (np.array([0, 3]), slice(None, None, 2)),
    (slice(None), slice(1)),
    2,
    np.array([1, -2]),
    (slice(None), np.array([[0, 1], [2, 3]])),
]


@pytest.mark.parametrize("at_once", [1, 3, 2**20])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_it_is_looked_up_as_an_array(key: object, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", at_once)
    network = Network(
        tuple(Node(f"n{k}", coordinates=(k * k, 1.0)) for k in range(4)), (Link("n0", "n2", 7),)
    )
    found, expected = scattered(network).delay_ms[key], network.table.delay_ms[key]
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("key", [(0, 4), (-5, 0), (0.5, 1), (np.array([True, False]), 1)], ids=str)
def test_what_is_no_node_is_refused(key: object) -> None:
    network = Network(tuple(Node(f"n{k}", coordinates=(k,)) for k in range(4)))
    with pytest.raises(IndexError):
        scattered(network).delay_ms[key]


@pytest.fixture(scope="module")
def large() -> Network:
    random = np.random.default_rng(1)
    places = random.normal(0.0, 40.0, (100_000, 3))
    return Network(tuple(Node(f"n{k}", coordinates=tuple(place)) for k, place in enumerate(places.tolist())))


def test_many_nodes_have_no_matrices(large: Network) -> None:
    assert large.scattered
    first, last = (np.array(large.nodes[k].coordinates) for k in (0, -1))
    assert large.table.delay_ms[0, 99_999] == pytest.approx(float(np.linalg.norm(first - last)))
    assert large.table.connected.all()
    for wanted in (np.isnan, whole, np.asarray):
        with pytest.raises(AllPairsError, match="100,000 nodes"):
            wanted(large.table.delay_ms)  # type: ignore[operator]
    numbers = np.arange(100_000)
    with pytest.raises(AllPairsError):
        large.table.delay_ms[numbers[:, None], numbers]
    with pytest.raises(AllPairsError):
        large.table.connected[np.broadcast_to(numbers[:, None], (100_000, 100_000)), numbers]


def test_matrices_and_routes_stay_matrices(large: Network) -> None:
    few = large.nodes[: MOST_IN_MATRICES + 1]
    assert Network(few).scattered
    assert not Network(few[1:]).scattered
    assert not Network(few, routing="shortest_path").scattered
    some: NDArray[np.float64] = np.zeros((2, 2))
    assert not Network(few, matrices={"delay_ms": some}).scattered


def test_it_can_be_sent_to_another_process(large: Network) -> None:
    _ = large.table
    again: Network = pickle.loads(pickle.dumps(large))
    assert again.table.delay_ms[3, 5] == large.table.delay_ms[3, 5]


def test_a_capacity_is_its_callers_own() -> None:
    network = Network((Node("a", capacity={"cpu": 4.0}), Node("b")), headroom=0.25)
    network.capacity("cpu")[0] = 99.0
    assert network.capacity("cpu").tolist() == [3.0, 0.0]
