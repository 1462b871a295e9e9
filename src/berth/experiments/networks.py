"""Networks that experiments place on: measured ones where their data is there, else a synthetic space."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path

import numpy as np

from berth.files.document import read_bytes
from berth.files.latency_matrix import read_latency_matrix
from berth.generators import Delays
from berth.generators.generator import Space

PLANETLAB, CLOUDS, IOT_LAB, SYNTHETIC = "PlanetLab", "cloud regions", "IoT lab", "synthetic"
FILES = {
    PLANETLAB: "planetlab_490/PlanetLabData_01.tsv.gz",
    CLOUDS: "skyplane_69/latency.csv",
    IOT_LAB: "fit_iot_283/rtt_round_0.csv",
}
"""Where the measured ones are in the folder of data."""

ABOUT = {
    PLANETLAB: "measured delays between PlanetLab nodes",
    CLOUDS: "measured delays between cloud regions",
    IOT_LAB: "measured delays in an IoT test-bed, of which a tenth is missing",
    SYNTHETIC: "synthetic delays (clusters in space, with noise), since no measured ones are there",
}


def is_there(data: Path | None, network: str) -> bool:
    """Whether a network's data is there; the synthetic one always is."""
    return network == SYNTHETIC or (data is not None and (data / FILES[network]).is_file())


def papers_network(data: Path | None) -> str:
    """PlanetLab, which papers 002 and 003 used, or what stands for it."""
    return PLANETLAB if is_there(data, PLANETLAB) else SYNTHETIC


def some_delays(data: Path | None, network: str, count: int, rng: np.random.Generator) -> Delays:
    """So many nodes of a network, drawn at random; all of them where it has no more."""
    if network == SYNTHETIC:
        return Space().delays(count, rng)
    if data is None:
        raise FileNotFoundError(f"no folder of measured networks, and {network} is asked for")
    return measured(data / FILES[network]).some(count, rng)


@lru_cache(maxsize=8)
def measured(file: Path) -> Delays:
    """One-way delays from a matrix or from the cloud regions' list; read once in a process."""
    return cloud_regions(file) if file.name == "latency.csv" else Delays(*read_latency_matrix(file))


def cloud_regions(file: Path) -> Delays:
    """One-way delays between cloud regions, from a list of round trips over their own networks."""
    entries = [
        entry
        for entry in csv.DictReader(read_bytes(file).decode().splitlines())
        if entry["src_tier"] == entry["dst_tier"] == "PREMIUM"
    ]
    names = sorted({entry["src_region"] for entry in entries})
    index = {name: number for number, name in enumerate(names)}
    delays = np.full((len(index), len(index)), np.nan)
    for entry in entries:
        if entry["dst_region"] in index:
            delays[index[entry["src_region"]], index[entry["dst_region"]]] = float(entry["avg_rtt"]) / 2.0
    np.fill_diagonal(delays, 0.0)
    return Delays(delays, [name.replace(":", "-") for name in names])
