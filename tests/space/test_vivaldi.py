"""Embedding: what can be met is met, chance is seeded, and bad input bends nothing."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from berth.space import Samples, VivaldiOptions, embed, samples_from_matrix, samples_from_pairs

DATA = os.environ.get("BERTH_DATA")


def distances(points: np.ndarray) -> np.ndarray:
    return np.sqrt(((points[:, None] - points[None, :]) ** 2).sum(axis=-1))


def cloud(seed: int, nodes: int = 40, dimensions: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 30, (nodes, dimensions))


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5])
def test_points_of_the_same_dimension_are_found_again(dimensions: int) -> None:
    """Delays that are distances are met nearly exactly."""
    found = embed(samples_from_matrix(distances(cloud(1, dimensions=dimensions))), VivaldiOptions(dimensions))
    assert found.errors is not None
    assert found.positions.shape == (40, dimensions)
    assert found.errors.absolute_mean_ms < 0.05
    assert found.resets == 0
    assert 0 < found.rounds <= 600


@given(st.integers(0, 10**6), st.integers(2, 12))
@example(168, 4)
@example(392, 3)
@settings(max_examples=25, deadline=None)
def test_small_networks_in_space_are_found_again(seed: int, nodes: int) -> None:
    """Any few points in three dimensions, also such that lie on a line or at one place."""
    points = np.random.default_rng(seed).integers(-2, 3, (nodes, 3)) * 10.0
    delay = distances(points)
    found = embed(samples_from_matrix(delay), seed=seed)
    assert found.errors is not None
    assert found.errors.absolute_mean_ms <= 0.02 * max(delay.max(), 1.0)


def test_turning_and_shifting_the_input_changes_nothing() -> None:
    """The delays are the same, so the answer is."""
    points = cloud(2)
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    one, other = (
        embed(samples_from_matrix(np.round(distances(p), 9))) for p in (points, points @ turn + [5, -70, 300])
    )
    np.testing.assert_allclose(distances(one.positions), distances(other.positions), atol=1e-3)


def test_the_largest_island_lies_around_the_origin() -> None:
    """Positions don't drift: their centre is the origin."""
    np.testing.assert_allclose(
        embed(samples_from_matrix(distances(cloud(3)))).positions.mean(axis=0), 0, atol=1e-9
    )


@pytest.mark.parametrize("options", [VivaldiOptions(), VivaldiOptions(neighbours=8, height=True)])
def test_the_same_seed_gives_the_same_points(options: VivaldiOptions) -> None:
    """Bit by bit; another seed gives others."""
    samples = samples_from_matrix(distances(cloud(4)) + 1.0)
    one, same, other = (embed(samples, options, seed) for seed in (7, 7, 8))
    assert (one.positions == same.positions).all()
    assert (one.heights == same.heights).all()
    assert (one.positions != other.positions).any()
    assert embed(samples, options, -1).errors is not None


def test_heights_take_what_no_distance_can() -> None:
    """Access links that add to every delay: heights meet them, points alone don't."""
    heights = np.random.default_rng(5).uniform(2, 20, 40)
    delay = distances(cloud(5)) + heights[:, None] + heights[None, :]
    samples = samples_from_matrix(delay)
    with_heights, without = (embed(samples, VivaldiOptions(height=height)) for height in (True, False))
    assert with_heights.errors is not None
    assert without.errors is not None
    assert with_heights.errors.absolute_mean_ms < 0.25 * without.errors.absolute_mean_ms
    assert (with_heights.heights > 0).all()
    assert (without.heights == 0).all()


def test_the_polish_lowers_the_error_where_delays_fit_nowhere() -> None:
    """A tenth of the delays are absurd: least absolute errors are not bent by them."""
    generator = np.random.default_rng(6)
    delay = distances(cloud(6, nodes=80))
    absurd = np.triu(generator.random(delay.shape) < 0.1, 1)
    delay[absurd] *= 10
    delay = np.triu(delay) + np.triu(delay).T
    samples = samples_from_matrix(delay)
    refined, alone = (embed(samples, VivaldiOptions(refine=refine)) for refine in (True, False))
    assert refined.errors is not None
    assert alone.errors is not None
    assert alone.polish_rounds == 0 < refined.polish_rounds
    assert refined.errors.absolute_median_ms < 0.5 * alone.errors.absolute_median_ms


def test_one_absurd_delay_tears_nothing_apart() -> None:
    """An entry of 1e25 ms costs its own pair, not the others."""
    delay = distances(cloud(7))
    delay[3, 9] = delay[9, 3] = 1e25
    found = embed(samples_from_matrix(delay))
    assert found.errors is not None
    assert np.isfinite(found.positions).all()
    assert found.errors.absolute_median_ms < 1.0


def test_any_unit_will_do() -> None:
    """Delays of nanoseconds or of ages are embedded as well as others."""
    delay = distances(cloud(8))
    for unit in (1e-6, 1e20):
        found = embed(samples_from_matrix(unit * delay))
        assert found.errors is not None
        assert found.errors.absolute_mean_ms < 0.05 * unit


def test_nodes_at_one_place() -> None:
    """Delays of 0 between different nodes: they end at the same point, all of them or two of many."""
    together = embed(samples_from_matrix(np.zeros((5, 5))))
    assert together.errors is not None
    assert together.errors.absolute_max_ms == 0
    points = cloud(9)
    points[1] = points[0]
    pair = embed(samples_from_matrix(distances(points)))
    assert distances(pair.positions)[0, 1] < 0.5


