"""Explanations, each in a process of its own: trying changes means solving again."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any

from berth.files import plan_text
from berth.model import Plan
from berth.web.errors import Refused, unprocessable
from berth.web.mistakes import Mistake
from berth.web.processes import Limits, Worker
from berth.web.settings import Settings
from berth.web.workspace import Content

MOST_AT_ONCE = 2
PATIENCE_SECONDS = 60.0
"""To wait for others' explanations."""
BEYOND_SECONDS = 60.0


class Explaining:
    """Explains plans; a few at once, the others wait a while."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        self._places = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._workers: set[Worker] = set()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    def explain(
        self, problem: Content, plan: Plan, operators: list[str], what_if: str, time_limit: float
    ) -> dict[str, Any]:
        """As `berth explain --json`.

        Raises:
            Refused: mistakes; it took too much; too many wait.
        """
        if not self._places.acquire(timeout=PATIENCE_SECONDS):
            raise Refused(503, "too many explanations are under way", headers={"Retry-After": "10"})
        place = Path(tempfile.mkdtemp(dir=self._folder))
        try:
            file = f"problem{problem.entry.path.suffix.lower()}"
            (place / file).write_bytes(problem.data)
            (place / "plan.json").write_text(plan_text(plan))
            request = {
                "kind": "explain",
                "problem_file": file,
                "operators": operators,
                "what_if": what_if,
                "time_limit": time_limit,
            }
            (place / "request.json").write_text(json.dumps(request))
            return self._outcome(place, time_limit)
        finally:
            self._places.release()
            shutil.rmtree(place, ignore_errors=True)

    def end(self) -> None:
        """End what is under way."""
        for worker in list(self._workers):
            worker.kill("the service was stopped")

    def _outcome(self, place: Path, time_limit: float) -> dict[str, Any]:
        worker = Worker(place, Limits(2 * time_limit + BEYOND_SECONDS, self._settings.memory_bytes))
        self._workers.add(worker)
        try:
            while not worker.wait():
                pass
        finally:
            self._workers.discard(worker)
        try:
            outcome = json.loads((place / "outcome.json").read_text())
        except (OSError, ValueError):
            raise Refused(503, f"no explanation: {worker.death()}") from None
        if "error" in outcome:
            if outcome["mistakes"]:
                raise unprocessable([Mistake(**each) for each in outcome["mistakes"]])
            raise Refused(503, f"no explanation: {outcome['error']}")
        explanation: dict[str, Any] = outcome["explanation"]
        return explanation
