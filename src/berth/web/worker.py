"""What runs in a job's process: reads a request from its folder, leaves the outcome there.

Started as `python -P -m berth.web.worker FOLDER MEMORY PARENT`. It ends with the service, however that ends.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from berth.budget import Budget
    from berth.model import Plan, Problem
    from berth.policies import Progress

ROOM_BYTES = 8 * 2**30
"""Libraries reserve address space that they never use: so much more than what may be used."""
TELL_SECONDS = 0.1
MOST_TOLD = 20_000
_PARENT_DEATH_SIGNAL = 1


class Stopping:
    """The wish to stop: it may come before there is anything to stop."""

    def __init__(self) -> None:
        self._asked = False
        self._budget: Budget | None = None
        signal.signal(signal.SIGINT, self._stop)
        signal.signal(signal.SIGTERM, self._stop)

    def budget(self, seconds: float) -> Budget:
        """The time for the work."""
        from berth.budget import Budget

        self._budget = Budget(seconds)
        if self._asked:
            self._budget.stop("cancelled")
        return self._budget

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        self._asked = True
        if self._budget is not None:
            self._budget.stop("cancelled")


class Telling:
    """Progress as events, at most some a second; what comes in between is told when its time has come."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._count = 0
        self._lock = threading.Lock()
        self._pending: dict[str, Any] | None = None
        self._last: tuple[Any, ...] | None = None
        self._known: dict[str, float | None] = {"objective": None, "bound": None}
        self._stage = ""
        threading.Thread(target=self._tell_in_time, daemon=True, name="berth telling").start()

    def __call__(self, progress: Progress) -> None:
        """Take note of what a policy reports."""
        from berth.evaluation.goal import gap_between

        with self._lock:
            if progress.stage != self._stage:
                self._stage, self._known = progress.stage, {"objective": None, "bound": None}
            for name in self._known:
                value = getattr(progress, name)
                self._known[name] = self._known[name] if value is None else float(value)
            objective, bound = self._known["objective"], self._known["bound"]
            if (objective, bound, self._stage) == self._last:
                return
            self._last = objective, bound, self._stage
            gap = None if objective is None or bound is None else gap_between(objective, bound)
            seconds = round(progress.seconds, 4)
            self._pending = {"seconds": seconds, **self._known, "gap": gap, "stage": self._stage}

    def flush(self) -> None:
        """Tell what has not been told."""
        from berth.web.job_events import append_event
        from berth.web.plain import without_nan

        with self._lock:
            if self._pending is not None and self._count < MOST_TOLD:
                append_event(self._file, "progress", without_nan(self._pending))
                self._count += 1
            self._pending = None

    def _tell_in_time(self) -> None:
        while True:
            time.sleep(TELL_SECONDS)
            self.flush()


def main() -> None:
    """Do what the folder's request asks for."""
    folder, memory, parent = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    _die_with(parent)
    stopping = Stopping()
    _limit(memory)
    request = json.loads((folder / "request.json").read_text())
    outcome = _outcome(folder, request, stopping)
    aside = folder / ".outcome"
    aside.write_text(json.dumps(outcome))
    aside.replace(folder / "outcome.json")
    sys.stdout.flush()
    # nothing that a library does at the end of a process may spoil a result that is there
    os._exit(0)


def _outcome(folder: Path, request: dict[str, Any], stopping: Stopping) -> dict[str, Any]:
    from berth.model import BadInput
    from berth.web.mistakes import mistakes_from
    from berth.web.plain import without_nan

    try:
        done = (
            _explained(folder, request)
            if request["kind"] == "explain"
            else _solved(folder, request, stopping)
        )
        whole: dict[str, Any] = without_nan(done)
        return whole
    except BadInput as error:
        found = [each.document() for each in mistakes_from(error)]
        return {"error": "; ".join(error.mistakes[:3]), "mistakes": found}
    except MemoryError:
        return {"error": "it ran out of memory", "mistakes": []}
    except Exception as error:  # of a policy: anybody's code
        import traceback

        traceback.print_exc()
        return {"error": f"the policy failed: {type(error).__name__}: {error}"[:500], "mistakes": []}


def _solved(folder: Path, request: dict[str, Any], stopping: Stopping) -> dict[str, Any]:
    from berth.files import plan_document
    from berth.policies import solve
    from berth.web.asked import asked

    problem = asked(_problem(folder, request), request)
    telling = Telling(folder / "events.jsonl")
    plan = solve(
        problem,
        request["policy"],
        seed=request["seed"],
        previous=_plan(folder / "previous.json") if request.get("previous") else None,
        budget=stopping.budget(request["time_limit"]),
        progress=telling,
        **request.get("parameters", {}),
    )
    if plan.objective is not None and plan.found:
        from berth.policies import Progress

        telling(Progress(plan.seconds, plan.objective, plan.bound))
    telling.flush()
    return {"plan": plan_document(plan)}


def _explained(folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    from berth.explanation import document, explain

    found = explain(
        _problem(folder, request),
        _plan(folder / "plan.json"),
        operators=request["operators"],
        what_if=request["what_if"],
        time_limit=request["time_limit"],
    )
    return {"explanation": document(found)}


def _problem(folder: Path, request: dict[str, Any]) -> Problem:
    from berth.files import load

    return load(folder / request["problem_file"])


def _plan(file: Path) -> Plan:
    from berth.files import load_plan

    return load_plan(file)


def _limit(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory + ROOM_BYTES, memory + ROOM_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):
        # where memory runs out, this process goes, not the service
        Path("/proc/self/oom_score_adj").write_text("1000")


def _die_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


if __name__ == "__main__":
    main()
