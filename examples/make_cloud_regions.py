"""Build cloud-regions.json: a problem of 69 cloud regions from measured delays, bandwidths and prices.

    BERTH_DATA=FOLDER python examples/make_cloud_regions.py [OUTPUT]

reads FOLDER/skyplane_69, the measurements that the Skyplane project made in 2022 between regions of AWS,
Azure and GCP (their premium network tiers), and writes a problem file; OUTPUT is cloud-regions.json in the
current folder unless said. The delay of a link is half of the average round-trip time. Pairs without a
measured bandwidth have no limit. Only AWS has prices in the data: between its regions, and for what leaves
AWS (the internet price). What Azure and GCP ask is not known and is left out, so that it counts as nothing.

Measured delays break the triangle inequality: some regions are reached faster by way of a third one, and a
filter that is put there shortens the path.
"""

import csv
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

Matrix = list[list[float | None]]

BITS_PER_BYTE = 8
TUPLE_BYTES = 4.0e4
"""Events travel by the hundred."""

# by how the region's name without its provider starts; the first that fits counts
CONTINENTS = {
    "northamerica": "north-america",
    "southamerica": "south-america",
    "australia": "oceania",
    "ap-southeast-2": "oceania",
    "southafrica": "africa",
    "europe": "europe",
    "asia": "asia",
    "af-": "africa",
    "ap-": "asia",
    "ca-": "north-america",
    "eu-": "europe",
    "me-": "asia",
    "sa-": "south-america",
    "us-": "north-america",
    "brazil": "south-america",
    "canada": "north-america",
    "centralindia": "asia",
    "eastasia": "asia",
    "eastus": "north-america",
    "francecentral": "europe",
    "germany": "europe",
    "japan": "asia",
    "korea": "asia",
    "northcentralus": "north-america",
    "northeurope": "europe",
    "norway": "europe",
    "sweden": "europe",
    "switzerland": "europe",
    "uae": "asia",
    "uk": "europe",
    "westeurope": "europe",
    "westus": "north-america",
}


def main(arguments: list[str]) -> int:
    """Write the problem; 2 when the data is not there or the call is wrong."""
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print("usage: make_cloud_regions.py [OUTPUT]", file=sys.stderr)
        return 2
    data = os.environ.get("BERTH_DATA")
    if not data:
        print("BERTH_DATA is not set: it names the folder that holds skyplane_69", file=sys.stderr)
        return 2
    folder = Path(data) / "skyplane_69"
    if not folder.is_dir():
        print(f"BERTH_DATA: there is no folder {folder}", file=sys.stderr)
        return 2
    output = Path(arguments[0] if arguments else "cloud-regions.json")
    problem = cloud_regions(folder)
    output.write_text(json.dumps(problem) + "\n", encoding="utf-8")
    print(f"{output}: {len(problem['network']['nodes'])} regions")
    return 0


def cloud_regions(folder: Path) -> dict[str, Any]:
    """The problem: the measured network and a small application on it."""
    delays = premium_pairs(folder / "latency.csv", "avg_rtt", 1 / 2)
    bandwidths = premium_pairs(folder / "throughput.csv", "throughput_received", 1 / BITS_PER_BYTE)
    regions = sorted({region for pair in delays for region in pair})
    prices = aws_prices(folder / "aws_transfer_costs.csv", regions)
    delay_ms = matrix(regions, delays)
    for index in range(len(regions)):
        delay_ms[index][index] = 0
    return {
        "format": "berth/v1",
        "name": "cloud-regions",
        "network": {
            "nodes": [node(region) for region in regions],
            "delay_ms": delay_ms,
            "bandwidth_bytes_per_s": matrix(regions, bandwidths),
            "price_per_gb": matrix(regions, prices),
        },
        "applications": [application()],
        "objective": {"response_time": 1.0},
    }


def premium_pairs(path: Path, column: str, factor: float) -> dict[tuple[str, str], float]:
    """The mean of a column over the rows of each pair of two regions, both on the premium tier."""
    values = defaultdict(list)
    for row in rows(path):
        pair = (row["src_region"], row["dst_region"])
        if row["src_tier"] == row["dst_tier"] == "PREMIUM" and pair[0] != pair[1]:
            values[pair].append(float(row[column]) * factor)
    return {pair: round(fmean(measured), 4) for pair, measured in values.items()}


def aws_prices(path: Path, regions: list[str]) -> dict[tuple[str, str], float]:
    """What AWS asks for a GB from one of its regions to any of the regions."""
    listed = {(row["src"], row["dst"]): float(row["cost"]) for row in rows(path)}
    prices = {}
    for sender in regions:
        for receiver in regions:
            if sender == receiver or provider(sender) != "aws":
                continue
            destination = place(receiver) if provider(receiver) == "aws" else "internet"
            price = listed.get((place(sender), destination))
            if price is not None:
                prices[sender, receiver] = price
    return prices


def rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def matrix(regions: list[str], values: dict[tuple[str, str], float]) -> Matrix:
    return [[values.get((sender, receiver)) for receiver in regions] for sender in regions]


def provider(region: str) -> str:
    return region.partition(":")[0]


def place(region: str) -> str:
    return region.partition(":")[2]


def node(region: str) -> dict[str, Any]:
    """A region: 16 processors there are ours."""
    labels = {"provider": provider(region)}
    for start, continent in CONTINENTS.items():
        if place(region).startswith(start):
            labels["continent"] = continent
            break
    return {"name": region, "capacity": {"cpu": 16}, "cores": 16, "labels": labels}


def application() -> dict[str, Any]:
    """Events of three continents, filtered, merged by the minute and shown in a fourth."""
    sources = {"america": "aws:us-east-1", "europe": "azure:westeurope", "asia": "gcp:asia-northeast1-a"}
    operators: list[dict[str, Any]] = []
    streams: list[dict[str, Any]] = []
    for continent, region in sources.items():
        operators += [
            {
                "name": f"events-{continent}",
                "pinned": region,
                "demand": {"cpu": 1},
                "work_ms": 0.5,
                "emits_bytes_per_s": 4.0e6,
            },
            {"name": f"filter-{continent}", "demand": {"cpu": 2}, "work_ms": 2, "selectivity": 0.1},
        ]
        streams += [
            {"from": f"events-{continent}", "to": f"filter-{continent}", "tuple_bytes": TUPLE_BYTES},
            {"from": f"filter-{continent}", "to": "merge", "tuple_bytes": TUPLE_BYTES},
        ]
    operators += [
        {"name": "merge", "demand": {"cpu": 4}, "work_ms": 5, "selectivity": 0.2},
        {"name": "dashboard", "pinned": "aws:sa-east-1", "demand": {"cpu": 1}, "work_ms": 1},
    ]
    streams.append({"from": "merge", "to": "dashboard", "tuple_bytes": TUPLE_BYTES})
    return {"name": "world-events", "operators": operators, "streams": streams}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
