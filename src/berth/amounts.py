"""Numbers as people read them: how a value in a unit is shown in the terminal, in pictures and on the page.

Three digits that matter, more before the point. The page has the same rules in `lib/format.js`; a test holds
the two together. What is counted in which unit, metrics and limits say themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Context, Decimal

DIGITS = 3
PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
PREFIXED = {"bytes/s": "B/s", "bytes": "B", "B·s": "B·s", "g/h": "g/h"}
"""Units that take a prefix, and how they are written."""
COUNTS = ("nodes", "containers", "instances")
"""What the name of a metric says already: a number alone."""
NOUNS = {"processors": "processor", "points": "point"}
"""Units that are words, and what one of them is called."""
MANY = 1e6
"""Of anything else: from here on it takes a prefix, too."""
LONGEST = 12
"""Digits before the point, but one, beyond which a number is written as a power of ten."""
SAME = 1e-9
"""Values that are as close as this, relative to the larger one, are the same."""


def in_unit(value: float, unit: str) -> str:
    """A value with its unit: 18.6 MB/s, 67.6 ms, 1.2 s, 3.4 GB, 0.12 /h, 99.2 %, 412 g/h, 2.3 processors, 12.

    `share` is what people read as a percentage, an empty unit a number: 0.25, 1.25k. `unknown` for NaN.
    """
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if unit == "share":
        return _percent(100.0 * value)
    return _with_unit(value, unit)


def change(before: float | None, after: float | None, unit: str) -> str:
    """What has been added, with a sign: +3.2 ms, -1.2 MB/s, +0.5 points (of a percentage).

    Empty where nothing has changed, or one of the two is not known.
    """
    if before is None or after is None or math.isclose(before, after, rel_tol=SAME):
        return ""
    return signed(after - before, unit)


def signed(step: float, unit: str) -> str:
    """A difference with its sign and unit."""
    return f"{'' if step < 0 else '+'}{distance(step, unit)}"


def distance(step: float, unit: str) -> str:
    """How far two values are apart: 3.2 ms; shares are so many points apart."""
    return in_unit(100.0 * step, "points") if unit == "share" else in_unit(step, unit)


def quantity(value: float) -> str:
    """Any amount: 5, 0.25, 1.25k, 64G."""
    return in_unit(value, "")


def byte_rate(value: float) -> str:
    """Bytes per second: 1.5 MB/s; `unknown` for NaN."""
    return in_unit(value, "bytes/s")


def milliseconds(value: float) -> str:
    """A time: 0.91 ms, 31.8 ms, 1.25 s."""
    return in_unit(value, "ms")


def percentage(value: float) -> str:
    """A share: 60 %, 4.2 %, 99.95 %; only the whole is 100 %."""
    return in_unit(value, "share")


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


def operators_in_short(instances: Iterable[str]) -> str:
    """Names of instances in short, those of one operator together: `tag/count×3, tag/rank#1`."""
    found: dict[str, list[str]] = {}
    for name in instances:
        found.setdefault(name.partition("#")[0], []).append(name)
    return ", ".join(
        names[0] if len(names) == 1 else f"{operator}×{len(names)}" for operator, names in found.items()
    )


def cut(text: str, width: int) -> str:
    """A text of at most so many characters; what is missing shows as an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _with_unit(value: float, unit: str) -> str:
    if unit in COUNTS:
        return _digits(value)
    if unit == "ms":
        return f"{_digits(value / 1e3)} s" if abs(value) >= 999.5 else f"{_digits(value)} ms"
    if unit == "":
        return "".join(_scaled(value))
    if unit in PREFIXED:
        text, prefix = _scaled(value)
        return f"{text} {prefix}{PREFIXED[unit]}"
    # amounts of a resource may be bytes without saying so
    text = "".join(_scaled(value)) if abs(value) >= MANY else _digits(value)
    return f"{text} {NOUNS.get(unit, unit) if text in ('1', '-1') else unit}"


def _percent(value: float) -> str:
    """What is nearly nothing or nearly everything is neither."""
    missing = 100.0 - value
    if 0.0 < abs(value) < 0.001:
        return "<0.001 %" if value > 0 else ">-0.001 %"
    if 100.0 * SAME < missing < 1.0:
        # Two digits of what is missing: 99.2, 99.95, 99.999.
        finest = Decimal(1).scaleb(Decimal(missing).adjusted() - 1)
        return f"{_plain(Decimal(value).quantize(finest, ROUND_HALF_UP))} %"
    return f"{_digits(value)} %"


def _scaled(value: float) -> tuple[str, str]:
    """The digits and the prefix of the unit."""
    for step, prefix in PREFIXES:
        if abs(value) >= step * 0.9995:
            return _digits(value / step), prefix
    return _digits(value), ""


def _digits(value: float) -> str:
    """Three digits that matter, more before the point: 0.25, 57.6, 1,250; 1.2e-5 for what is tiny or huge.

    Halves are rounded up, as people do and JavaScript does.
    """
    size = Decimal(value).adjusted()
    digits = DIGITS if abs(size) > LONGEST else max(DIGITS, size + 1)
    rounded = Context(prec=digits, rounding=ROUND_HALF_UP).create_decimal(Decimal(value))
    size = rounded.adjusted()
    if rounded and not -5 < size <= LONGEST:
        return f"{_plain(rounded.scaleb(-size))}e{size}"
    return _plain(rounded)


def _plain(value: Decimal) -> str:
    """All its digits, without needless zeros."""
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
