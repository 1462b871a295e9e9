"""The plans of a workspace, and what a plan means for a problem as the page shows it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Literal

from berth.drawing.usage import LinkUse, NodeUse, link_uses, node_uses
from berth.drawing.views import critical_links, instances_by_node
from berth.evaluation import Setting, Situation, evaluate
from berth.evaluation.evaluate import evaluation_of, judge_document, with_verdict
from berth.evaluation.goal import Goal, common_goal, recorded_bounds
from berth.evaluation.limits import bottleneck_document
from berth.explanation.binding import slowest_path
from berth.files import plan_document, plan_text
from berth.files.mistakes import Mistake, mistakes_from
from berth.model import BadInput, Plan, Problem
from berth.model.errors import LONGEST_NAME
from berth.policies.failover import failover_of
from berth.web.answers import unprocessable
from berth.web.documents import LONGEST_REASON, brief, finite, without_nan
from berth.web.problems import file_facts
from berth.web.readers import readers
from berth.web.reading import Read
from berth.web.workspace import (
    PLAN_ENDS,
    Content,
    Entry,
    Remembered,
    Workspace,
    new_name,
    plain_name,
)


def judged(problem: Problem, plan: Plan, previous: Plan | None = None) -> dict[str, Any]:
    """All that can be said of a plan at once.

    Raises:
        BadInput: it names what the problem doesn't have.
    """
    began = time.perf_counter()
    situation = Situation(Setting(problem, previous), plan)
    result = evaluation_of(situation)
    return {
        "metrics": result.metrics,
        "violations": list(result.violations),
        "warnings": list(result.warnings),
        **bottleneck_document(situation),
        "complete": situation.complete,
        "objective": objective_of(problem, plan, result.metrics),
        "assignment": dict(plan.assignment),
        "nodes": _nodes(situation),
        "links": _links(situation),
        "critical_path": _path(situation),
        "seconds": round(time.perf_counter() - began, 6),
    }


def objective_of(problem: Problem, plan: Plan, metrics: Mapping[str, float]) -> float | None:
    """The objective's value; None where a metric or the scale of a normalised sum is not known."""
    goal = common_goal(problem, [plan])
    return None if goal is None else goal.value(metrics)


def compared(problem: Problem, plans: Mapping[str, Plan]) -> dict[str, Any]:
    """Plans by their ids, all judged by one problem; one that can't be is there with its mistakes."""
    goal = common_goal(problem, plans.values())
    rows = [
        {"id": identity, "version": version_of(plan.problem_fingerprint, problem.fingerprint)}
        | _compared(problem, plan, goal)
        for identity, plan in plans.items()
    ]
    return {"judged_by": judge_document(problem), "goal": problem.sought, "plans": rows}


def _compared(problem: Problem, plan: Plan, goal: Goal | None) -> dict[str, Any]:
    told = ("policy", "goal", "status", "reason", "objective", "bound", "gap")
    try:
        judged = with_verdict(problem, plan, evaluate(problem, plan))
    except BadInput as error:
        mistakes = [each.document() for each in mistakes_from(error)]
        left = replace(plan, status="unknown", reason=None, objective=None, bound=None, gap=None, metrics={})
        return _row(left, told) | {
            "problem_objective": None,
            "violations": [],
            "warnings": [],
            "mistakes": mistakes,
        }
    value = None if goal is None else goal.value(judged.metrics)
    return _row(judged, told) | {
        "problem_objective": value,
        "violations": list(judged.violations),
        "warnings": list(judged.warnings),
        "mistakes": [],
    }


def _row(plan: Plan, names: Iterable[str]) -> dict[str, Any]:
    document = plan_document(plan)
    return _brief({name: document[name] for name in (*names, "metrics")})


Version = Literal["this", "another", "unknown"]


def version_of(made_for: str, fingerprint: str | None) -> Version:
    """Whether a plan was made for this version of a problem, as far as both are known."""
    if not made_for or fingerprint is None:
        return "unknown"
    return "this" if made_for == fingerprint else "another"


def _nodes(situation: Situation) -> list[dict[str, Any]]:
    runs, uses = instances_by_node(situation), node_uses(situation)
    names = situation.graph.names
    found = []
    for node in sorted(runs):
        used = [use for use in uses if use.needed[node] > 0]
        fullest = max((use.fullness(node) for use in used), default=0.0)
        found.append(
            {
                "index": node,
                "instances": [names[number] for number in runs[node]],
                "share": finite(fullest),
                "uses": [_use(use, node) for use in used],
            }
        )
    return found


