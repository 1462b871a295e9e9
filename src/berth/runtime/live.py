"""How a run is, in its folder, for whoever looks: at most once a second."""

from __future__ import annotations

import time
from pathlib import Path

from berth.files.run_folder import write_now
from berth.model import BadInput
from berth.runtime.measures import BatchMeasures
from berth.runtime.run_report import RunTally

EVERY_SECONDS = 1.0


class Live:
    """Counts batches, and writes what they come to into the run's folder."""

    def __init__(self, tally: RunTally, folder: Path) -> None:
        self._tally = tally
        self._folder = folder
        self._written_at = -EVERY_SECONDS

    def add(self, measures: BatchMeasures) -> None:
        """Count a batch."""
        self._tally.add(measures)
        now = time.monotonic()
        if now - self._written_at >= EVERY_SECONDS:
            self._written_at = now
            try:
                write_now(self._folder, self._tally.now_document())
            except BadInput:
                # a full disk ends no run: the next batch tries again
                self._written_at = now + EVERY_SECONDS
