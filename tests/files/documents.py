"""A valid problem document for tests to break, and ways to reach into it."""

import re
from typing import Any

Document = dict[str, Any]
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
GONE = object()
"""Instead of a value: take the key out."""


def problem_document() -> Document:
    """A small problem that has nearly every field of the format."""
    return {
        "format": "berth/v1",
        "name": "small",
        "network": {
            "symmetric": True,
            "routing": "direct",
            "duplex": "full",
            "one_port": False,
            "headroom": 0.1,
            "nodes": [
                {
                    "name": "rome",
                    "capacity": {"cpu": 4, "memory": 8.0e9},
                    "speed": 1.5,
                    "availability": 0.99,
                    "run_queue": 1,
                    "nic_bytes_per_s": 1.25e8,
                    "cost_per_hour": 0.1,
                    "carbon_g_per_hour": 40,
                    "coordinates": [1.0, -2.0],
                    "height_ms": 0.5,
                    "labels": {"zone": "south"},
                },
                {"name": "paris", "coordinates": [4, 2], "labels": {"zone": "north"}},
                {"name": "store", "hosts": False, "holds": ["camera"]},
            ],
            "links": [
                {"from": "rome", "to": "paris", "delay_ms": 22, "bandwidth_bytes_per_s": 1e8, "cost": 3},
                {"from": "rome", "to": "store", "delay_ms": 5, "availability": 0.9, "price_per_gb": 0.02},
                {"from": "store", "to": "paris", "delay_ms": 7},
            ],
        },
        "objects": [{"name": "camera", "bytes": 5.0e6}],
        "applications": [
            {
                "name": "first",
                "throughput_per_s": 2.0,
                "max_response_time_ms": 500,
                "min_availability": 0.5,
                "containers": {"count": 3, "capacity": {"cpu": 1}},
                "rules": [
                    {"together": ["tag", "count"]},
                    {"apart": ["tag"], "by": "zone"},
                    {"where": {"zone": "south"}, "operators": ["source"]},
                    {"spread": ["tag", "count"], "by": "zone", "most": 3},
                ],
                "operators": [
                    {"name": "source", "pinned": "rome", "emits_bytes_per_s": 1000, "demand": {"cpu": 0.5}},
                    {
                        "name": "tag",
                        "candidates": ["rome", "paris"],
                        "work_ms": 2,
                        "parallelism": 2,
                        "selectivity": 0.5,
                        "state_bytes": 10,
                        "placement_cost": {"rome": 2.5},
                    },
                    {"name": "count", "output_bytes": 8, "work_ms": 1},
                ],
                "streams": [
                    {"from": "source", "to": "tag", "bytes_per_s": 900, "grouping": "all"},
                    {"from": "tag", "to": "count"},
                ],
            },
            {
                "name": "second",
                "operators": [
                    {
                        "name": "look",
                        "type": "look",
                        "work_ms": 3,
                        "reads": [{"object": "camera", "per_s": 0.5}],
                    },
                    {"name": "show"},
                ],
                "streams": [{"from": "look", "to": "show"}],
            },
        ],
        "sharing": True,
        "objective": {"response_time": 1.0, "availability": 0.5},
        "objective_scale": "normalised",
        "objective_bounds": {"response_time": [10, 90]},
    }


def put(document: Document, path: str, value: Any) -> None:
    """Write a value at a path such as `network.links[0].to`; one past the end of a list it is added."""
    *way, last = [int(number) if number else name for name, number in _STEP.findall(path)]
    place: Any = document
    for step in way:
        place = place[step]
    if value is GONE:
        del place[last]
    elif isinstance(place, list) and last == len(place):
        place.append(value)
    else:
        place[last] = value