def _use(use: NodeUse, node: int) -> dict[str, Any]:
    needed, there = float(use.needed[node]), float(use.there[node])
    return {
        "label": use.label,
        "used": needed,
        "limit": finite(there),
        "share": needed / there if there > 0 else None,
    }


def _links(situation: Situation) -> list[dict[str, Any]]:
    critical = critical_links(situation)
    return [_link(use, (use.sender, use.receiver) in critical) for use in link_uses(situation)]


def _link(use: LinkUse, critical: bool) -> dict[str, Any]:
    return {
        "from": use.sender,
        "to": use.receiver,
        "bytes_per_s": use.bytes_per_s,
        "known": use.complete,
        "bandwidth_bytes_per_s": finite(use.bandwidth),
        "share": finite(use.share),
        "delay_ms": finite(use.delay_ms),
        "both_ways": use.both_ways,
        "critical": critical,
    }


def _path(situation: Situation) -> dict[str, Any] | None:
    path = slowest_path(situation)
    if not path.steps:
        return None
    index = situation.network.index
    return {
        "total_ms": path.total_ms,
        "work_ms": path.work_ms,
        "delay_ms": path.delay_ms,
        "steps": [
            {
                "instance": step.instance,
                "node": step.node,
                "index": index[step.node],
                "work_ms": step.work_ms,
                "delay_ms": step.delay_ms,
            }
            for step in path.steps
        ],
    }


WHAT = "plan"
BY_HAND = "by-hand"
_LISTED = (
    *(
        "problem",
        "problem_fingerprint",
        "policy",
        "seed",
        "status",
        "reason",
        "goal",
        "objective",
        "bound",
        "gap",
    ),
    "seconds",
)


class Plans:
    """Plan files by id."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: Remembered[dict[str, Any] | None] = Remembered()

    def list(self) -> list[dict[str, Any]]:
        """All plan files, by path."""
        return [each for each in map(self._listed, self._workspace.files("plan")) if each is not None]

    def list_for(self, name: str | None, fingerprint: str | None) -> Sequence[dict[str, Any]]:
        """The plans of a problem, each with the version that it was made for.

        Its own are those with its fingerprint. Beside them are those that only have its name: of other
        versions, or of one that they don't tell.

        Args:
            name: the problem's; None: it has none.
            fingerprint: the problem's; None: it has mistakes.
        """
        found = []
        for each in self.list():
            version = version_of(each["problem_fingerprint"], fingerprint)
            if version == "this" or each["problem"] == brief(name):
                found.append(each | {"version": version})
        return found

    def _listed(self, entry: Entry) -> dict[str, Any] | None:
        """What lists say of a plan; None for a file that is none after all."""
        try:
            status = entry.place.stat()
            facts = self._known.of(
                entry.id, status, lambda: self._facts(self._workspace.content(entry, WHAT))
            )
        except OSError:  # it is gone meanwhile
            return None
        return None if facts is None else facts | {"by": self._workspace.author(entry.id, facts["etag"])}

    def _facts(self, content: Content) -> dict[str, Any] | None:
        plan: Plan | None = readers().read("plan", content.data, str(content.entry.path)).result
        return None if plan is None else _facts(content, plan)

    def plan(self, identity: str) -> Plan:
        """A plan.

        Raises:
            Refused: there is none, or it has mistakes.
        """
        return self._ready(self._workspace.read(identity, "plan", WHAT))

    def document(self, identity: str) -> dict[str, Any]:
        """All about one plan file."""
        return self.document_of(self.content(identity))

    def document_of(self, content: Content) -> dict[str, Any]:
        """All about one plan file that was read."""
        plan = self._ready(content)
        whole = without_nan(plan_document(plan))
        by = self._workspace.author(content.entry.id, content.etag)
        return _facts(content, plan) | {"by": by, "violations": list(plan.violations), "plan": whole}

    def content(self, identity: str) -> Content:
        """A plan's file."""
        return self._workspace.read(identity, "plan", WHAT)

    def check_name(self, name: str) -> None:
        """See whether a plan could be stored under a name.

        Raises:
            BadInput: it is no name for a plan file.
            Refused: it would be in the folder of a run or of an experiment.
        """
        self._workspace.check_free(new_name(name, PLAN_ENDS))

    def create(self, plan: Plan, name: str | None, author: str) -> Content:
        """Store a plan; without a name under one that says whose it is for what."""
        data = plan_text(plan).encode()
        if name is not None:
            return self._workspace.create(new_name(name, PLAN_ENDS), data, author)
        stem = PurePosixPath(plain_name(f"{plan.problem or 'plan'}-{plan.policy or 'plan'}"))
        return self._workspace.create_any(stem, ".json", data, author)

    def upload(self, name: str | None, data: bytes, author: str) -> Content:
        """Store somebody's plan file as it is.

        Raises:
            Refused: it has mistakes, or there is a file of that name.
        """
        plan = self._checked(data)
        if name is not None:
            return self._workspace.create(new_name(name, PLAN_ENDS), data, author)
        stem = PurePosixPath(plain_name(f"{plan.problem or 'plan'}-{plan.policy or 'plan'}"))
        return self._workspace.create_any(stem, ".json", data, author)

    def replace(self, identity: str, wanted: str | None, data: bytes, author: str) -> Content:
        """Store a plan anew, if nobody has changed it meanwhile."""
        self._workspace.unchanged(identity, "plan", WHAT, wanted)
        self._checked(data)
        return self._workspace.replace(identity, "plan", WHAT, wanted, data, author)

    def delete(self, identity: str, wanted: str | None) -> None:
        """Take a plan away, if nobody has changed it meanwhile."""
        self._workspace.delete(identity, "plan", WHAT, wanted)

    def _checked(self, data: bytes) -> Plan:
        read = readers().read("plan", data, "plan.json")
        plan = _plan_of(read)
        if read.format != "berth-plan/v1":
            raise unprocessable([Mistake("format", "is needed: berth-plan/v1")])
        return plan

    def _ready(self, content: Content) -> Plan:
        return _plan_of(readers().read("plan", content.data, str(content.entry.path)))


