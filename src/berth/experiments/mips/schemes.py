"""The schemes of paper 001's figure 3, and tables of what they came to."""

from __future__ import annotations

from typing import Any

import pandas as pd

MM_TRAFFIC, MM_BOTH, MM_UTIL = "M/M (traffic)", "M/M (both)", "M/M (util.)"
FB, TB, RB = "F/B", "T/B", "R/B"
MB, PRINTED_MM, POLISHED_MM = "M/B (traffic)", "M/M, as printed", "M/M, polished"
FB_HERON, TB_USED = "F/B, Heron's", "T/B, ties to used"
MIPS, BASELINES = (MM_TRAFFIC, MM_BOTH, MM_UTIL), (FB, TB, RB)
SCHEMES: dict[str, tuple[str, dict[str, Any]]] = {
    MM_TRAFFIC: ("mips", {"alpha": 1.0}),
    MM_BOTH: ("mips", {"alpha": 0.5}),
    MM_UTIL: ("mips", {"alpha": 0.0}),
    FB: ("ffd", {}),
    TB: ("t-heron", {"ties": "empty"}),
    RB: ("r-heron", {}),
}
FURTHER: dict[str, tuple[str, dict[str, Any]]] = {
    MB: ("mips", {"alpha": 1.0, "second_stage": "best-fit"}),
    PRINTED_MM: ("mips", {"alpha": 1.0, "mode": "paper"}),
    POLISHED_MM: ("mips", {"alpha": 1.0, "polish": True}),
    FB_HERON: ("ffd", {"variant": "heron"}),
    TB_USED: ("t-heron", {"ties": "used"}),
}
"""Readings and parts that the paper doesn't show, on the Fat-Tree."""
AS_USUAL = "as usual"
VARIANTS: dict[str, dict[str, Any]] = {
    "containers of 24 cores and 24 GB": {"container_cores": 24, "container_memory": 24},
    "traffic spread 0.5": {"traffic_log_deviation": 0.5},
    "traffic spread 2": {"traffic_log_deviation": 2.0},
    "two requests": {"applications": 2},
}
"""Other choices for what the paper doesn't give."""


def common_repeats(table: pd.DataFrame, variant: str, topology: str) -> pd.DataFrame:
    """Columns by figure and scheme, of the repeats in which no scheme failed; with both stages' costs."""
    part = table[(table["variant"] == variant) & (table["topology"] == topology)]
    whole = part[~part.groupby("repeat")["failed"].transform("any")]
    shares = whole["traffic"] / whole["total_traffic"] + whole["containers"] / whole["instances"]
    costs = {"cost": (whole["traffic"] + whole["containers"]) / 2, "share_cost": shares / 2}
    return whole.assign(**costs).pivot(
        index="repeat",
        columns="scheme",
        values=["traffic", "containers", "server_cost", "cost", "share_cost"],
    )


def failures(table: pd.DataFrame, variant: str) -> str:
    """How many plans are left out, for people."""
    part = table[table["variant"] == variant]
    return f"{int(part['failed'].sum())} of {len(part)} plans failed; their repeats are left out"
