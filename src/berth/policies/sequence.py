"""Requests one after another: applications that come and go, each placed on what the others leave."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from berth.budget import Budget
from berth.evaluation import evaluate
from berth.evaluation.goal import Goal
from berth.model import Application, BadInput, Plan, Problem
from berth.model.errors import did_you_mean
from berth.policies.policy import Policy, Progress, parameters_from
from berth.policies.registry import DEFAULT, find_policy
from berth.policies.solve import DEFAULT_TIME_LIMIT, solve
from berth.policies.standing import Standing

ARRIVES, LEAVES = "arrive", "leave"


@dataclass(frozen=True)
class Event:
    """An application asks for a place or gives it back."""

    kind: str
    """`ARRIVES` or `LEAVES`."""
    application: str


def events_of(
    problem: Problem, given: Sequence[str] | None, leave: Sequence[str], there: Collection[str]
) -> list[Event]:
    """The events of a sequence, in order.

    Args:
        problem: whose applications come and go.
        given: names of applications, `-name` for one that leaves; None: all that are not there arrive in the
            order of the file.
        leave: applications that leave before anything else.
        there: applications that have a place at the beginning.

    Raises:
        BadInput: a name that the problem doesn't have, or an order that makes no sense.
    """
    names = {application.name for application in problem.applications}
    mistakes: list[str] = []
    present = set(there)
    events = []
    for name in leave:
        mistakes += _mistakes_of(Event(LEAVES, name), "--leave", names, present)
        present.discard(name)
        events.append(Event(LEAVES, name))
    if given is None:
        arriving = (item.name for item in problem.applications)
        gone = {*there, *leave}
        events += [Event(ARRIVES, name) for name in arriving if name not in gone]
    for number, text in enumerate(given or ()):
        event = _event(text, names)
        mistakes += _mistakes_of(event, f"--events[{number}]", names, present)
        present = present | {event.application} if event.kind == ARRIVES else present - {event.application}
        events.append(event)
    if mistakes:
        raise BadInput(mistakes)
    return events


def _event(text: str, names: Collection[str]) -> Event:
    """`-name` leaves, unless an application has just this name."""
    if text.startswith("-") and text not in names:
        return Event(LEAVES, text[1:])
    return Event(ARRIVES, text)


def _mistakes_of(event: Event, field: str, names: Collection[str], present: Collection[str]) -> Iterator[str]:
    name = event.application
    if name not in names:
        yield f"{field}: no application {did_you_mean(name, sorted(names))}"
    elif event.kind == LEAVES and name not in present:
        yield f"{field}: {name} leaves, but is not there; it has to arrive before, or be in --previous"
    elif event.kind == ARRIVES and name in present:
        yield f"{field}: {name} arrives, but is there already; '-{name}' before it lets it leave first"


Row = dict[str, Any]
MOST_LINES, MOST_NAMES = 3, 10
"""Broken constraints and refused applications that a reason names; there can be hundreds."""


def solve_in_turn(
    problem: Problem,
    policy: str | Policy = DEFAULT,
    *,
    events: Sequence[str] | None = None,
    leave: Sequence[str] = (),
    previous: Plan | None = None,
    seed: int = 0,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    progress: Callable[[Progress], None] = lambda progress: None,
    budget: Budget | None = None,
    **parameters: Any,
) -> Plan:
    """Place applications one after another, each alone on what those before it have left.

    Args:
        problem: the cluster and all applications that may come.
        policy: by which every request is solved, on its own.
        events: names of applications in the order in which they arrive; `-name` leaves. None: those that
            `previous` doesn't have arrive in the order of the problem.
        leave: applications of `previous` that leave before anything else.
        previous: what it has placed stays where it is.
        seed: that of every request; the same seed gives the same plan, unless the time limit cut it short.
        time_limit: seconds for all requests; each has an equal share of what is left when its turn comes.
        progress: is called with a `Progress` whenever something better is known of a request.
        budget: instead of `time_limit`; `budget.stop(reason)` keeps what is placed by then.
        parameters: the policy's own.

    Returns:
        One plan of all that has a place at the end. Its metrics are those of the applications that have
        one; `violations` also names those that were refused. The trace has `requests`, a row for each event.

    Raises:
        BadInput: an unknown policy or parameter, events that make no sense, or a request that the policy
            can't even look at.
    """
    chosen = find_policy(policy) if isinstance(policy, str) else policy
    parameters_from(chosen.parameters, parameters, chosen.about.name)
    if time_limit is not None and not time_limit > 0:
        raise BadInput([f"--time-limit: {time_limit} is not above 0"])
    standing = Standing(problem) if previous is None else Standing.of(problem, previous)
    todo = events_of(problem, events, leave, standing.applications)
    turn = _Turn(chosen, seed, budget or Budget(time_limit), previous, progress, parameters, standing)
    for number, event in enumerate(todo):
        turn.take(event, number, todo)
    return turn.plan()


@dataclass
class _Turn:
    """A sequence while it goes on."""

    policy: Policy
    seed: int
    budget: Budget
    previous: Plan | None
    report: Callable[[Progress], None]
    parameters: Row
    standing: Standing
    rows: list[Row] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """Why applications that should be there are not, or should have left and have not."""
    solved: Plan | None = None
    """The last plan of a request: it has the policy's goal."""

    @property
    def problem(self) -> Problem:
        return self.standing.problem

    def take(self, event: Event, number: int, todo: Sequence[Event]) -> None:
        """One event: what stands changes, or the row says why not."""
        before = self.budget.elapsed
        if event.kind == LEAVES:
            after, reason, more = self._leaving(event.application)
        else:
            arrivals = sum(1 for other in todo[number:] if other.kind == ARRIVES)
            what = f"request {number + 1} of {len(todo)}, {event.application}"
            after, reason, more = self._arriving(event.application, what, self.budget.part(1.0 / arrivals))
        self.refused.pop(event.application, None)
        if after is not None:
            self.standing = after
        elif event.kind == ARRIVES:
            self.refused[event.application] = f"application {event.application}: refused: {reason}"
        elif event.application in self.standing.applications:
            self.refused[event.application] = f"application {event.application}: can't leave: {reason}"
        self.rows.append(
            {
                "application": event.application,
                "event": event.kind,
                "accepted": after is not None,
                "reason": reason,
                "seconds": round(self.budget.elapsed - before, 6),
                **more,
                "in_use": self.standing.in_use,
            }
        )

    def _leaving(self, name: str) -> tuple[Standing | None, str | None, Row]:
        if name not in self.standing.applications:
            return None, "it has no place: it was refused", {}
        takers = self.standing.takers(name)
        if takers:
            return None, f"its results are taken by {', '.join(takers)}", {}
        return self.standing.left(name), None, {}

    def _arriving(self, name: str, what: str, budget: Budget) -> tuple[Standing | None, str | None, Row]:
        if self.budget.over:
            return None, f"not tried: {self.budget.reason}", {}
        self.report(Progress(self.budget.elapsed, stage=what))
        number, application = self._application(name)
        request, occupied = self.standing.request(application)

        def report(told: Progress) -> None:
            stage = f"{what}: {told.stage}" if told.stage else what
            self.report(replace(told, seconds=self.budget.elapsed, stage=stage))

        try:
            plan = solve(
                request,
                self.policy,
                seed=self.seed,
                previous=self.previous,
                occupied=occupied,
                progress=report,
                budget=budget,
                **self.parameters,
            )
        except BadInput as error:
            raise error.reworded(lambda line: _of_all(line, number, name)) from error
        if plan.objective is not None or self.solved is None:
            self.solved = plan
        if not plan.found:
            conflict = plan.trace.get("conflict") or [plan.reason or "no plan found"]
            return None, _in_short(conflict), {"status": plan.status}
        after = self.standing.arrived(name, plan)
        broken = plan.violations or [line for line in after.broken if line not in self.standing.broken]
        if broken:
            return None, _in_short(broken), {"status": plan.status}
        alone = replace(self.problem, applications=(application,))
        metrics = evaluate(alone, plan, self.previous).metrics
        return after, plan.reason, {"status": plan.status, "metrics": metrics}

    def _application(self, name: str) -> tuple[int, Application]:
        applications = self.problem.applications
        return next((number, item) for number, item in enumerate(applications) if item.name == name)

    def plan(self) -> Plan:
        """All that has a place at the end, judged."""
        standing = self.standing
        metrics = (
            evaluate(standing.part, standing.plan, self.previous).metrics if standing.applications else {}
        )
        arrivals = [row["accepted"] for row in self.rows if row["event"] == ARRIVES]
        trace: Row = {"requests": self.rows}
        if arrivals:
            trace["acceptance_ratio"] = sum(arrivals) / len(arrivals)
        broken = (*standing.broken, *self.refused.values())
        return replace(
            standing.plan,
            problem=self.problem.name,
            problem_fingerprint=self.problem.fingerprint,
            policy=self.policy.about.name,
            seed=self.seed,
            goal=dict(self.problem.objective if self.solved is None else self.solved.first_goal),
            status="unknown" if broken else "feasible",
            reason=self._reason(),
            objective=self._objective(metrics),
            seconds=round(self.budget.elapsed, 6),
            metrics=metrics,
            violations=broken,
            trace=trace,
        )

    def _reason(self) -> str | None:
        if self.refused:
            names = [*self.refused][:MOST_NAMES]
            more = ", ..." if len(self.refused) > MOST_NAMES else ""
            return f"{len(self.refused)} of the requests refused: {', '.join(names)}{more}"
        broken = self.standing.broken
        return f"the plan breaks {len(broken)} constraint(s)" if broken else None

    def _objective(self, metrics: dict[str, float]) -> float | None:
        """The goal's value of the whole, where it is a sum of metrics as they are."""
        if self.solved is None or self.solved.objective is None:
            return None
        goal = Goal(self.solved.first_goal, "raw")
        return goal.value(metrics) if goal.value(self.solved.metrics) == self.solved.objective else None


def _in_short(lines: Sequence[str]) -> str:
    more = f"; and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
    return "; ".join(lines[:MOST_LINES]) + more


def _of_all(line: str, number: int, name: str) -> str:
    """A mistake of an application that was alone, with its number among all."""
    alone = "applications[0]"
    return line.replace(alone, f"applications[{number}]") if alone in line else f"{line} (application {name})"