def _plan_of(read: Read) -> Plan:
    plan: Plan | None = read.result
    if plan is None:
        raise unprocessable(read.mistakes, read.count)
    return plan


def changed(plan: Plan | None, assignment: Mapping[str, str | None] | None) -> Plan:
    """A plan with some instances elsewhere, or taken away (None); without a plan, only what is given."""
    places: dict[str, str | None] = {**(plan.assignment if plan is not None else {}), **(assignment or {})}
    kept = {name: node for name, node in places.items() if node is not None}
    return replace(plan or Plan(), assignment=kept)


def with_new_failover(problem: Problem, plan: Plan) -> Plan:
    """A plan that somebody has changed, with failovers found anew where its own no longer hold."""
    setting = Setting(problem)
    if not problem.losses or not Situation(setting, plan).complete:
        return plan
    return replace(plan, failover=failover_of(setting, plan))


def by_hand(problem: Problem, plan: Plan) -> Plan:
    """Somebody's own plan, judged."""
    plan = with_new_failover(problem, plan)
    judged = evaluate(problem, plan)
    broken = len(judged.violations)
    return replace(
        plan,
        problem=problem.name,
        problem_fingerprint=problem.fingerprint,
        policy=BY_HAND,
        seed=0,
        goal=dict(problem.objective),
        status="unknown" if broken else "feasible",
        reason=f"the plan breaks {broken} constraint(s)" if broken else None,
        objective=objective_of(problem, plan, judged.metrics),
        bound=None,
        gap=None,
        seconds=0.0,
        metrics=judged.metrics,
        violations=judged.violations,
        warnings=judged.warnings,
        trace={"objective_bounds": bounds} if (bounds := recorded_bounds(problem, plan)) else {},
    )


def _facts(content: Content, plan: Plan) -> dict[str, Any]:
    facts = {name: getattr(plan, name) for name in _LISTED}
    goals = [dict(weights) for weights in plan.goals]
    facts["goal"] = dict(plan.first_goal) if isinstance(plan.goal, Mapping) else goals
    facts["metrics"] = dict(plan.metrics)
    whole: dict[str, Any] = without_nan({**file_facts(content), **_brief(facts)})
    return whole | {"violations": len(plan.violations), "instances": len(plan.assignment)}


def _brief(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan's file says, as lists repeat it: names and reasons may be of any length there."""
    longest = {"reason": LONGEST_REASON}
    return {name: brief(value, longest.get(name, LONGEST_NAME)) for name, value in facts.items()}
