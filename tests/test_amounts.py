from __future__ import annotations

import pytest

from berth.amounts import byte_rate, cut, metric, metric_change, milliseconds, percentage, quantity, shortened


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.25, "0.25"),
        (5.0, "5"),
        (57.6, "57.6"),
        (999.9, "1k"),
        (1250.0, "1.25k"),
        (6.4e10, "64G"),
    ],
)
def test_quantities_have_three_digits_and_a_prefix(value: float, text: str) -> None:
    """Any amount is short."""
    assert quantity(value) == text


def test_rates_have_units() -> None:
    """Bytes per second, or that they are unknown."""
    assert byte_rate(1.5e6) == "1.5 MB/s"
    assert byte_rate(12.0) == "12 B/s"
    assert byte_rate(float("nan")) == "unknown"


def test_times_are_rounded_by_their_size() -> None:
    """Two decimals below 10 ms, one below a second, then none."""
    assert [milliseconds(value) for value in (0.909, 31.836, 40.0, 1558.7)] == [
        "0.91 ms",
        "31.8 ms",
        "40 ms",
        "1559 ms",
    ]


def test_only_the_whole_is_a_hundred_percent() -> None:
    """What is nearly everything is not rounded up to it."""
    assert [percentage(value) for value in (0.0, 1e-6, 0.042, 0.6, 0.99999, 1.0, 1.25)] == [
        "0%",
        "<0.1%",
        "4.2%",
        "60%",
        "99.99%",
        "100%",
        "125%",
    ]


def test_metrics_have_the_unit_of_their_key() -> None:
    """The end of a key says what it is measured in."""
    assert metric("response_time_ms", 31.84) == "31.8 ms"
    assert metric("availability", 0.92274) == "92.27%"
    assert metric("traffic_bytes_per_s", 2000.0) == "2 kB/s"
    assert metric("moved_state_bytes", 2e9) == "2GB"
    assert metric("bandwidth_max_ratio", 0.6) == "60%"
    assert metric("nodes_used", 3.0) == "3"


def test_long_texts_and_lists_are_cut() -> None:
    """What is missing is said."""
    assert cut("singapore", 6) == "singa…"
    assert cut("oslo", 6) == "oslo"
    assert shortened(["a", "b", "c"], 2) == "a, b and 1 more"
    assert shortened(["a", "b"], 2) == "a, b"


@pytest.mark.parametrize(
    ("key", "before", "after", "text"),
    [
        ("response_time_ms", 31.8, 35.0, "+3.2 ms"),
        ("traffic_bytes_per_s", 2.4e6, 1.2e6, "-1.2 MB/s"),
        ("availability", 0.99, 0.98, "-1%"),
        ("nodes_used", 3, 5, "+2"),
        ("response_time_ms", 0.1 + 0.2, 0.3, ""),
        ("nodes_used", 0.0, 0.0, ""),
        ("response_time_ms", 1.0, 1.000001, "≈0 ms"),
    ],
)
def test_changes_have_a_sign_and_the_unit(key: str, before: float, after: float, text: str) -> None:
    """What is the same but for rounding has not changed; what is too little to write is near nothing."""
    assert metric_change(key, before, after) == text
