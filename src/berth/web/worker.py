"""What runs in a job's process: reads a request from its folder, leaves the outcome there.

Started as `python -P -m berth.web.worker FOLDER` by `berth.processes`. Nothing that takes long is imported
before signals are heeded: functions import what they need.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from berth.disk import replace_file
from berth.processes import begin_child

if TYPE_CHECKING:
    from berth.budget import Budget
    from berth.model import Plan, Problem
    from berth.policies import Progress

EVENT_SECONDS = 0.1
"""Between two events of progress, at least."""
MOST_EVENTS = 20_000
OUT_OF_PROCESSOR = "it has used up its processor time"
LARGEST_FILE = 2**30
"""That a job may write, its log included."""
NOT_WRITTEN = 74
"""The exit code of a process that couldn't leave its outcome (EX_IOERR of sysexits.h)."""


def append_event(file: Path, event: str, data: Mapping[str, Any]) -> None:
    """Add a line; several processes may, for a line is one write."""
    line = json.dumps({"event": event, "data": data}, allow_nan=False) + "\n"
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def problem_as_requested(problem: Problem, request: Mapping[str, Any]) -> Problem:
    """The problem with the objective and the requirements of a request instead of its own.

    Raises:
        BadInput: it names what isn't there, or an objective that can't be computed.
    """
    from berth.evaluation import METRIC_BY_NAME
    from berth.evaluation.goal import goal_mistakes
    from berth.model import BadInput
    from berth.model.errors import did_you_mean, one_of

    objective = request.get("objective") or []
    goals = objective if isinstance(objective, list) else [objective]
    requirements = request.get("requirements") or {}
    names = {application.name: None for application in problem.applications}
    mistakes = [
        f"{f'objective[{number}]' if objective is goals else 'objective'}.{name}: "
        f"no metric {one_of(name, METRIC_BY_NAME)}"
        for number, weights in enumerate(goals)
        for name in weights
        if name not in METRIC_BY_NAME
    ]
    if unknown := [name for name in requirements if name not in names]:
        # one by one: names are only looked for where they are told
        found = (f"requirements.{name}: no application {did_you_mean(name, names)}" for name in unknown)
        raise BadInput(chain(mistakes, found))
    if mistakes:
        raise BadInput(mistakes)
    if goals:
        problem = replace(problem.for_goal(*goals), then=tuple(goals[1:]) if objective is goals else None)
    within = request.get("objective_within")
    if within is not None:
        if len(within) > len(problem.objectives):
            raise BadInput(
                f"objective_within: {len(within)} numbers, but {len(problem.objectives)} in objective"
            )
        problem = replace(problem, objective_within=tuple(within))
    changed = replace(
        problem,
        applications=tuple(replace(item, **requirements.get(item.name, {})) for item in problem.applications),
        objective_scale=request.get("objective_scale") or problem.objective_scale,
        objective_bounds={} if goals else problem.objective_bounds,
    )
    if wrong := list(goal_mistakes(changed)):
        raise BadInput(wrong)
    return changed


class StopRequest:
    """The request to stop: it may come before there is anything to stop."""

    def __init__(self) -> None:
        self._why = ""
        self._budget: Budget | None = None
        signal.signal(signal.SIGINT, self._stop)
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGXCPU, self._stop)

    def budget(self, seconds: float) -> Budget:
        """The time for the work."""
        from berth.budget import Budget

        self._budget = Budget(seconds)
        if self._why:
            self._budget.stop(self._why)
        return self._budget

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self._why = OUT_OF_PROCESSOR if number == signal.SIGXCPU else "cancelled"
        if self._budget is not None:
            self._budget.stop(self._why)