def test_asymmetric_and_incomplete_delays() -> None:
    """Half of the entries missing and the rest different by direction: the mean is met."""
    generator = np.random.default_rng(10)
    delay = distances(cloud(10))
    lean = generator.uniform(-0.2, 0.2, delay.shape)
    lean = np.triu(lean) - np.triu(lean).T
    there = np.triu(generator.random(delay.shape) < 0.5, 1)
    matrix = np.where(there | there.T, delay * (1 + lean), np.nan)
    found = embed(samples_from_matrix(matrix))
    assert found.errors is not None
    assert found.errors.absolute_mean_ms < 0.2
    assert np.median(np.abs(distances(found.positions) - delay)) < 0.5


def test_islands_and_lonely_nodes_are_told() -> None:
    """They lie far from the rest, keep their own distances, and are named."""
    points = cloud(11, nodes=20)
    delay = distances(points)
    delay[:15, 15:] = delay[15:, :15] = np.nan
    delay[19, :] = delay[:, 19] = np.nan
    found = embed(samples_from_matrix(delay))
    assert found.unplaced.tolist() == [15, 16, 17, 18, 19]
    apart = distances(found.positions)
    extent = apart[:15, :15].max()
    assert apart[:15, 15:].min() > 5 * extent
    assert apart[15:19, 19].min() > 5 * extent
    np.testing.assert_allclose(apart[15:19, 15:19], delay[15:19, 15:19], atol=0.5)


@pytest.mark.parametrize("nodes", [1, 3])
def test_nothing_known(nodes: int) -> None:
    """Every node is an island; there is no error because nothing was measured."""
    found = embed(samples_from_pairs(nodes, [], [], []))
    assert found.errors is None
    assert found.unplaced.tolist() == list(range(1, nodes))
    assert np.isfinite(found.positions).all()


def test_a_long_list_needs_no_matrix() -> None:
    """1,000 nodes with 32 random neighbours each: distances of pairs that nobody measured are met."""
    nodes = 1_000
    points = cloud(12, nodes=nodes)
    generator = np.random.default_rng(12)
    senders, receivers = np.repeat(np.arange(nodes), 16), generator.integers(0, nodes, nodes * 16)
    delay = np.linalg.norm(points[senders] - points[receivers], axis=1)
    found = embed(samples_from_pairs(nodes, senders, receivers, delay), VivaldiOptions(neighbours=32))
    first, second = generator.integers(0, nodes, (2, 1000))
    truth = np.linalg.norm(points[first] - points[second], axis=1)
    assert np.abs(found.distances(first, second) - truth).mean() < 1.0


@pytest.mark.parametrize(("place", "seed"), [(1, 2), (7, 0), (8, 1), (10, 1)])
def test_clusters_are_not_left_folded(place: int, seed: int) -> None:
    """Some that rest on the wrong side of others, with an error of 2 to 9 ms, in three dimensions alone."""
    generator = np.random.default_rng(place)
    centres = generator.normal(0, 60, (8, 3))
    points = centres[generator.integers(0, 8, 300)] + generator.normal(0, 3, (300, 3))
    samples = samples_from_matrix(distances(points))
    figures = embed(samples, VivaldiOptions(neighbours=16, starts=1), seed).errors
    assert figures is not None
    assert figures.absolute_mean_ms < 0.1


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"dimensions": 0}, "dimensions: 0 is not in 1 to 16"),
        ({"dimensions": 17}, "dimensions: 17 is not in 1 to 16"),
        ({"neighbours": 0}, "neighbours: 0 is below 1"),
        ({"rounds": 0}, "rounds: 0 is below 1"),
        ({"starts": 0}, "starts: 0 is below 1"),
        ({"c_c": 0.0}, "c_c: 0.0 is not above 0 and at most 1"),
        ({"c_e": float("nan")}, "c_e: nan is not above 0 and at most 1"),
    ],
)
def test_options_out_of_range(wrong: dict[str, float], line: str) -> None:
    """One line that names option, value and range."""
    with pytest.raises(ValueError, match=line):
        VivaldiOptions(**wrong)


def planetlab(part: slice) -> Samples:
    path = Path(DATA or "") / "planetlab_490" / "PlanetLabData_03.tsv.gz"
    if not path.exists():
        pytest.skip("BERTH_DATA has no planetlab_490")
    with gzip.open(path) as file:
        return samples_from_matrix(np.loadtxt(file)[part, part] / 2)


@pytest.mark.skipif(DATA is None, reason="BERTH_DATA names no folder of measurements")
def test_planetlab_is_met_as_well_as_in_the_paper() -> None:
    """15 ms of round trip is what paper 003 has: 7.5 ms one way."""
    figures = embed(planetlab(slice(None, None, 2))).errors
    assert figures is not None
    assert figures.absolute_mean_ms < 7.5
    assert figures.relative_median < 0.1


@pytest.mark.skipif(DATA is None, reason="BERTH_DATA names no folder of measurements")
def test_missing_entries_of_a_test_bed() -> None:
    """FIT IoT-LAB: a tenth of the entries is missing; sites are clusters a few ms apart."""
    path = Path(DATA or "") / "fit_iot_283" / "rtt_round_0.csv"
    if not path.exists():
        pytest.skip("BERTH_DATA has no fit_iot_283")
    rows = list(csv.reader(path.open()))[1:]
    rtt = np.array([[float(cell) if cell != "NA" else 0.0 for cell in row] for row in rows])
    found = embed(samples_from_matrix(np.where(rtt > 0, rtt, np.nan) / 2))
    assert found.errors is not None
    assert found.errors.absolute_median_ms < 0.1
