"""How telemetry is taken in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from berth.model import BadInput


@dataclass(frozen=True)
class IngestOptions:
    """Settings of an ingest; made only if they make sense."""

    window_s: float | None = None
    """Length of a time window in seconds; None: one estimate over all the records."""
    weight: float = 0.3
    """Of a new window in the moving average."""
    reference_mips: float | None = None
    """What a node of speed 1 has; None: the median over the nodes of mips / the problem's speed."""
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