class ProgressEvents:
    """Progress as events, at most some a second; what comes in between is written when its time has come."""

    def __init__(self, file: Path, first: str | None = None) -> None:
        """`first` is the stage of the first of several goals; what is told are its figures."""
        self._file, self._first = file, first
        self._count = 0
        self._lock = threading.Lock()
        self._pending: dict[str, Any] | None = None
        self._last: tuple[Any, ...] | None = None
        self._known: dict[str, float | None] = {"objective": None, "bound": None}
        self._stage = ""
        threading.Thread(target=self._write_in_time, daemon=True, name="berth progress").start()

    def __call__(self, progress: Progress) -> None:
        """Take note of what a policy reports."""
        from berth.evaluation.goal import gap_between

        with self._lock:
            told = self._first is None or progress.stage.partition(":")[0] in (self._first, "")
            if progress.stage != self._stage:
                self._stage = progress.stage
                if told:
                    self._known = {"objective": None, "bound": None}
            for name in self._known:
                value = getattr(progress, name) if told else None
                self._known[name] = self._known[name] if value is None else float(value)
            objective, bound = self._known["objective"], self._known["bound"]
            if (objective, bound, self._stage) == self._last:
                return
            self._last = objective, bound, self._stage
            gap = None if objective is None or bound is None else gap_between(objective, bound)
            seconds = round(progress.seconds, 4)
            self._pending = {"seconds": seconds, **self._known, "gap": gap, "stage": self._stage}

    def flush(self) -> None:
        """Write what has not been written yet."""
        from berth.web.documents import without_nan

        with self._lock:
            if self._pending is not None and self._count < MOST_EVENTS:
                # whether anybody can watch decides nothing about the work
                with suppress(OSError):
                    append_event(self._file, "progress", without_nan(self._pending))
                self._count += 1
            self._pending = None

    def _write_in_time(self) -> None:
        while True:
            time.sleep(EVENT_SECONDS)
            self.flush()


def main() -> None:
    """Do what the folder's request asks for."""
    stop = StopRequest()
    begin_child()
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    folder = Path(sys.argv[1])
    request = json.loads((folder / "request.json").read_text())
    outcome = _outcome(folder, request, stop)
    code = 0
    try:
        replace_file(folder / "outcome.json", json.dumps(outcome).encode())
    except OSError:
        code = NOT_WRITTEN
    # nothing that a library does at the end of a process may spoil a result that is there
    os._exit(code)


def _outcome(folder: Path, request: dict[str, Any], stop: StopRequest) -> dict[str, Any]:
    from berth.files.mistakes import mistakes_from
    from berth.model import BadInput
    from berth.web.documents import without_nan

    try:
        done = _DOES[request["kind"]](folder, request, stop)
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


def _solved(folder: Path, request: dict[str, Any], stop: StopRequest) -> dict[str, Any]:
    from berth.files import plan_document
    from berth.policies import solve
    from berth.policies.levels import stage_of

    problem = problem_as_requested(_problem(folder, request), request)
    ordered = problem.then is not None
    events = ProgressEvents(folder / "events.jsonl", stage_of(problem.objective) if ordered else None)
    plan = solve(
        problem,
        request["policy"],
        seed=request["seed"],
        previous=_plan(folder / "previous.json") if request.get("previous") else None,
        budget=stop.budget(request["time_limit"]),
        progress=events,
        **request.get("parameters", {}),
    )
    if plan.objective is not None and plan.found:
        from berth.policies import Progress

        events(Progress(plan.seconds, plan.objective, plan.bound))
    events.flush()
    return {"plan": plan_document(plan)}


def _front(folder: Path, request: dict[str, Any], stop: StopRequest) -> dict[str, Any]:
    from berth.files.front_folder import front_document
    from berth.policies import front

    first, second = request["objectives"]
    events = ProgressEvents(folder / "events.jsonl")
    found = front(
        _problem(folder, request),
        first,
        second,
        request["points"],
        request["policy"],
        seed=request["seed"],
        previous=_plan(folder / "previous.json") if request.get("previous") else None,
        budget=stop.budget(request["time_limit"]),
        progress=events,
        **request.get("parameters", {}),
    )
    events.flush()
    return {"front": front_document(found)}


def _explained(folder: Path, request: dict[str, Any], _: StopRequest) -> dict[str, Any]:
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


_DOES = {"solve": _solved, "front": _front, "explain": _explained}
"""What a request's kind asks for."""


if __name__ == "__main__":
    main()
