"""How telemetry is taken in, and what synthetic telemetry is to look like."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args

from berth.model import BadInput


@dataclass(frozen=True)
class IngestOptions:
    """Settings of an ingest; made only if they make sense."""

    window_s: float | None = None
    """Length of a time window in seconds; None: one estimate over all the records."""
    weight: float = 0.3
    """Weight of a new window in the moving average."""
    reference_mips: float | None = None
    """What a node of speed 1 has; None: the median over the nodes of mips / the problem's speed."""
    carbon_intensity: float | None = None
    """Grams of carbon dioxide for a kilowatt-hour; None: energy doesn't change the nodes' carbon."""
    clock_skew_s: float = 10.0
    """How far ahead of this machine's clock a record's time may be."""
    watermark_s: float = 3600.0
    """When following: how much older than the newest record a record may be and still count."""
    every_s: float = 5.0
    """When following: the time from one look for new files to the next."""

    def __post_init__(self) -> None:
        mistakes = list(self._mistakes())
        if mistakes:
            raise BadInput(mistakes)

    def _mistakes(self) -> Iterator[str]:
        if self.window_s is not None and not 0.001 <= self.window_s < 1e10:
            yield f"--window: {self.window_s:g} is not a number of seconds of at least 0.001"
        if not 0 < self.weight <= 1:
            yield f"--weight: {self.weight:g} is not above 0 and at most 1"
        if self.reference_mips is not None and not 0 < self.reference_mips < 1e30:
            yield f"--reference-mips: {self.reference_mips:g} is not a number above 0"
        if self.carbon_intensity is not None and not 0 <= self.carbon_intensity < 1e9:
            yield f"--carbon-intensity: {self.carbon_intensity:g} is not a number of at least 0"
        if not 0 <= self.clock_skew_s < 1e10:
            yield f"--clock-skew: {self.clock_skew_s:g} is not a number of seconds of at least 0"
        if not 0 <= self.watermark_s < 1e10:
            yield f"--watermark: {self.watermark_s:g} is not a number of seconds of at least 0"
        if not 0 < self.every_s < 1e6:
            yield f"--every: {self.every_s:g} is not a number of seconds above 0"

    @property
    def window_ms(self) -> int | None:
        """The window in whole milliseconds."""
        return None if self.window_s is None else round(self.window_s * 1000)


Format = Literal["jsonl", "parquet"]
Timestamps = Literal["epoch", "iso", "mixed"]

EARLIEST_MS = int(datetime(1971, 1, 1, tzinfo=UTC).timestamp() * 1000)
LONGEST_S = 10 * 366 * 86_400.0
MOST_LINES = 3_000_000_000
"""In one folder; beyond this the arithmetic on line numbers leaves 64 bits."""


@dataclass(frozen=True)
class SampleOptions:
    """The options of `berth sample-telemetry`; the command's help says what each one does."""

    records: int | None = None
    """Records without the garbage, over all folders; None: 100,000, or more where the intervals need more."""
    seed: int = 0
    start: str | None = None
    """ISO 8601; None: so that the feed ends now."""
    duration: float = 3600.0
    noise: float = 0.1
    wild: float = 0.01
    drift: float = 0.0
    outages: bool = True
    heartbeat_interval: float | None = None
    """Seconds; None: 10, or more where the heartbeats would take more than a quarter of the records."""
    report_interval: float | None = None
    """Seconds between the reports of an instance or a stream; None: as for heartbeats."""
    tuple_bytes: float = 1000.0
    carbon_intensity: float = 400.0
    """Grams of carbon dioxide for a kilowatt-hour: what turns the nodes' carbon into watts."""
    garbage: float = 0.01
    format: Format = "jsonl"
    timestamps: Timestamps = "epoch"
    files: int | None = None
    """Files in each folder; None: one for each half million records, some for few."""

    def __post_init__(self) -> None:
        mistakes = [line for line in self._mistakes() if line]
        if mistakes:
            raise BadInput(mistakes)

    def _mistakes(self) -> list[str | None]:
        return [
            _whole("--records", self.records, 1, MOST_LINES),
            _whole("--seed", self.seed, -(2**63), 2**63 - 1),
            _whole("--files", self.files, 1, 100_000),
            _number("--duration", self.duration, 0, LONGEST_S, above=True),
            _number("--noise", self.noise, 0, 2),
            _number("--wild", self.wild, 0, 0.5),
            _number("--drift", self.drift, -5, 5),
            _number("--heartbeat-interval", self.heartbeat_interval, 0.001, LONGEST_S),
            _number("--report-interval", self.report_interval, 0.001, LONGEST_S),
            _number("--tuple-bytes", self.tuple_bytes, 0, 1e12, above=True),
            _number("--carbon-intensity", self.carbon_intensity, 0, 1e9, above=True),
            _number("--garbage", self.garbage, 0, 1, below=True),
            _choice("--format", self.format, get_args(Format)),
            _choice("--timestamps", self.timestamps, get_args(Timestamps)),
            None if self.start is None else _start_mistake(self.start),
        ]

    @property
    def duration_ms(self) -> int:
        """The feed's length in whole milliseconds, at least one."""
        return max(1, round(self.duration * 1000))

    def start_ms(self, now_ms: int) -> int:
        """The time of the first record, in milliseconds since 1970.

        Raises:
            BadInput: the feed would end in the future, where every record is garbage.
        """
        if self.start is None:
            return now_ms - self.duration_ms
        start = _milliseconds(self.start)
        if start + self.duration_ms > now_ms:
            raise BadInput(
                [f"--start: {self.start} and {self.duration:g} s end in the future, where no record is legal"]
            )
        return start


def _milliseconds(text: str) -> int:
    """ISO 8601 as milliseconds since 1970; without an offset it is UTC."""
    time = datetime.fromisoformat(text)
    return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


def _start_mistake(text: str) -> str | None:
    try:
        start = _milliseconds(text)
    except (ValueError, OverflowError):
        return f"--start: {text!r} is no time in ISO 8601, such as 2026-01-31T12:00:00Z"
    return f"--start: {text} is before 1971" if start < EARLIEST_MS else None


def _whole(name: str, value: int | None, least: int, most: int) -> str | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and least <= value <= most):
        return None
    return f"{name}: {value} is no whole number from {least:,} to {most:,}"


def _number(
    name: str, value: float | None, least: float, most: float, *, above: bool = False, below: bool = False
) -> str | None:
    if value is None:
        return None
    fits = math.isfinite(value) and least <= value <= most
    if fits and not (above and value == least) and not (below and value == most):
        return None
    lower = f"above {least:g}" if above else f"of at least {least:g}"
    upper = f"below {most:g}" if below else f"at most {most:g}"
    return f"{name}: {value} is no number {lower} and {upper}"


def _choice(name: str, value: str, choices: tuple[str, ...]) -> str | None:
    return None if value in choices else f"{name}: {value!r} is none of {', '.join(choices)}"
