"""Networks of experiments: measured where the data is there, synthetic elsewhere, the same for a seed."""

import os
from pathlib import Path

import numpy as np
import pytest

from berth.experiments.experiment import named_generator
from berth.experiments.networks import (
    CLOUDS,
    FILES,
    IOT_LAB,
    PLANETLAB,
    SYNTHETIC,
    is_there,
    papers_network,
    some_delays,
)

DATA = Path(os.environ.get("BERTH_DATA", "-"))


def test_names_draw_different_numbers() -> None:
    first = named_generator(3, "a").random(4)
    assert np.array_equal(first, named_generator(3, "a").random(4))
    assert not np.array_equal(first, named_generator(3, "b").random(4))
    assert not np.array_equal(first, named_generator(4, "a").random(4))


def test_without_data(tmp_path: Path) -> None:
    """A folder without the network is like none."""
    for data in (None, tmp_path):
        assert papers_network(data) == SYNTHETIC
        assert not is_there(data, PLANETLAB)
        delays = some_delays(data, SYNTHETIC, 12, named_generator(0, "x"))
        assert len(delays) == 12
        assert np.array_equal(delays.delay_ms, delays.delay_ms.T)
    with pytest.raises(FileNotFoundError, match="IoT lab is asked for"):
        some_delays(None, IOT_LAB, 3, named_generator(0, "x"))


def test_cloud_regions(tmp_path: Path) -> None:
    """Only round trips over the clouds' own networks count, and half of each is a delay."""
    file = tmp_path / FILES[CLOUDS]
    file.parent.mkdir()
    tiers = "src_region,src_tier,dst_region,dst_tier,avg_rtt"
    rows = ["b:1,PREMIUM,a:1,PREMIUM,8", "a:1,PREMIUM,b:1,PREMIUM,6", "a:1,STANDARD,b:1,PREMIUM,99"]
    file.write_text("\n".join([tiers, *rows]))
    delays = some_delays(tmp_path, CLOUDS, 5, named_generator(0, "x"))
    assert delays.names == ["a-1", "b-1"]
    assert delays.delay_ms.tolist() == [[0.0, 3.0], [4.0, 0.0]]


@pytest.mark.parametrize(("network", "nodes"), [(PLANETLAB, 490), (CLOUDS, 69), (IOT_LAB, 283)])
def test_measured(network: str, nodes: int) -> None:
    if not is_there(DATA, network):
        pytest.skip(f"BERTH_DATA has no {FILES[network]}")
    assert len(some_delays(DATA, network, 1000, named_generator(0, "x"))) == nodes
    some = [some_delays(DATA, network, 40, named_generator(seed, "x")).delay_ms for seed in (1, 1, 2)]
    assert some[0].shape == (40, 40)
    assert np.array_equal(some[0], some[1], equal_nan=True)
    assert not np.array_equal(some[0], some[2], equal_nan=True)
