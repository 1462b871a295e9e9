from __future__ import annotations

import math

import pytest

from berth.amounts import change, cut, distance, in_unit, operators_in_short, shortened, signed
from berth.evaluation import METRICS, metric_change, metric_text

SHOWN = [
    # rates and sizes of data
    (18_616_000.0, "bytes/s", "18.6 MB/s"),
    (12.0, "bytes/s", "12 B/s"),
    (999.4, "bytes/s", "999 B/s"),
    (999.5, "bytes/s", "1 kB/s"),
    (3.4e9, "bytes", "3.4 GB"),
    (0.318, "B·s", "0.318 B·s"),
    # times
    (0.909, "ms", "0.909 ms"),
    (2.125, "ms", "2.13 ms"),
    (67.6, "ms", "67.6 ms"),
    (999.4, "ms", "999 ms"),
    (1200.0, "ms", "1.2 s"),
    (86_400_000.0, "ms", "86,400 s"),
    # shares: what is nearly nothing or nearly everything is neither
    (0.0, "share", "0 %"),
    (1e-7, "share", "<0.001 %"),
    (-1e-7, "share", ">-0.001 %"),
    (0.042, "share", "4.2 %"),
    (0.92274, "share", "92.3 %"),
    (0.992, "share", "99.2 %"),
    (0.99951, "share", "99.951 %"),
    (0.99999, "share", "99.999 %"),
    (1.0 - 1e-12, "share", "100 %"),
    (1.25, "share", "125 %"),
    (32.2, "share", "3,220 %"),
    # money and carbon by the hour
    (0.12, "/h", "0.12 /h"),
    (1250.0, "/h", "1,250 /h"),
    (412.0, "g/h", "412 g/h"),
    (4120.0, "g/h", "4.12 kg/h"),
    # processors and counts
    (2.3, "processors", "2.3 processors"),
    (1.0, "processors", "1 processor"),
    (12_345.0, "nodes", "12,345"),
    (3.0, "instances", "3"),
    (2.5, "containers", "2.5"),
    (4.0, "cpu", "4 cpu"),
    (999_000.0, "memory", "999,000 memory"),
    (1.5e10, "memory", "15G memory"),
    (-2.5e6, "memory", "-2.5M memory"),
    # numbers without a unit
    (0.0, "", "0"),
    (0.25, "", "0.25"),
    (57.6, "", "57.6"),
    (999.9, "", "1k"),
    (1250.0, "", "1.25k"),
    (6.4e10, "", "64G"),
    (-2.5, "", "-2.5"),
    (1.2e-5, "", "1.2e-5"),
    (9.996e-5, "", "0.0001"),
    (1.5e300, "", "1.5e288T"),
    # what is no number
    (math.nan, "bytes/s", "unknown"),
    (math.inf, "share", "∞"),
]
STEPS = [
    (31.8, 35.0, "ms", "+3.2 ms"),
    (3.2e6, 2e6, "bytes/s", "-1.2 MB/s"),
    (0.9, 0.905, "share", "+0.5 points"),
    (0.01, 0.02, "share", "+1 point"),
    (3.0, 5.0, "nodes", "+2"),
    (7.0, 7.0, "ms", ""),
    (0.1 + 0.2, 0.3, "", ""),
    (None, 3.0, "ms", ""),
    (3.0, None, "ms", ""),
]


@pytest.mark.parametrize(("value", "unit", "text"), SHOWN)
def test_a_value_in_its_unit(value: float, unit: str, text: str) -> None:
    """Three digits that matter, and the prefix that fits."""
    assert in_unit(value, unit) == text


@pytest.mark.parametrize(("before", "after", "unit", "text"), STEPS)
def test_a_change_has_a_sign(before: float | None, after: float | None, unit: str, text: str) -> None:
    """Nothing is said where nothing has changed, or one of the two is unknown."""
    assert change(before, after, unit) == text


def test_a_difference() -> None:
    """With its sign, or as it is."""
    assert signed(8.0, "ms") == "+8 ms"
    assert signed(-0.05, "share") == "-5 points"
    assert distance(8.0, "ms") == "8 ms"


def test_metrics_know_their_units() -> None:
    """A metric is shown in its own unit, whatever its key."""
    shown = {metric.key: metric_text(metric.key, 0.5) for metric in METRICS}
    assert shown["response_time_ms"] == "0.5 ms"
    assert shown["availability"] == shown["bandwidth_max_ratio"] == "50 %"
    assert shown["traffic_bytes_per_s"] == "0.5 B/s"
    assert shown["moved_state_bytes"] == "0.5 B"
    assert shown["cost_per_hour"] == "0.5 /h"
    assert shown["carbon_g_per_hour"] == "0.5 g/h"
    assert shown["processing_power"] == "0.5 processors"
    assert shown["nodes_used"] == shown["communication_cost"] == "0.5"
    assert metric_text("of_somebody_else", 1234.0) == "1.23k"
    assert metric_change("response_time_ms", 31.8, 35.0) == "+3.2 ms"
    assert metric_change("availability", 0.99, 0.98) == "-1 point"


def test_long_texts_and_lists_are_cut() -> None:
    """What is missing is said."""
    assert cut("singapore", 6) == "singa…"
    assert cut("oslo", 6) == "oslo"
    assert shortened(["a", "b", "c"], 2) == "a, b and 1 more"
    assert shortened(["a", "b"], 2) == "a, b"


def test_operators_in_short() -> None:
    """Instances of one operator together; one alone keeps its number."""
    assert operators_in_short(["a/t#0", "a/t#3", "a/s", "b/t#1"]) == "a/t×2, a/s, b/t#1"
