"""Numbers as people read them."""

from __future__ import annotations

import math

STEPS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
SIGNIFICANT_DIGITS = 3


def quantity(value: float) -> str:
    """Any amount: 5, 0.25, 1.25k, 64G."""
    text, prefix = _scaled(value)
    return text + prefix


def byte_rate(value: float) -> str:
    """Bytes per second: 1.5 MB/s; `unknown` for NaN."""
    if math.isnan(value):
        return "unknown"
    text, prefix = _scaled(value)
    return f"{text} {prefix}B/s"


def milliseconds(value: float) -> str:
    """A time: 0.91 ms, 31.8 ms, 1250 ms."""
    decimals = 0 if value >= 1000 else 1 if value >= 10 else 2
    return f"{_rounded(value, decimals)} ms"


def percentage(value: float) -> str:
    """A share: 60%, 4.2%, 99.95%; only the whole is 100%."""
    percent = 100.0 * value
    if 0.0 < percent < 0.05:
        return "<0.1%"
    if 99.0 < percent < 100.0:
        return f"{_rounded(math.floor(percent * 100) / 100, 2)}%"
    return f"{_rounded(percent, 1 if percent < 10 else 0)}%"


def metric(key: str, value: float) -> str:
    """A metric with its unit, which its key ends with."""
    if key.endswith("_ms"):
        return milliseconds(value)
    if key.endswith("_bytes_per_s"):
        return byte_rate(value)
    if key.endswith("_bytes"):
        return f"{quantity(value)}B"
    if key == "availability":
        return f"{_rounded(100.0 * value, 2)}%"
    if key == "bandwidth_max_ratio":
        return percentage(value)
    return quantity(value)


def metric_change(key: str, before: float, after: float) -> str:
    """How a metric changed, with sign and unit: +3.2 ms, -1.2 MB/s; empty where it didn't."""
    change = after - before
    if abs(change) <= 1e-9 * max(abs(before), abs(after)):
        return ""
    text, nothing = metric(key, abs(change)), metric(key, 0.0)
    return f"≈{nothing}" if text == nothing else f"{'+' if change > 0 else '-'}{text}"


def duration(seconds: float) -> str:
    """A time as people say it: 12 s, 3 min 20 s, 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


def counted(count: int, noun: str) -> str:
    """A number of things: 1 node, 3 nodes."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def shortened(names: list[str], most: int) -> str:
    """The first of some names and how many more there are."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def cut(text: str, width: int) -> str:
    """A text of at most so many characters; what is missing shows as an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _scaled(value: float) -> tuple[str, str]:
    """Three significant digits (more before the point) and the prefix of the unit."""
    for step, prefix in (*STEPS, (1.0, "")):
        if abs(value) >= step * 0.9995:
            scaled = value / step
            digits = max(SIGNIFICANT_DIGITS, len(str(int(abs(scaled)))))
            return f"{scaled:.{digits}g}", prefix
    return f"{value:.{SIGNIFICANT_DIGITS}g}", ""


def _rounded(value: float, decimals: int) -> str:
    """So many decimals at most, without needless zeros."""
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text
